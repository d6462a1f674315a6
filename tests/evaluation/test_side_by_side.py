"""Several judges side by side: orders of systems, and agreement of each pair."""

from __future__ import annotations

import json

import pytest

from ragstone.errors import ConfigError
from ragstone.evaluation.side_by_side import JudgedColumn, side_by_side, words_of
from ragstone.statistics.order_agreement import RatedAnswers

ANSWERS = RatedAnswers(
    ["a", "b", "c"] * 20, [n // 3 for n in range(60)], [n // 3 for n in range(60)]
)
ONE = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0] * 10
TWO = [1.0, 1.0, 0.0, 1.0, 0.0, 0.0] * 10


def test_orders_and_pairs() -> None:
    """Each judge has the systems, best first; each pair has kappa, Spearman and orders."""
    graded = [value + place / 100 for place, value in enumerate(ONE)]
    columns = [JudgedColumn(name, values, words_of(values))
               for name, values in (("one", ONE), ("two", TWO), ("graded", graded))]  # fmt: skip

    found = side_by_side(columns, ANSWERS)

    assert [system for system, _ in found.orders[0].systems] == ["a", "b", "c"]
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        ("one", "two"), ("one", "graded"), ("two", "graded"),
    ]  # fmt: skip
    first, second, _ = found.pairs
    assert first.kappa is not None
    assert first.kappa.value == pytest.approx(1 / 3)
    assert second.kappa is None
    assert first.order is not None
    assert first.order.by_run["kendall"].value == 1
    json.dumps(found.to_dict())


def test_a_judge_of_errors_is_turned_round() -> None:
    """If lower is better, the best system has the lowest mean."""
    errors = [1 - value for value in ONE]
    columns = [JudgedColumn("one", ONE), JudgedColumn("errors", errors, higher_is_better=False)]

    found = side_by_side(columns, ANSWERS)

    assert [name for name, _ in found.orders[1].systems] == ["a", "b", "c"]
    assert found.pairs[0].correlation.value == pytest.approx(1)


def test_pairs_are_compared_on_the_answers_that_both_rated() -> None:
    """A judge without a verdict on some answers has its own n; without any, nothing is known."""
    partly: list[float | None] = [None, *ONE[1:]]
    columns = [JudgedColumn("one", ONE), JudgedColumn("partly", partly),
               JudgedColumn("none", [None] * 60)]  # fmt: skip

    found = side_by_side(columns, ANSWERS)

    assert [one.n for one in found.orders] == [60, 59, 0]
    assert [pair.n for pair in found.pairs] == [59, 0, 0]
    assert found.pairs[1].correlation.value is None
    assert words_of([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) == []


def test_one_judge_is_refused() -> None:
    """Two or more are compared."""
    with pytest.raises(ConfigError, match="found 1 judge; two or more"):
        side_by_side([JudgedColumn("one", ONE)], ANSWERS)
