"""Correlations with intervals: ties, weights, clusters, gaps, undefined cases."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import DatasetError, MissingDependency
from ragstone.statistics.correlation import kendall, pearson, spearman
from ragstone.statistics.resampling import Coefficient

PAIRS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=3, max_size=30)


def test_a_straight_line_correlates_perfectly() -> None:
    """A line gives 1 or -1; ranks give the same for any monotonic curve."""
    x = list(range(10))

    assert pearson(x, [2 * v + 1 for v in x]).value == pytest.approx(1.0)
    assert spearman(x, [-(v**3) for v in x]).value == pytest.approx(-1.0)
    assert kendall(x, [v**3 for v in x], resamples=50).value == pytest.approx(1.0)


@settings(max_examples=60, deadline=None)
@given(PAIRS)
def test_coefficients_are_symmetric_and_bounded(pairs: list[tuple[int, int]]) -> None:
    """Exchanging the columns does not change the value, which is between -1 and 1."""
    x, y = zip(*pairs, strict=True)

    for coefficient in (pearson, spearman):
        one, other = coefficient(x, y, resamples=50), coefficient(y, x, resamples=50)
        assert (one.value is None) == (len(set(x)) == 1 or len(set(y)) == 1)
        if one.value is not None:
            assert -1 <= one.value <= 1
            assert one.value == pytest.approx(other.value)


@settings(max_examples=40, deadline=None)
@given(PAIRS, st.data())
def test_a_weight_is_a_number_of_copies(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    """An item of weight 2 counts as two equal items, in values and in ranks."""
    weights = data.draw(st.lists(st.integers(1, 4), min_size=len(pairs), max_size=len(pairs)))
    x, y = zip(*pairs, strict=True)
    copies = [pair for pair, weight in zip(pairs, weights, strict=True) for _ in range(weight)]
    more_x, more_y = zip(*copies, strict=True)

    for coefficient in (pearson, spearman):
        weighted = coefficient(x, y, weights=weights, resamples=10).value
        copied = coefficient(more_x, more_y, resamples=10).value
        assert weighted == pytest.approx(copied, abs=1e-9)


def test_weights_count_in_the_interval_too() -> None:
    """Copies that are drawn together give the interval of the weights, draw by draw."""
    generator = np.random.default_rng(6)
    x, y, weights = generator.normal(size=30), generator.normal(size=30), np.arange(30) % 4 + 1
    copies = np.repeat(np.arange(30), weights)

    weighted = pearson(x, y, weights=weights, resamples=200)
    copied = pearson(x[copies], y[copies], clusters=copies.tolist(), resamples=200)

    assert weighted.interval == pytest.approx(copied.interval)


def test_pairs_with_a_gap_or_no_weight_are_left_out_and_counted() -> None:
    """Pairs with a None on either side or a weight of 0 are left out."""
    found = pearson([1, None, 3, 4, 5], [2, 1, None, 5, 4], weights=[1, 1, 1, 1, 0])

    assert found == Coefficient(None, 2, 3, None)


def test_too_few_or_constant_values_have_no_correlation() -> None:
    """Two points are too few; equal values have no spread, even far from 0."""
    assert pearson([1, 2], [2, 1]).value is None
    assert pearson([1, 2, 3], [0.1, 0.1, 0.1]).value is None
    assert spearman([5, 5, 5], [1, 2, 3]).value is None
    assert pearson([1e6 + 0.1] * 50, list(range(50))).value is None


def test_a_small_spread_far_from_zero_is_still_a_spread() -> None:
    """Timestamps correlate as seconds do."""
    stamps = 1.7e9 + np.arange(20.0)

    assert pearson(stamps, np.arange(20.0), resamples=10).value == pytest.approx(1.0)


def test_the_interval_covers_and_narrows() -> None:
    """More items give a narrower interval around the same value; the seed decides the draws."""
    generator = np.random.default_rng(0)
    x = generator.normal(size=800)
    y = x + generator.normal(size=800)
    few, many = (spearman(x[:n], y[:n], seed=1) for n in (80, 800))

    assert few.interval is not None
    assert many.interval is not None
    assert many.interval[0] < 0.69 < many.interval[1]
    assert many.interval[1] - many.interval[0] < (few.interval[1] - few.interval[0]) / 2
    assert spearman(x, y, seed=1) == many != spearman(x, y, seed=2)
    for correlation in (pearson, spearman, kendall):
        few = correlation(x[:30], y[:30], resamples=20)
        assert few == correlation(x[:30], y[:30], resamples=20, confidence=0.95, seed=0)


def test_clusters_are_drawn_whole() -> None:
    """Copies of an item in its cluster do not narrow the interval."""
    generator = np.random.default_rng(1)
    x = generator.normal(size=60)
    y = x + generator.normal(size=60)
    clusters = np.repeat(np.arange(60), 5).tolist()

    once = pearson(x, y).interval
    copied = pearson(np.repeat(x, 5), np.repeat(y, 5), clusters=clusters).interval

    assert copied == pytest.approx(once)
    assert pearson(x, y, clusters=["c"] * 60).interval is None


def test_wrong_input_is_named() -> None:
    """Unequal lengths, NaN, negative weights."""
    with pytest.raises(DatasetError, match="found 2, 3 and 2 weights"):
        pearson([1, 2], [1, 2, 3])
    with pytest.raises(DatasetError, match="y: place 1 is nan"):
        spearman([1, 2, 3], [1, float("nan"), 2])
    with pytest.raises(DatasetError, match=r"weight -1\.0 is negative"):
        pearson([1, 2, 3], [1, 2, 3], weights=[1, -1, 1])


def test_kendall_without_scipy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the extra."""
    monkeypatch.setitem(sys.modules, "scipy.stats", None)

    with pytest.raises(MissingDependency, match=r"ragstone\[stats\]"):
        kendall([1, 2, 3], [1, 2, 3])
