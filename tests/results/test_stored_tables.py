"""Tables of a record without the rows of its secret queries."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.canary_store import canary_experiment
from tests.fakes.made_results import made_results

from ragstone.cli.options import load_results
from ragstone.components.judges.secret_nuggets import nuggets_of
from ragstone.errors import ConfigError
from ragstone.experiment.joined_sources import stored_results
from ragstone.experiment.load import load_experiment
from ragstone.results.earlier import finished_records
from ragstone.results.joined import JoinedResults
from ragstone.results.leaderboards import results_document
from ragstone.results.results import Results
from ragstone.results.stored_tables import StoredRows, rows_where

OWN: dict[str, Any] = {"systems": {"own": {"retriever": "bm25", "generator": "gold"}}, "judges": []}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return results of 40 queries of which some are secret."""
    folder = tmp_path_factory.mktemp("secret")
    return canary_experiment(folder, share="30%", metrics=["Match", "BLEU", "R@2"])


def test_secret_queries_have_no_row(results: Results) -> None:
    """Queries, scores, rankings, labels of clusters and contexts are those of the others."""
    secret, shown = results.secret_queries, results.revealed()
    assert 2 <= len(secret) <= 20
    assert set(results.queries) == set(results.ranked) == set(shown.queries) - secret
    for trial in results.trials:
        assert set(trial.predictions) == set(results.queries)
        assert all(set(held) <= set(results.queries) for held in trial.scores.values())
    assert set(results.rankings[0].rankings) == set(results.queries)
    assert not secret & set(results.clusters)
    assert set(shown.trials[0].predictions) == set(results.queries) | secret


def test_counts_are_those_of_the_rows(results: Results) -> None:
    """Failures and rows of manifests are of the open queries; figures of all are withheld."""
    shown, trial = replace(results, reveal=True), results.record.trials[-1]
    before, after = shown.manifest(trial.predictions), results.manifest(trial.predictions)
    assert before["rows"] - after["rows"] == len(results.secret_queries)
    own = [p for p in results.trials[-1].predictions.values() if p.answer is None]
    assert after["failed"] == len(own) < before["failed"]
    assert set(after["reasons"]) == {one.reason for one in own}
    assert shown.manifest(trial.scores)["beside"]
    assert "beside" not in results.manifest(trial.scores)
    assert results.withholds_figures
    assert "Figures of all answers together" in " ".join(results_document(results)["remarks"])


def test_joined_scores_of_another_share_are_not_mixed_up(results: Results) -> None:
    """Two readers of the same tables have their own rows."""
    joined = JoinedResults.of([results, replace(results, reveal=True)])
    first, second = (
        next(row for row in joined.rows if row.experiment is one and row.metric == "Match")
        for one in joined.experiments
    )
    assert len(second.scores()) - len(first.scores()) == len(results.secret_queries)
    assert first.identity != second.identity


def test_a_share_is_added_and_taken_away_without_a_step(tmp_path: Path) -> None:
    """The record changes, no step runs; to take it away is recorded as a reveal."""
    before = canary_experiment(tmp_path, **OWN)
    assert before.secret_document() is None
    with pytest.raises(ConfigError, match="has no secret queries or nuggets"):
        before.revealed()
    steps = sorted(path.name for path in (tmp_path / "store" / "steps").iterdir())

    def run(share: str | None) -> Results:
        path = tmp_path / "e.yaml"
        document = {k: v for k, v in load_experiment(path).file.model_dump().items() if v}
        path.write_text(json.dumps({**document, "secret": share}))
        return load_experiment(path).run()

    hidden = run("30%")
    assert len(hidden.queries) < 40 == len(before.queries)
    assert [one.file["secret"] for one in finished_records(hidden.store, "e")] == 2 * [
        {"queries": 0.3, "seed": 0}
    ]
    assert hidden.reveals == []
    shown = run(None)
    assert len(shown.queries) == 40
    again = run("30%")
    assert [one.by for one in again.reveals] == ["the key `secret` was changed"]
    assert "The secret share was revealed on" in again.secret_sentence
    assert sorted(path.name for path in (tmp_path / "store" / "steps").iterdir()) == steps


def test_a_share_that_was_not_run_yet(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A first share counts at once for commands with the file; a change waits for the run."""
    before = canary_experiment(tmp_path, **OWN)
    file = str(tmp_path / "e.yaml")
    hidden = load_results(Path(file), ["secret=30%"])
    assert 0 < len(hidden.queries) < 40
    assert stored_results(Path(file), ["secret=30%"])[0].queries.keys() == hidden.queries.keys()
    assert "`secret` in the file is not that of its results" in caplog.text
    assert hidden.with_share_of(None).queries.keys() == hidden.queries.keys()
    assert hidden.with_share_of({"queries": 0.9, "seed": 1}) is hidden
    assert before.with_share_of(None) is before
    assert before.with_share_of({"nuggets": 0.3, "seed": 0}) is before
    queries = before.with_share_of({"queries": 0.3, "nuggets": 0.3, "seed": 0})
    assert queries.queries.keys() == hidden.queries.keys()
    assert queries.secret_nuggets == {}


def test_a_share_of_nuggets_makes_no_call(tmp_path: Path) -> None:
    """Only the judge's steps are computed again; their values are of the open nuggets."""
    shares = [{"nuggets": "40%"}, None, {"nuggets": "40%", "queries": "30%"}]
    last = canary_experiment(tmp_path, judges=["nuggets"], again=shares)
    records = finished_records(last.store, "e")
    plain, hidden, after, both = (Results(last.store, record) for record in records)
    new = {entry.folder for entry in hidden.record.steps} - {e.folder for e in plain.record.steps}
    assert {e.step for e in hidden.record.steps if e.folder in new} == {"judge"}
    assert [entry.folder for entry in both.record.steps] == [e.folder for e in hidden.record.steps]
    assert after.record.trials == plain.record.trials
    assert [(one.nuggets, one.queries) for one in both.reveals] == [(0.4, 0.0)]

    texts = set().union(*hidden.secret_nuggets.values())
    assert 60 < len(texts) < 140
    assert not any(text in str(dict(q.labels)) for q in hidden.queries.values() for text in texts)
    assert f"queries and {len(texts)} nuggets are secret" in hidden.secret_sentence
    trial, shown = hidden.trials[0], replace(hidden, reveal=True).trials[0]
    assert shown.scores.keys() - trial.scores.keys() == {"nuggets:secret"}
    assert "nuggets:secret" not in {entry.name for entry in hidden.record.metrics}
    for query_id, query in hidden.queries.items():
        # The second nugget is not in the answer, all others are.
        kept = [text for texts in nuggets_of(query) for text in texts]
        missed = sum(text.endswith("1x") for text in kept)
        value = trial.scores["nuggets:all"][query_id].value
        assert value == pytest.approx(1 - missed / len(kept))


def test_results_without_a_share_read_as_before(tmp_path: Path) -> None:
    """No table is filtered and no sentence is added."""
    results = made_results(tmp_path)
    assert (results.secret_queries, results.secret_sentence) == (frozenset(), "")
    assert "secret" not in results_document(results)


def test_an_iteration_over_rows_keeps_none(tmp_path: Path) -> None:
    """Ids, values and items come from the table block by block; a look-up keeps the rows."""
    results = made_results(tmp_path)
    trial = results.trials[0]
    for rows in (trial.predictions, trial.contexts, results.queries):
        assert isinstance(rows, StoredRows)
        ids, values, items = list(rows), list(rows.values()), list(rows.items())
        assert ids == [row.query_id for row in values] == [query_id for query_id, _ in items]
        assert len(rows) == len(ids)
        assert ids[0] in rows
        assert "none" not in rows
        assert "_rows" not in vars(rows)
        assert rows[ids[-1]] == values[-1]
        assert list(rows.values()) == values
        assert dict(rows) == dict(items)
        assert "_rows" in vars(rows)


def test_rows_by_the_value_of_a_column(tmp_path: Path) -> None:
    """Only rows with the value are made; a table without the column has none."""
    trial = made_results(tmp_path).trials[0]
    first = next(iter(trial.predictions))
    found = list(rows_where(trial.predictions, "query_id", lambda one: one == first))
    assert found == [trial.predictions[first]]
    assert list(rows_where(trial.predictions, "colour", bool)) == []
    assert list(rows_where(dict(trial.predictions), "colour", bool)) == [
        *trial.predictions.values()
    ]


def test_queries_that_are_ranked_and_answered_are_read_once(tmp_path: Path) -> None:
    """Equal tables are one mapping."""
    results = made_results(tmp_path)
    assert results.record.tables.ranked == results.record.tables.answered
    assert results.ranked is results.queries
    assert results.all_queries is results.queries
