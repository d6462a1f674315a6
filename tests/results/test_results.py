"""Results in Python: tables for people, plain data, and data frames."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.fakes.made_results import HOSTILE, RANKING_METRICS, made_results

import ragstone
from ragstone.core.schemas import SCORES
from ragstone.results.results import Results

NAMES = ["system", "setting", "query_id", "metric", "value", "status", "reason"]
MEANS = ["mean", "low", "high", "n", "failed", "not_applicable", "missing", "unscored"]
MEANS += ["mean_of_answered", "policy"]


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Return the results of two systems under four settings."""
    stored = made_results(tmp_path)
    return Results(stored.store, stored.record)


def test_every_score_is_a_row(results: Results) -> None:
    """One row per system, setting, metric and query, with the reason of a missing value."""
    frame = results.to_pandas()

    assert list(frame.columns) == NAMES
    trials, runs = len(results.trials) * 2, len(results.rankings) * len(RANKING_METRICS)
    assert len(frame) == 12 * (trials + runs)
    assert not frame.duplicated(["system", "setting", "metric", "query_id"]).any()
    failed = frame[frame.status == "failed"]
    assert failed.value.isna().all()
    assert (failed.reason != "").all()
    assert set(frame[frame.metric == "MRR"].setting) == {""}


def test_a_summary_has_a_row_per_mean(results: Results) -> None:
    """The columns of a mean are plain numbers, and they are those of the tables."""
    frame = results.to_pandas(summary=True)

    assert list(frame.columns) == ["system", "setting", "metric", *MEANS]
    cell = results.answer_cells[0]
    row = frame[
        (frame.system == cell.system)
        & (frame.setting == cell.setting)
        & (frame.metric == cell.metric)
    ].iloc[0]
    assert (row["mean"], row.n, row.failed) == (cell.summary.mean, cell.summary.n, 1)
    assert (row.low, row.high) == cell.summary.interval


@pytest.mark.parametrize("summary", [False, True])
def test_every_library_gets_the_same_table(results: Results, *, summary: bool) -> None:
    """Arrow by its C stream, polars with nulls, pandas with NaN."""
    evaluation = results.evaluation("bm25 + small", "gold")
    comparison = ragstone.compare(evaluation, results.evaluation("dense + small", "gold"))
    for found in (results, evaluation, comparison):
        arrow = pa.table(found.to_arrow(summary=summary))

        assert pl.DataFrame(arrow).equals(found.to_polars(summary=summary))
        pandas = found.to_pandas(summary=summary)
        assert list(pandas.columns) == arrow.column_names
        numbers = [f.name for f in arrow.schema if pa.types.is_floating(f.type)]
        assert all(pandas[name].dtype == "float64" for name in numbers)
        expected = arrow.to_pandas().astype(pandas.dtypes.to_dict())
        pd.testing.assert_frame_equal(pandas, expected)


def test_a_column_without_a_value_is_a_column_of_numbers() -> None:
    """Means that are all missing are NaN, not objects."""
    found = ragstone.evaluate_answers({"q": None}, {"q": ["a"]}, ["EM"])

    assert found.to_pandas().value.isna().all()
    assert found.to_pandas(summary=True)["mean"].dtype == "float64"


def test_results_without_a_trial_are_an_empty_table(tmp_path: Path) -> None:
    """Without a finished step the table has its columns and no rows."""
    stored = made_results(tmp_path, systems=[])
    results = Results(stored.store, stored.record)

    assert list(results.to_pandas().columns) == NAMES
    assert results.to_polars(summary=True).is_empty()


def test_one_system_under_one_setting_is_an_evaluation(results: Results) -> None:
    """It has the means of the results, the ranking metrics among them, and the single scores."""
    found = results.evaluation("dense + small", "gold")

    cells = {c.metric: c.summary for c in results.ranking_cells if c.system == "dense + small"}
    assert found["nDCG@10"] == cells["nDCG@10"]
    assert list(found.summaries) == [*RANKING_METRICS, "Match", "F1"]
    assert found.table.schema == SCORES
    assert found.scores["F1"].keys() == results.queries.keys()


@pytest.mark.parametrize(
    ("system", "setting", "message"),
    [
        ("", "gold", r"2 systems \(bm25 \+ small, dense \+ small\).*evaluation\('bm25 \+ small', "),
        ("bm25 + small", "", r"4 settings \(none, gold, .*choose one"),
        ("dense", "gold", r"no system 'dense'; did you mean 'dense \+ small'"),
        ("bm25 + small", "golden", "no setting 'golden'; did you mean 'gold'"),
    ],
)
def test_a_choice_that_is_missing_or_unknown_is_explained(
    results: Results, system: str, setting: str, message: str
) -> None:
    """The error lists the names and an example of the choice."""
    with pytest.raises(ragstone.ConfigError, match=message):
        results.evaluation(system, setting)


def test_results_are_compared_system_by_system(results: Results, tmp_path: Path) -> None:
    """Results of one system and one setting need no choice; others name the way to choose."""
    alone = made_results(tmp_path / "alone", systems=["bm25 + small"], settings=["gold"])
    one = Results(alone.store, alone.record)

    other = results.evaluation("dense + small", "gold")
    found = ragstone.compare(one, other, names=["one", "two"])

    assert found.systems == ("one", "two")
    assert found["Match"].n > 0
    with pytest.raises(ragstone.ConfigError, match="two: made has 2 systems"):
        ragstone.compare({"one": one, "two": results})


def test_clusters_come_with_the_results(results: Results) -> None:
    """Queries of one conversation or document stay together; single ones are no cluster."""
    found = results.evaluation("bm25 + small", "gold").clusters

    sizes = Counter(results.clusters.values())
    assert found == {q: c for q, c in results.clusters.items() if sizes[c] > 1}


def test_a_notebook_shows_tables_without_html_of_their_own(tmp_path: Path) -> None:
    """Every table of the terminal is an HTML table, and hostile texts are text in it."""
    stored = made_results(tmp_path, systems=[HOSTILE[0]], texts=HOSTILE)
    shown = Results(stored.store, stored.record)._repr_html_()

    assert shown.count("<table>") == str(Results(stored.store, stored.record)).count("system  ")
    assert "<script" not in shown
    assert "<img" not in shown


def test_plain_data_are_those_of_the_command_line(results: Results) -> None:
    """`to_dict` is JSON, and the data frames have the same means."""
    document = json.loads(json.dumps(results.to_dict(), allow_nan=False))

    frame = results.to_pandas(summary=True)
    means = [cell["mean"] for cell in (*document["retrieval"], *document["leaderboard"])]
    assert means == frame["mean"].tolist()
