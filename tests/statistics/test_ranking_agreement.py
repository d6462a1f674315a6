"""Kendall and Spearman as scipy has them; tau-AP and rank-biased overlap by their definitions."""

from __future__ import annotations

from itertools import permutations
from statistics import fmean

import numpy as np
import pytest

from ragstone.errors import ConfigError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.ranking_agreement import (
    kendall_tau,
    rank_biased_overlap,
    rank_correlation,
    tau_ap,
)


def test_tau_is_that_of_scipy_with_ties() -> None:
    """Random scores with few values have many ties."""
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 4, (2, 200, 7)).astype(float)

    found = kendall_tau(a, b)

    wanted = [stats.kendalltau(x, y).statistic for x, y in zip(a, b, strict=True)]
    assert found == pytest.approx(np.array(wanted), nan_ok=True)


def test_tau_of_equal_scores_is_undefined() -> None:
    """No order can be compared."""
    assert np.isnan(kendall_tau(np.ones(3), np.arange(3.0)))


def test_overlap_is_that_of_its_definition() -> None:
    """The weighted mean over depths, and the last overlap for the depths beyond the end."""
    a, b, p = [3, 1, 0, 2], [0, 3, 2, 1], 0.8
    first, second = (np.array([-float(one.index(i)) for i in range(4)]) for one in (a, b))

    def overlap(depth: int) -> float:
        return len(set(a[:depth]) & set(b[:depth])) / min(depth, 4)

    # Beyond the last of 4 ranks, both rankings have the same systems: the overlap is 1.
    wanted = (1 - p) * sum(overlap(min(depth, 4)) * p ** (depth - 1) for depth in range(1, 400))

    assert overlap(4) == 1.0
    assert float(rank_biased_overlap(first, second, p)) == pytest.approx(wanted)


def test_the_first_ranks_count_more() -> None:
    """A swap at the top costs more than one at the bottom; equal orders have 1, also with ties."""
    order = np.array([5.0, 4.0, 3.0, 2.0, 1.0])
    top, bottom = order[[1, 0, 2, 3, 4]], order[[0, 1, 2, 4, 3]]

    assert rank_biased_overlap(order, top) < rank_biased_overlap(order, bottom) < 1
    tied = np.array([1.0, 1.0, 0.0])
    assert float(rank_biased_overlap(tied, tied)) == pytest.approx(1.0)


def test_persistence_has_bounds() -> None:
    """The message has the usual value."""
    with pytest.raises(ConfigError, match=r"persistence 1 is not between 0 and 1; usual is 0\.9"):
        rank_biased_overlap(np.arange(2.0), np.arange(2.0), 1)


def orders(scores: Floats) -> list[tuple[int, ...]]:
    """Return all orders of the systems, best first, in which no worse one is above a better one."""
    places = permutations(range(len(scores)))
    return [one for one in places if all(np.diff(scores[list(one)]) <= 0)]


def defined_tau_ap(order: tuple[int, ...], truth: tuple[int, ...]) -> float:
    """Return tau-AP of two orders without ties, word by word as Yilmaz et al. define it."""
    size, total = len(order), 0.0
    for i in range(2, size + 1):
        here = order[i - 1]
        right = sum(truth.index(one) < truth.index(here) for one in order[: i - 1])
        total += right / (i - 1)
    return 2 / (size - 1) * total - 1


def test_tau_ap_by_hand() -> None:
    """A mistake at the top costs more than one at the bottom; tau-b sees no difference."""
    truth = np.array([4.0, 3.0, 2.0, 1.0])
    top, bottom = np.array([3.0, 4.0, 2.0, 1.0]), np.array([4.0, 3.0, 1.0, 2.0])

    # Ranks 2 to 4 have 0 of 1, 2 of 2 and 3 of 3 above them; then 1 of 1, 2 of 2 and 2 of 3.
    assert tau_ap(top, truth) == pytest.approx(2 / 3 * (0 + 1 + 1) - 1)
    assert tau_ap(bottom, truth) == pytest.approx(2 / 3 * (1 + 1 + 2 / 3) - 1)
    assert kendall_tau(top, truth) == kendall_tau(bottom, truth)
    assert tau_ap(truth, truth) == 1
    assert tau_ap(-truth, truth) == -1
    assert np.isnan(tau_ap(np.ones(1), np.ones(1)))


def test_tau_ap_with_ties_is_the_mean_over_all_orders() -> None:
    """The brute force breaks the ties of both sides in every possible way."""
    generator = np.random.default_rng(1)
    a, b = generator.integers(0, 3, (2, 60, 5)).astype(float)

    wanted = [
        fmean(defined_tau_ap(one, true) for one in orders(x) for true in orders(y))
        for x, y in zip(a, b, strict=True)
    ]

    assert tau_ap(a, b) == pytest.approx(np.array(wanted))
    assert float(tau_ap(np.ones(4), np.arange(4.0))) == 0
    assert float(tau_ap(np.arange(4.0), np.ones(4))) == 0


def test_spearman_is_that_of_scipy_with_ties() -> None:
    """Equal scores share their middle rank; rows of equal scores are undefined."""
    stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(2)
    a, b = generator.integers(0, 4, (2, 100, 6)).astype(float)
    a[:, 0], b[:, 0] = 4, -1

    wanted = [stats.spearmanr(x, y).statistic for x, y in zip(a, b, strict=True)]

    assert rank_correlation(a, b) == pytest.approx(np.array(wanted))
    assert np.isnan(rank_correlation(np.ones(3), np.arange(3.0)))
