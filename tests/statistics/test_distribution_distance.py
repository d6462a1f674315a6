"""Distances of two distributions."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.distribution_distance import (
    distance,
    earth_mover,
    jensen_shannon,
    kolmogorov_smirnov,
)


def test_measures_by_hand() -> None:
    """(1/2, 1/2) against (1, 0): entropy of (3/4, 1/4) less half a bit; all other gaps are 1/2."""
    p, q = np.array([[0.5, 0.5]]), np.array([[1.0, 0.0]])
    middle = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert jensen_shannon(p, q)[0] == pytest.approx(middle - 0.5)
    assert earth_mover(p, q)[0] == pytest.approx(0.5)
    assert kolmogorov_smirnov(p, q)[0] == pytest.approx(0.5)


def test_measures_equal_those_of_scipy() -> None:
    """On random samples of small numbers."""
    scipy_distance = pytest.importorskip("scipy.spatial.distance")
    scipy_stats = pytest.importorskip("scipy.stats")
    generator = np.random.default_rng(0)
    a, b = generator.poisson(3, 50), generator.poisson(5, 80)
    p, q = (np.bincount(x, minlength=20)[None] / len(x) for x in (a, b))
    assert jensen_shannon(p, q)[0] == pytest.approx(
        scipy_distance.jensenshannon(p[0], q[0], base=2) ** 2
    )
    assert earth_mover(p, q)[0] == pytest.approx(scipy_stats.wasserstein_distance(a, b))
    assert kolmogorov_smirnov(p, q)[0] == pytest.approx(scipy_stats.ks_2samp(a, b).statistic)


def counts(generator: np.random.Generator, mean: float) -> Floats:
    """Return counts of 40 groups, each of six Poisson numbers of its own mean."""
    means = mean * generator.gamma(8, 1 / 8, 40)
    drawn = generator.poisson(np.repeat(means, 6)).reshape(40, 6).clip(max=29)
    return np.array([np.bincount(row, minlength=30) for row in drawn], dtype=np.float64)


def test_equal_distributions_are_rarely_told_apart() -> None:
    """At most 9 % of 150 pairs of samples have a p below 0.05."""
    generator = np.random.default_rng(1)
    found = [
        distance(earth_mover, counts(generator, 5.0), counts(generator, 5.0), resamples=200)
        for _ in range(150)
    ]
    assert sum(one is not None and (one.p or 1.0) < 0.05 for one in found) <= 0.09 * 150


def test_the_interval_contains_the_true_distance() -> None:
    """The means are 3 apart, and so are the distributions: 85 % or more of 100 intervals."""
    generator = np.random.default_rng(2)
    found = [
        distance(earth_mover, counts(generator, 4.0), counts(generator, 7.0), resamples=200)
        for _ in range(100)
    ]
    held = [
        one for one in found if one and one.interval and one.interval[0] <= 3 <= one.interval[1]
    ]
    assert len(held) >= 85
    assert all(one is not None and (one.p or 1.0) < 0.05 for one in found)


def test_few_groups_have_no_interval_and_no_counts_no_distance() -> None:
    """A side with fewer than five groups that count something; a side without counts."""
    four = np.ones((4, 2))
    found = distance(jensen_shannon, four, np.ones((9, 2)))
    assert found is not None
    assert (found.value, found.interval, found.p, found.n) == (0.0, None, None, (8, 18))
    assert distance(jensen_shannon, four, np.zeros((9, 2))) is None
