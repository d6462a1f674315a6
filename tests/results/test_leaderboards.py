"""Means, leads, adaptability and cost of results."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.fakes.made_results import made_results

from ragstone.results.leaderboards import (
    bar_parts,
    leaderboard,
    leads,
    results_document,
    retrieval_board,
    retrieval_lead,
)
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.results.usage import usage_rows
from ragstone.types import Prediction


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> StoredResults:
    """Return made-up results of two systems under four settings."""
    return made_results(tmp_path_factory.mktemp("store"), queries=40)


def test_every_mean_has_its_counts(results: StoredResults) -> None:
    """A failed query counts as wrong; one that is not applicable does not count."""
    board = next(board for board in leaderboard(results) if board.setting == "gold")
    summary = board.rows[0].cells["Match"]
    scores = results.trials[2].scores["Match"].values()
    values = [score.value for score in scores if score.value is not None]

    assert summary.failed > 0
    assert summary.not_applicable > 0
    assert summary.n + summary.not_applicable == 40
    assert summary.mean == pytest.approx(sum(values) / (len(values) + summary.failed))
    assert summary.mean_of_answered == pytest.approx(sum(values) / len(values))


def test_marks_and_ranks_agree_with_the_tests(results: StoredResults) -> None:
    """A system of the first group is worse than none; the others are worse than the best one."""
    for board in (*leaderboard(results), retrieval_board(results)):
        assert board is not None
        for metric, best in board.best.items():
            standing = results.standings[board.setting, metric]
            first, *others = standing.places
            worse = {other for other in others if standing.outcome(first, other) == "better"}
            assert best == ({first, *others} - worse if worse else frozenset())
            for system, place in standing.places.items():
                better = sum(standing.outcome(system, o) == "worse" for o in standing.places)
                assert place.rank[0] == 1 + better


def test_a_single_system_is_not_the_best(tmp_path: Path) -> None:
    """Without a second system there is no mark and no lead."""
    results = made_results(tmp_path, systems=("only",))

    assert not any(leaderboard(results)[0].best.values())
    assert leads(results)[0].pair is None
    assert leads(results)[0].sentence == "there is nothing to compare it with."


def test_parts_of_a_bar_sum_to_one(results: StoredResults) -> None:
    """The segments are exhaustive: their counts sum to n and their shares to 1."""
    rows = results.adaptability

    assert {row.setting for row in rows} == {"gold+noise(3)", "retrieved(3)"}
    for row in rows:
        parts = bar_parts(row.adaptability).values()
        assert sum(share.count for share in parts) == row.adaptability.n
        assert math.fsum(share.share or 0 for share in parts) == pytest.approx(1)
        four = row.adaptability.shares.values()
        assert math.fsum(share.share or 0 for share in four) == 1.0


def test_a_lead_is_paired(results: StoredResults) -> None:
    """A lead's difference is over the queries that count for both systems."""
    lead = next(lead for lead in leads(results) if lead.setting == "gold")
    scores = {t.system: t.scores["Match"] for t in results.trials if t.setting == "gold"}
    first, second = (
        {q: score.value or 0.0 for q, score in scores[name].items() if score.status != skipped}
        for name, skipped in ((lead.best, "not_applicable"), (lead.runner_up, "not_applicable"))
    )
    gaps = [first[q] - second[q] for q in first if q in second]

    assert lead.pair is not None
    assert lead.pair.difference.n == len(gaps)
    assert abs(lead.pair.difference.difference) == pytest.approx(sum(gaps) / len(gaps))


def test_the_headline_is_corrected_apart_from_the_other_metrics(results: StoredResults) -> None:
    """The family of the headline has a test per setting and retrieval; that of others has more."""
    headlines = [one for one in results.standings.values() if one.headline]

    assert [(one.setting, one.metric) for one in headlines] == [
        *((setting, "Match") for setting in results.settings),
        ("", "nDCG@10"),
    ]
    for one in headlines:
        [pair] = one.pairs.values()
        assert pair.adjusted_p >= pair.difference.p
        assert pair.difference.interval is not None


def test_the_chief_ranking_metric_is_ndcg_at_ten(results: StoredResults) -> None:
    """The retrieval lead is by nDCG@10 if it was measured."""
    lead = retrieval_lead(results)

    assert lead is not None
    assert lead.metric == "nDCG@10"


def test_usage_is_of_calls_that_report_it(results: StoredResults) -> None:
    """A failed call has no time and no tokens, and counts as failed."""
    row = usage_rows(results)[0]

    assert row.answered + row.failed == 40
    assert row.timed == row.counted == row.answered
    assert 0 < (row.seconds_p50 or 0) <= (row.seconds_p95 or 0)


def test_the_document_is_plain_json(results: StoredResults) -> None:
    """`--json` contains every cell, unrounded, and no NaN."""
    document = json.loads(json.dumps(results_document(results), allow_nan=False))

    metrics = {row["metric"] for row in document["leaderboard"]}
    assert metrics == {"Match", "F1", "failure rate"}
    assert len(document["leaderboard"]) == 2 * 4 * 3
    assert len(document["retrieval"]) == 2 * 7
    cell = document["leaderboard"][0]
    assert cell.keys() >= {"system", "setting", "metric", "mean", "interval", "n", "failed"}
    assert cell.keys() >= {"mean_of_answered", "policy", "rank", "group"}
    assert document["headline"]["gold"] == "Match"
    assert {pair["outcome"] for pair in document["comparisons"]} <= {"better", "worse", "undecided"}


def test_prompts_that_dropped_something_are_counted() -> None:
    """Usage counts the prompts from which passages were left out."""
    predictions = {
        "q1": Prediction("q1", "yes", dropped="passage p1"),
        "q2": Prediction("q2", "no"),
    }
    trial = TrialResults("s", "gold", {}, {}, predictions, {})

    [row] = usage_rows(SimpleNamespace(trials=[trial]))  # type: ignore[arg-type]

    assert (row.answered, row.cut) == (2, 1)
