"""Open and secret queries side by side."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.canary_store import canary_experiment

from ragstone.experiment.score_sources import read_sources
from ragstone.experiment.verify import verify
from ragstone.results.html import render_report
from ragstone.results.results import Results
from ragstone.results.secret_share import share_document, share_rows, share_sentence, share_tables

OWN: dict[str, Any] = {
    "systems": {"own": {"retriever": "bm25", "generator": "gold"}},
    "metrics": ["Match", "F1", "R@2"],
    "judges": [],
}


@pytest.fixture(scope="module")
def revealed(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return results whose secret queries are revealed."""
    return canary_experiment(tmp_path_factory.mktemp("share"), share="30%", **OWN).revealed()


def test_both_shares_and_their_difference(revealed: Results) -> None:
    """Each row has the mean, n and failures of both, and the interval of the difference."""
    rows = share_rows(revealed)
    count = len(revealed.secret_queries)
    places = {(row.system, row.setting, row.metric) for row in rows}
    assert ("own", "", "R@2") in places
    assert ("own", "gold", "Match") in places
    assert all(row.secret.n == count and row.open.n == 40 - count for row in rows if row.setting)
    for row in rows:
        assert row.interval is not None
        assert row.interval[0] <= (row.difference or 0.0) <= row.interval[1]
        assert row.worse is None
    assert share_sentence(revealed, rows) == "The secret share is not shown to differ (Match)."
    chosen = share_rows(revealed, "own", "gold")
    assert {row.setting for row in chosen} == {"", "gold"}


def test_a_difference_is_stated_with_its_size(revealed: Results) -> None:
    """A worse secret share may be due to tuning; a better one is not."""
    (row,) = (r for r in share_rows(revealed, "own", "gold") if r.metric == "Match")
    worse = replace(row, difference=-0.4, interval=(-0.6, -0.2), worse=True)
    assert share_sentence(revealed, [worse]) == (
        "The secret share is worse in Match: own under gold -0.400. The system may be tuned to the "
        "open queries."
    )
    better = replace(row, difference=0.4, interval=(0.2, 0.6), worse=False)
    assert "better in Match: own under gold +0.400" in share_sentence(revealed, [better])


def test_every_form_shows_both(revealed: Results) -> None:
    """The text, the JSON and the report have the table and the sentence."""
    rows = share_rows(revealed)
    (table,) = share_tables(revealed, rows)
    assert "not shown to differ" in str(table)
    assert str(table) in str(revealed)
    document = share_document(revealed) or {}
    assert document["shown"] is True
    assert len(document["rows"]) == len(rows)
    assert document["reveals"][0]["by"] == "--reveal"
    page = render_report(revealed)
    assert "Open and secret queries" in page
    assert "not shown to differ (Match)" in page


def test_hidden_shares_have_no_rows(revealed: Results) -> None:
    """Only the number is known."""
    hidden = replace(revealed, reveal=False)
    assert share_rows(hidden) == []
    assert share_sentence(hidden) == ""
    document = share_document(hidden) or {}
    assert document["queries"] == len(revealed.secret_queries)
    assert "rows" not in document
    assert "Open and secret queries" not in render_report(hidden)


def test_without_a_share_there_is_no_document(tmp_path: Path) -> None:
    """The key is absent from JSON."""
    plain = canary_experiment(tmp_path, **OWN)
    assert share_document(plain) is None
    assert "secret" not in plain.to_dict()


def test_a_passport_is_verified_with_its_own_share(revealed: Results, tmp_path: Path) -> None:
    """The numbers of open and of revealed passports are found again, whatever the record has."""
    hidden, root = replace(revealed, reveal=False), revealed.store.root
    for results in (hidden, revealed):
        found = verify(results.passport(), store=root)
        assert (found.different, found.not_checked) == ((), ())
        assert found.equal > 0
    report = tmp_path / "report.html"
    revealed.report(report)
    (source,) = read_sources([f"{report}:own:gold"], root)
    assert source.results is not None
    assert set(source.results.queries) == set(hidden.queries)


def test_nuggets_are_compared_within_queries(tmp_path: Path) -> None:
    """Both shares of the nuggets of the same queries, each weighted equally."""
    share = {"queries": "30%", "nuggets": "40%"}
    results = canary_experiment(tmp_path, share=share, judges=["nuggets"]).revealed()
    rows = [row for row in share_rows(results) if row.of == "nuggets"]
    assert {(row.system, row.metric) for row in rows} == {
        ("model", "nuggets:all"),
        ("own", "nuggets:all"),
    }
    ids, trial = list(results.secret_nuggets), results.trials[0]
    (row,) = (r for r in rows if (r.system, r.setting) == (trial.system, trial.setting))
    gaps = [
        (trial.scores["nuggets:secret"][q].value or 0) - (trial.scores["nuggets:all"][q].value or 0)
        for q in ids
    ]
    assert (row.open.n, row.secret.n) == (len(ids), len(ids))
    assert row.difference == pytest.approx(sum(gaps) / len(gaps))
    assert row.interval is not None
    assert row.interval[0] <= (row.difference or 0.0) <= row.interval[1]
    assert "nuggets:secret" not in {r.metric for r in share_rows(results) if r.of == "queries"}
    sentence = share_sentence(results)
    assert sentence.startswith(
        "The secret share is not shown to differ (Match). The secret nuggets"
    )
    worse = replace(row, difference=-0.4, interval=(-0.6, -0.2), worse=True)
    assert share_sentence(results, [worse]) == (
        "The secret nuggets are worse in nuggets:all: model under none -0.400. The system may be "
        "tuned to the open nuggets."
    )
    first, second = share_tables(results, share_rows(results))
    assert (first.title, second.title) == (
        "Open and secret queries (mean [interval])",
        "Open and secret nuggets (mean [interval])",
    )
    assert "Open and secret queries and nuggets" in render_report(results)
    document = share_document(results) or {}
    assert document["nuggets"] == sum(map(len, results.secret_nuggets.values()))
    assert document["share"] == {"queries": 0.3, "nuggets": 0.4, "seed": 0}
    hidden = replace(results, reveal=False)
    found = verify(hidden.passport(), store=hidden.store.root)
    assert (found.different, found.not_checked) == ((), ())
