"""The bootstrap distribution of a mean is computed, and equals what resampling approaches."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.statistics.bootstrap import ratio_interval, sum_of_draws

VALUES = st.lists(st.floats(-100, 100).map(lambda x: round(x, 3)), min_size=2, max_size=30)


def test_the_distribution_of_a_sum_is_that_of_all_resamples() -> None:
    """The probabilities equal those of a list of all resamples of a few values."""
    values = np.array([0.0, 1.0, 3.0, 3.0])
    sums = [sum(drawn) for drawn in itertools.product(values, repeat=4)]

    found = sum_of_draws(values)

    for level in (0.03, 0.25, 0.5, 0.9):
        assert found.quantile(level) == pytest.approx(
            np.quantile(sums, level, method="inverted_cdf")
        )
    for point in (3.0, 7.0, 8.0):
        listed = np.mean([s < point for s in sums]) + np.mean([s == point for s in sums]) / 2
        assert found.below(point) == pytest.approx(listed, abs=1e-9)


def test_sums_of_fractions_are_counted_exactly() -> None:
    """Of ten thirds, quarters and fifths, which are on the grid."""
    sixtieths = [0, 12, 15, 20, 24, 30, 40, 45, 48, 60]
    ways = {0: 1}
    for _ in range(10):
        sums = Counter[int]()
        for total, count in ways.items():
            for step in sixtieths:
                sums[total + step] += count
        ways = sums

    found = sum_of_draws(np.array(sixtieths) / 60)

    for point in (200, 294, 301, 400):
        below = sum(count for total, count in ways.items() if total < point)
        assert found.below(point / 60) == pytest.approx(
            (below + ways[point] / 2) / 10**10, abs=1e-9
        )


def test_sums_of_many_halves_and_thirds_are_counted_exactly() -> None:
    """The coarsest grid has sixtieths."""
    sixths = np.repeat([0, 2, 3, 6], 400)
    single = np.bincount(sixths, minlength=2**14) / 1600
    exact = np.fft.irfft(np.fft.rfft(single) ** 1600, 2**14)

    found = sum_of_draws(sixths / 6)

    for point in (4300, 4400, 4500):
        below = float(exact[:point].sum() + exact[point] / 2)
        assert found.below(point / 6) == pytest.approx(below, abs=1e-7)


@pytest.mark.parametrize(("n", "ones"), [(2, 1), (40, 20), (128, 116)])
def test_the_distribution_of_a_sum_of_ones_is_binomial(n: int, ones: int) -> None:
    """At every sum, also at the least and the greatest one."""
    share = ones / n
    exact = [math.comb(n, k) * share**k * (1 - share) ** (n - k) for k in range(n + 1)]

    found = sum_of_draws(np.repeat([1.0, 0.0], [ones, n - ones]))

    for k in range(n + 1):
        assert found.below(float(k)) == pytest.approx(sum(exact[:k]) + exact[k] / 2, abs=1e-9)


@given(VALUES)
def test_probabilities_sum_to_one_and_keep_the_mean(values: list[float]) -> None:
    """Probabilities sum to 1, and the mean is n times the mean of the values."""
    found = sum_of_draws(np.array(values))
    points = found.origin + (found.first + np.arange(len(found.probabilities))) / found.density

    assert found.probabilities.sum() == pytest.approx(1.0, abs=1e-9)
    assert points @ found.probabilities == pytest.approx(
        sum(values), abs=1e-6 * (1 + np.ptp(values))
    )


@pytest.mark.parametrize("n", [30, 20_000, 1_000_000])
@pytest.mark.parametrize("power", [1, 4])
def test_heavy_tailed_values_keep_their_spread(n: int, power: int) -> None:
    """The standard deviation has a relative error below 1e-3 even with extreme values."""
    values = np.random.default_rng(3).exponential(size=n) ** power

    found = sum_of_draws(values)

    points = found.origin + (found.first + np.arange(len(found.probabilities))) / found.density
    mean = points @ found.probabilities
    spread = math.sqrt(found.probabilities @ (points - mean) ** 2)
    assert spread == pytest.approx(values.std() * math.sqrt(len(values)), rel=1e-3)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(1, 5))
def test_clusters_of_equal_size_are_like_single_values(values: list[float], size: int) -> None:
    """Dividing every cluster's sum by a common size gives the interval of the means."""
    sums = np.array(values)

    alone = ratio_interval(sums, np.ones(len(sums)), 0.9)
    grouped = ratio_interval(sums * size, np.full(len(sums), float(size)), 0.9)

    assert grouped == pytest.approx(alone, abs=1e-6 * (1 + np.ptp(sums)))


def test_unequal_clusters_agree_with_resampled_ratios() -> None:
    """The interval of a ratio is near the BCa percentiles of 20,000 resampled ratios."""
    generator = np.random.default_rng(5)
    sizes = generator.integers(1, 9, 60).astype(float)
    sums = sizes * generator.beta(2, 3, 60)
    drawn = generator.integers(60, size=(20_000, 60))
    ratios = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)

    low, high = ratio_interval(sums, sizes, 0.95)

    # BCa moves the levels a little away from 2.5 % and 97.5 %.
    assert 0.015 < (ratios < low).mean() < 0.035
    assert 0.015 < (ratios > high).mean() < 0.035


def test_ends_of_the_range_are_found_for_unequal_clusters() -> None:
    """A quantile at the highest cluster mean equals that mean."""
    low, high = ratio_interval(np.array([3.0, 2.0, 1.0, 0.0]), np.array([3.0, 2.0, 1.0, 4.0]), 0.99)

    assert high == pytest.approx(1.0)
    assert low == pytest.approx(0.0, abs=1e-6)


def test_a_probability_of_nearly_one_is_one() -> None:
    """Of 400 unequal clusters a tenth is 0; a mean that none of the resamples reaches is tried."""
    generator = np.random.default_rng(0)
    sizes = generator.integers(1, 4, 400).astype(float)
    sums = sizes * (generator.random(400) < 0.9)

    low, high = ratio_interval(sums, sizes, 0.95)

    assert 0.8 < low < sums.sum() / sizes.sum() < high < 0.95
