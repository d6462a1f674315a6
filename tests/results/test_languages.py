"""Languages of what was retrieved: shares, what is in reach, bias, the report and the terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.parallel_set import records, run

from ragstone.core import limits
from ragstone.results.html import render_report
from ragstone.results.languages import (
    languages_chart,
    passage_languages,
    retrieved_languages,
)
from ragstone.results.results import Results


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results on all three languages."""
    return run(tmp_path_factory.mktemp("languages"))


def test_shares_of_the_first_passages(results: Results) -> None:
    """Each translation of the ferry's name is found, and all passages in the query's language."""
    rows = {
        (row.query_language, row.passage_language): row
        for row in retrieved_languages(results)
        if row.system == "bm25"
    }

    assert limits.LANGUAGE_RANKS == 10
    assert len(rows) == 9
    assert rows["de", "de"].share.mean == pytest.approx(4 / 6)
    assert rows["de", "ru"].share.mean == pytest.approx(1 / 6)
    assert rows["de", "ru"].in_reach == pytest.approx(1 / 3)
    assert rows["de", "de"].to_dict()["bias"] == pytest.approx(1 / 3)
    assert (rows["de", "ru"].share.n, rows["de", "ru"].share.not_applicable) == (4, 0)


def test_bias_is_measured_on_translations(results: Results) -> None:
    """BM25 ranks the passage in the query's language first; there is no pair within a language."""
    rows = [row for row in retrieved_languages(results) if row.system == "bm25"]
    ahead = {(row.query_language, row.passage_language): row.ahead for row in rows}

    assert {one.mean for pair, one in ahead.items() if pair[0] != pair[1]} == {1.0}
    assert {one.n for pair, one in ahead.items() if pair[0] == pair[1]} == {0}


def test_a_translation_that_is_not_found_is_behind(tmp_path: Path) -> None:
    """Rankings of an own system: other first, own first, other alone, none."""
    rows = records(("en", "de"))
    shown = {
        "en/Alba": ["de/p-Alba", "en/p-Alba"],
        "en/Bora": ["en/p-Bora", "de/p-Bora"],
        "en/Cora": ["de/p-Cora"],
        "en/Dana": ["en/p-Bora"],
    }
    for row in rows["mine"]:
        ids = shown.get(row["query_id"], [])
        row["contexts"] = [{"id": passage_id} for passage_id in ids]
    found = retrieved_languages(run(tmp_path, rows))
    (ahead,) = [
        row.ahead
        for row in found
        if (row.system, row.query_language, row.passage_language) == ("mine", "en", "de")
    ]

    assert ahead.mean == pytest.approx(1 / 3)
    assert (ahead.n, ahead.not_applicable) == (3, 1)


def test_the_metric_and_the_table_agree(results: Results) -> None:
    """same-language@3 is the share of the first three passages in the query's language."""
    (ranking,) = [one for one in results.rankings if one.system == "bm25"]

    assert {score.value for score in ranking.scores["same-language@3"].values()} == {1.0}
    assert results.record.metric("same-language@3").direction == "neutral"
    assert passage_languages(results)["ru/p-Dana"] == ("ru", "Dana")


def test_the_report_has_the_tables(results: Results) -> None:
    """The texts of the terminal, and a heat map with a cell per row."""
    rows = retrieved_languages(results)
    page = render_report(results)
    chart = languages_chart(rows)

    assert '<section id="languages"' in page
    for text in ("0.667 [0.240, 0.930] of 0.333", "1.000 [0.398, 1.000] n 4"):
        assert text in page
    assert chart is not None
    assert len(chart["data"]["values"]) == len(rows) == 18


def test_one_language_alone_has_no_table(tmp_path: Path) -> None:
    """Without a second language, or without labels, there is nothing to compare."""
    rows = records()
    for row in rows["corpus"]:
        row["metadata"] = {}
    for row in rows["queries"]:
        del row["parallel"]
    unlabelled = run(tmp_path, rows, metrics=["Match", "R@5"])

    assert retrieved_languages(unlabelled) == []
    assert unlabelled.record.tables.passage_languages == ""
    assert '<section id="languages"' not in render_report(unlabelled)


def test_each_query_reaches_its_own_collection(tmp_path: Path) -> None:
    """Systems that cannot reach another language have no row."""
    data = {"path": "set", "collections": {"by": "language"}}
    results = run(tmp_path, data=data, systems={"bm25": {"retriever": "bm25"}}, metrics=["R@5"])

    assert results.record.data.language_counts["de"] == {"de": 4}
    assert retrieved_languages(results) == []


def test_a_language_without_a_label_is_recognised(tmp_path: Path) -> None:
    """If some passages have a label, those of the others come from their texts; shares do not."""
    rows = records(("en", "ru"))
    for row in rows["corpus"]:
        if row["_id"].startswith("ru"):
            del row["metadata"]["language"]
    results = run(tmp_path, rows)

    assert passage_languages(results)["ru/p-Alba"].language == "ru"
    assert {row.in_reach for row in retrieved_languages(results)} == {None}
