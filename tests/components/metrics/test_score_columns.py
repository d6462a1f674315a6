"""Scores as columns: the same table however the queries are cut into blocks."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.components.metrics.answer_batch import gold_block, kept_gold
from ragstone.components.metrics.precision_recall import lcs_length, rates
from ragstone.components.metrics.score import (
    AnswerScores,
    RankingScores,
    score_answers,
    score_rankings,
)
from ragstone.components.metrics.score_columns import Cells, ScoreColumns
from ragstone.core import limits
from ragstone.core.fingerprint import digest_table
from ragstone.core.schemas import SCORES, columns, joined, rows, to_table
from ragstone.types import Prediction, Query, Ranking

METRICS = ["F1", "EM", "Match", "label", "answer-in-context"]


def _answers(size: int) -> tuple[list[Query], list[Prediction]]:
    queries = [
        Query(f"q{i}", "?", () if i % 11 == 0 else (f"word{i % 7}", "yes")) for i in range(size)
    ]
    said = [None if i % 5 == 0 else f"yes, word{i % 3}" for i in range(size)]
    predictions = [
        Prediction(f"q{i}", text, "" if text else f"call {i % 3} failed")
        for i, text in enumerate(said)
    ]
    return queries, predictions


def test_a_table_is_that_of_its_rows() -> None:
    """Every row of a table has the value, status and reason of its cell; digests are equal."""
    scores = ScoreColumns(["A", "B"])
    first = Cells(np.array([0.5, 7.0]), np.array([0, 2], np.uint8), {1: "timed out"})
    second = Cells(np.array([1.0, 1.0]), np.array([0, 0], np.uint8), {0: "a remark"})
    scores.add_cells(["q1", "q2"], [first, second])
    scores.add_cells(["q3", "q4"], [second, second])
    silent = Cells(np.array([0.0, 1.0]), np.array([2, 0], np.uint8), {})
    scores.add_cells(["q5", "q6"], [silent, second])
    plain = to_table(
        SCORES,
        {
            "query_id": ["q1", "q2", "q3", "q4", "q5", "q6"] * 2,
            "metric": ["A"] * 6 + ["B"] * 6,
            "value": [0.5, None, 1.0, 1.0, None, 1.0, *[1.0] * 6],
            "status": ["scored", "failed", *["scored"] * 2, "failed", *["scored"] * 7],
            "reason": ["", "timed out", "a remark", "", "", "", *["a remark", ""] * 3],
        },
    )

    assert digest_table(scores.table()) == digest_table(plain)
    for size in (1, 2, 3):
        assert [row for part in scores.tables(size) for row in rows(part)] == list(rows(plain))
    assert (len(scores), scores.count("failed"), scores.count("scored")) == (6, 2, 10)
    values, status = scores.values("A")
    assert (np.isnan(values).tolist(), status.tolist()) == (
        [False, True, False, False, True, False],
        [0, 2, 0, 0, 2, 0],
    )


@pytest.mark.parametrize(("block", "rows"), [(1, 7), (64, 50), (1000, 10_000)])
def test_blocks_of_answers_give_one_table(block: int, rows: int) -> None:
    """The table, its digest and the figures beside are those of all answers at once."""
    queries, predictions = _answers(300)
    whole = score_answers(METRICS, queries, predictions)

    scores = AnswerScores(METRICS)
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        scores.add(queries[part], predictions[part])
    pieces = list(scores.tables(rows))

    assert all(piece.num_rows <= rows for piece in pieces)
    assert digest_table(joined(pieces, SCORES)) == digest_table(whole)
    assert set(scores.beside()) == {"label"}


def test_blocks_of_rankings_give_one_table() -> None:
    """A query that is not in the run, or without relevant passages, keeps its reason."""
    qrels = {f"q{i}": {f"p{i % 3}": i % 2} for i in range(60)}
    run = {f"q{i}": Ranking(["p0", "p1"]) for i in range(50)}
    ids = list(qrels)
    whole = score_rankings(["R@1", "MRR"], qrels, run)

    scores = RankingScores(["R@1", "MRR"])
    for start in range(0, len(ids), 7):
        scores.add(qrels, run, ids[start : start + 7])

    assert digest_table(scores.table()) == digest_table(whole)
    reasons = set(columns(whole)["reason"])
    assert {"the query is not in the run", ""} < reasons


def test_no_query_gives_an_empty_table() -> None:
    """Without a block the table has no row, and the schema of scores."""
    table = AnswerScores(["EM"]).table()

    assert (table.num_rows, table.schema) == (0, SCORES)


def test_a_very_long_answer_is_scored_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are bounded by `SCORED_CHARACTERS`; values do not depend on it."""
    queries, predictions = _answers(40)
    predictions[7] = Prediction("q7", "word0 " * 300)
    whole = score_answers(METRICS, queries, predictions)
    monkeypatch.setattr(limits, "SCORED_CHARACTERS", 100)

    assert digest_table(score_answers(METRICS, queries, predictions)) == digest_table(whole)


def test_long_gold_answers_and_cached_cuts_equal_the_plain_forms() -> None:
    """A gold answer longer than 64 tokens, and more texts than `CACHED_CUTS`, change no value."""
    gold = [f"w{i % 40}" for i in range(90)]
    said = [f"w{i % 37}" for i in range(0, 180, 2)]
    size = limits.CACHED_CUTS + 3
    queries = [Query(f"q{i}", "?", (" ".join(gold),)) for i in range(size)]
    predictions = [Prediction(f"q{i}", f"{' '.join(said[: i % 90])} x{i}") for i in range(size)]
    last = [*said[: (size - 1) % 90], f"x{size - 1}"]

    names = ["ROUGE-L", "ROUGE-L(variant=mtrag)"]
    values = columns(score_answers(names, queries, predictions))["value"]

    expected = rates(lcs_length(last, gold), len(last), len(gold)).f1
    assert (values[size - 1], values[-1]) == (expected, expected)


def test_gold_answers_are_cut_once_for_all_systems() -> None:
    """Scores do not depend on what was kept, and at most `CACHED_GOLD_BLOCKS` blocks are kept."""
    queries, predictions = _answers(1030)
    first = score_answers(METRICS, queries, predictions)
    hits = kept_gold.cache_info().hits
    again = score_answers(METRICS, queries, predictions)
    assert kept_gold.cache_info().hits > hits
    kept_gold.cache_clear()

    assert digest_table(first) == digest_table(again)
    assert digest_table(score_answers(METRICS, queries, predictions)) == digest_table(first)
    assert kept_gold.cache_info().maxsize == limits.CACHED_GOLD_BLOCKS
    long = ("word " * 40_000,)
    assert gold_block((long,), ("",)) is not gold_block((long,), ("",))
