"""Correlations of two columns: Pearson, Spearman, Kendall, each with an interval.

Intervals are percentiles of the bootstrap over items or clusters; each resample is ranked again.
The correlation with a column of equal values is undefined: None.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import DatasetError, MissingDependency
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap, Coefficient, MiddleRanks
from ragstone.statistics.summary import Numbers, cluster_numbers, present, present_clusters

Column = Sequence[float | None] | NDArray[np.number]
_FEW = 3
"""Minimum number of pairs: two points always define a line."""


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The pairs with both values and a weight above 0."""

    x: Floats
    y: Floats
    weights: Floats
    members: Numbers
    """The number of each pair's cluster."""
    left_out: int

    def correlation(
        self, coefficient: Callable[[Floats], Floats], bootstrap: Bootstrap
    ) -> Coefficient:
        """Return a coefficient of weights of shape (rows, pairs)."""
        n, interval = len(self.x), None
        value = float(coefficient(self.weights[None, :])[0]) if n >= _FEW else float("nan")
        if not np.isfinite(value):
            return Coefficient(None, n, self.left_out, None)
        if int(self.members.max()) + 1 >= _FEW:
            interval = bootstrap.interval_of(coefficient, self.weights, self.members)
        return Coefficient(value, n, self.left_out, interval)


def pearson(
    x: Column,
    y: Column,
    *,
    weights: Column | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Coefficient:
    """Return Pearson's correlation of two columns, weighted if `weights` are given.

    Args:
        x: one value per item; an item with None on either side is left out and counted.
        y: the other values, in the same order.
        weights: weight of each item, not negative; equal weights if None.
        clusters: one name per item; whole clusters are drawn.
        confidence: of the interval.
        resamples: number of resamples.
        seed: of the resamples.

    Raises:
        DatasetError: unequal lengths, NaN or infinite values, negative weights.
        ConfigError: `confidence` is not between 0 and 1, or `resamples` is less than 1.

    >>> pearson([1, 2, 3, 4], [2, 4, 6, 9], resamples=100).value
    0.9943767126843688
    """
    pairs = _pairs(x, y, weights, clusters)
    bootstrap = Bootstrap(confidence, resamples, seed)
    return pairs.correlation(lambda w: _moments(pairs.x, pairs.y, w), bootstrap)


def spearman(
    x: Column,
    y: Column,
    *,
    weights: Column | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Coefficient:
    """Return Spearman's rank correlation; equal values share their middle rank.

    With `weights`, the rank of a value is the weight below it and half the weight at it, and the
    correlation of these ranks is weighted too: an item of weight 2 counts as two equal items.
    Arguments and errors are those of `pearson`.

    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 10], resamples=100).value, 6)
    0.8
    """
    pairs = _pairs(x, y, weights, clusters)
    bootstrap = Bootstrap(confidence, resamples, seed)
    return pairs.correlation(weighted_spearman(pairs.x, pairs.y), bootstrap)


def weighted_spearman(x: Floats, y: Floats) -> Callable[[Floats], Floats]:
    """Return the function from item weights, shape (rows, n), to Spearman's correlations.

    >>> weighted_spearman(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))(np.ones((1, 3)))
    array([0.5])
    """
    first, second = MiddleRanks(x), MiddleRanks(y)
    return lambda w: _moments(first.of(w), second.of(w), w)


def kendall(
    x: Column,
    y: Column,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Coefficient:
    """Return Kendall's tau-b, from scipy. Arguments and errors are those of `pearson`.

    Raises:
        MissingDependency: scipy is not installed (the extra `stats`).
    """
    try:
        from scipy.stats import kendalltau
    except ModuleNotFoundError as error:
        raise MissingDependency("Kendall's tau", "scipy", "stats") from error
    pairs = _pairs(x, y, None, clusters)

    def tau(w: Floats) -> float:
        drawn = np.repeat(np.arange(len(w)), w.astype(np.int64))
        first, second = pairs.x[drawn], pairs.y[drawn]
        if np.ptp(first) == 0 or np.ptp(second) == 0:
            return float("nan")
        return float(kendalltau(first, second).statistic)

    bootstrap = Bootstrap(confidence, resamples, seed)
    return pairs.correlation(lambda rows: np.array([tau(w) for w in rows]), bootstrap)


def _pairs(
    x: Column, y: Column, weights: Column | None, clusters: Sequence[Hashable] | None
) -> _Pairs:
    given: Column = np.ones(len(x)) if weights is None else weights
    if not len(x) == len(y) == len(given):
        raise DatasetError(
            f"a correlation needs columns of equal length: found {len(x)}, {len(y)} and "
            f"{len(given)} weights"
        )
    columns = [present(column, name) for column, name in ((x, "x"), (y, "y"), (given, "weights"))]
    both = np.logical_and.reduce([held for _, held in columns])
    heavy, weighted = columns[2]
    if (heavy < 0).any():
        raise DatasetError(f"weight {heavy.min()} is negative; a weight is 0 or more")
    both[weighted] &= heavy > 0
    first, second, third = (numbers[both[held]] for numbers, held in columns)
    names = present_clusters(clusters, both)
    members = cluster_numbers(range(len(first)) if names is None else names)
    return _Pairs(first, second, third, members, int((~both).sum()))


def _moments(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the weighted Pearson correlation of each row of weights; NaN if undefined.

    `x` and `y` have shape (n,) or that of `weights`, (rows, n).
    """
    total = weights.sum(axis=1, keepdims=True)
    dx = x - (weights * x).sum(axis=1, keepdims=True) / total
    dy = y - (weights * y).sum(axis=1, keepdims=True) / total
    spread_x, spread_y = (weights * dx**2).sum(axis=1), (weights * dy**2).sum(axis=1)
    defined = (spread_x > _least(x, total[:, 0])) & (spread_y > _least(y, total[:, 0]))
    product = np.where(defined, np.sqrt(spread_x) * np.sqrt(spread_y), 1.0)
    found = (weights * dx * dy).sum(axis=1) / product
    return np.where(defined, np.clip(found, -1.0, 1.0), np.nan)


def _least(values: Floats, total: Floats) -> Floats:
    """Return the spread of a column of equal values that rounding alone can cause."""
    return np.asarray(1e-28 * np.abs(values).max() ** 2 * total)
