"""The difference of means of different items."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragstone.statistics.summary import Summary, summarise
from ragstone.statistics.unpaired import unpaired_difference


def test_distances_to_the_bounds_are_added_in_squares() -> None:
    """0.8 - 0.3 = 0.5; below sqrt(0.3^2 + 0.4^2), above sqrt(0.1^2 + 0.2^2)."""
    a, b = Summary(0.3, 9, interval=(0.1, 0.7)), Summary(0.8, 9, interval=(0.5, 0.9))
    found = unpaired_difference(a, b)
    assert found.difference == pytest.approx(0.5)
    assert found.interval == pytest.approx((0.5 - 0.5, 0.5 + math.sqrt(0.05)))
    other = unpaired_difference(b, a)
    assert other.interval == pytest.approx((-0.5 - math.sqrt(0.05), 0.0), abs=1e-12)


def test_what_is_unknown_stays_unknown() -> None:
    """No mean, no difference; no interval on a side, none of the difference."""
    known = Summary(0.5, 9, interval=(0.4, 0.6))
    assert unpaired_difference(Summary(None, 0), known).difference is None
    without = unpaired_difference(known, Summary(1.0, 1))
    assert (without.difference, without.interval, without.excludes_zero) == (0.5, None, False)


def test_the_interval_contains_the_true_difference_as_often_as_it_says() -> None:
    """Between 91 % and 98 % of 300 pairs of samples, in clusters of five."""
    generator = np.random.default_rng(0)

    def sample(mean: float) -> Summary:
        values = np.repeat(generator.normal(mean, 1, 40), 5) + generator.normal(0, 1, 200)
        return summarise(values, clusters=list(np.repeat(range(40), 5)), bounds=None)

    intervals = [unpaired_difference(sample(1.0), sample(1.5)).interval for _ in range(300)]
    held = [found for found in intervals if found and found[0] <= 0.5 <= found[1]]
    assert 0.91 <= len(held) / 300 <= 0.98
