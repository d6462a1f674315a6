"""Corrected differences and ranks: coverage, agreement of interval and test, and the choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.corrected import RANKED, SIMULATED, Tally, hidden, one_difference, ranked

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.corrected_difference import (
    GradedSystem,
    adjusted,
    all_differences,
    corrected_difference,
    corrected_ranks,
)

N = 300


def systems(seed: int, labelled: int = 40) -> list[GradedSystem]:
    """Return two systems with 0/1 values; the judge is right in nine of ten."""
    draw = SIMULATED["0/1"]
    people, judge = draw(np.random.default_rng(seed), N)
    return hidden(people, judge, np.arange(labelled))


@pytest.mark.parametrize(("values", "most"), [("0/1", 0.85), ("ratings", 0.8)])
def test_intervals_cover_the_difference_and_are_narrower(values: str, most: float) -> None:
    """With 30 labels at least 93 % of 100 intervals contain the truth (long: benchmarks)."""
    draw, tally = SIMULATED[values], Tally()
    people, _ = draw(np.random.default_rng(1), 100_000)
    truth = float((people[:, 0] - people[:, 1]).mean())
    for seed in range(100):
        tally.add(truth, *one_difference(draw, seed))

    covered, _, width, alone = np.array(tally.rows).mean(axis=0)
    assert covered >= 0.93
    assert width <= most * alone


def test_all_ranks_are_in_their_ranges() -> None:
    """At least 95 % of draws have every true rank in its range, with narrower ranges."""
    rows = []
    for seed in range(25):
        people, judge = RANKED["ratings, 4 systems"](np.random.default_rng(seed), 500)
        found = hidden(people, judge, np.arange(30))
        alone = [GradedSystem(one.human[:30], one.human[:30]) for one in found]
        rows.append((*ranked(found, [1, 2, 3, 4]), *ranked(alone, [1, 2, 3, 4])))

    covered, width, _, other = np.array(rows, dtype=float).mean(axis=0)
    assert covered >= 0.95
    assert width < other


def test_the_interval_excludes_zero_exactly_if_p_is_small() -> None:
    """Interval and test are one statement."""
    for seed in range(60):
        found = corrected_difference(*systems(seed))
        assert found.interval is not None
        assert found.p is not None
        assert (found.interval[0] > 0 or found.interval[1] < 0) == (found.p < 0.05)


def test_the_reverse_difference_is_the_negative() -> None:
    """Exchanged systems have the negative difference and the same p."""
    a, b = systems(3)
    one, other = corrected_difference(a, b), corrected_difference(b, a)

    assert one.difference == pytest.approx(-(other.difference or 0))
    assert one.p == pytest.approx(other.p)


def test_equal_answers_have_no_width_of_zero() -> None:
    """Two systems with equal labels may differ on other queries, whatever the estimate."""
    a, _ = systems(0, labelled=16)
    found = corrected_difference(a, GradedSystem(1 - a.judge, a.human))

    assert found.interval is not None
    assert found.interval[1] - found.interval[0] > 0.1


def test_labels_of_other_queries_give_an_unpaired_difference() -> None:
    """Without common labelled queries the two corrected means are compared."""
    a, b = systems(1, labelled=60)
    first = np.where(np.arange(N) < 30, a.human, np.nan)
    second = np.where(np.arange(N) >= 30, b.human, np.nan)

    found = corrected_difference(replace(a, human=first), replace(b, human=second))

    assert found.method in {"unpaired", "rogan-gladen"}
    assert found.labels_alone is None
    assert found.labelled == 30
    assert found.interval is not None
    assert found.interval[1] - found.interval[0] < 0.5


def test_too_few_labels_are_a_result_with_the_missing_number() -> None:
    """The judge's difference is still there."""
    found = corrected_difference(*systems(0, labelled=7))

    assert (found.difference, found.p, found.labelled) == (None, None, 7)
    assert found.reason == "7 queries with labels of both, at least 10 are needed (3 more)"
    assert found.judge_difference is not None


def test_labels_drawn_apart_with_unequal_probabilities_are_not_paired() -> None:
    """The probability of both labels is unknown, so that a pair has no weight."""
    a, b = systems(2, labelled=60)
    probability: Floats = np.random.default_rng(0).uniform(0.1, 0.3, N)
    one, two = replace(a, probability=probability), replace(b, probability=probability[::-1])

    assert corrected_difference(one, two).method in {"unpaired", "rogan-gladen"}
    assert one.minus(two) is None
    assert one.minus(replace(b, probability=probability)) is not None


def test_ranks_need_significant_differences() -> None:
    """Lower is better reverses the order; a system without a mean has no rank."""
    a, _ = systems(0)
    named = {"a": a, "b": GradedSystem(np.zeros(N), np.where(np.arange(N) < 40, 0.0, np.nan))}
    pairs = adjusted(all_differences(named))

    higher = corrected_ranks(pairs, {"a": 0.6, "b": 0.0})
    lower = corrected_ranks(pairs, {"a": 0.6, "b": 0.0}, lower_is_better=True)

    assert [(n, one.text) for n, one in higher.items()] == [("a", "1"), ("b", "2")]
    assert [(n, one.text) for n, one in lower.items()] == [("b", "1"), ("a", "2")]
    assert set(corrected_ranks(pairs, {"a": 0.6})) == {"a"}


def test_only_tests_are_adjusted() -> None:
    """A pair without a p does not make the others harder to decide."""
    pairs = [corrected_difference(*systems(0)), corrected_difference(*systems(0, labelled=3))]

    first, second = adjusted(pairs)

    assert first.adjusted_p == first.p
    assert second.adjusted_p is None
