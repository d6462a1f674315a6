"""Does a metric go with what people say: Pearson, Spearman, Kendall, each with an interval.

Intervals are percentiles of the bootstrap over items or clusters, ranks taken anew in each
resample. A correlation with a column of equal values is not defined: None.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragstone.errors import ConfigError, DatasetError, MissingDependency
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import percentile_interval, resampled_counts
from ragstone.statistics.summary import check_confidence, held_clusters, present

Column = Sequence[float | None] | NDArray[np.number]
_FEW = 3
"""Pairs below which a correlation says nothing: two points always lie on a line."""


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation coefficient, from -1 to 1."""

    value: float | None
    """None with fewer than three pairs, or where one side has equal values only."""
    n: int
    """Pairs with both values."""
    left_out: int
    """Pairs that lack one, or that weigh nothing."""
    interval: tuple[float, float] | None
    """None with fewer than three items or clusters, or where too many resamples are constant."""


@dataclass(frozen=True, slots=True)
class _Pairs:
    x: Floats
    y: Floats
    weights: Floats
    clusters: list[Hashable] | None
    left_out: int


def pearson(
    x: Column,
    y: Column,
    *,
    weights: Column | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Correlation:
    """Return Pearson's correlation of two columns, weighted where `weights` are given.

    Args:
        x: one value per item; an item with None on either side is left out and counted.
        y: the other values, in the same order.
        weights: how much each item counts, not negative; all the same without it.
        clusters: one name per item; whole clusters are drawn.
        confidence: of the interval.
        resamples: of the bootstrap.
        seed: of the resamples.

    Raises:
        DatasetError: unequal lengths, NaN or infinite values, negative weights.
        ConfigError: `confidence` is not between 0 and 1.

    >>> pearson([1, 2, 3, 4], [2, 4, 6, 9], resamples=100).value
    0.9943767126843688
    """
    pairs = _pairs(x, y, weights, clusters)
    return _correlation(pairs, lambda w: _moments(pairs.x, pairs.y, w), confidence, resamples, seed)


def spearman(
    x: Column,
    y: Column,
    *,
    weights: Column | None = None,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Correlation:
    """Return Spearman's rank correlation; ties share their middle rank.

    With `weights`, the rank of a value is the weight below it and half the weight at it, and the
    correlation of these ranks is weighted too: an item of weight 2 counts as two equal items.
    Arguments and errors are those of `pearson`.

    >>> round(spearman([1, 2, 3, 4], [1, 3, 2, 10], resamples=100).value, 6)
    0.8
    """
    pairs = _pairs(x, y, weights, clusters)
    first, second = _Ranks(pairs.x), _Ranks(pairs.y)

    def coefficient(w: Floats) -> Floats:
        return _moments(first.of(w), second.of(w), w)

    return _correlation(pairs, coefficient, confidence, resamples, seed)


def kendall(
    x: Column,
    y: Column,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> Correlation:
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

    def coefficient(weights: Floats) -> Floats:
        return np.array([tau(w) for w in weights])

    return _correlation(pairs, coefficient, confidence, resamples, seed)


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
    heavy = columns[2][0]
    if (heavy < 0).any():
        raise DatasetError(f"weight {heavy.min()} is negative; a weight is 0 or more")
    both[columns[2][1]] &= heavy > 0
    first, second, third = (numbers[both[held]] for numbers, held in columns)
    names = held_clusters(clusters, both)
    left_out = int((~both).sum())
    return _Pairs(first, second, third, None if names is None else list(names), left_out)


def _correlation(
    pairs: _Pairs,
    coefficient: Callable[[Floats], Floats],
    confidence: float,
    resamples: int,
    seed: int,
) -> Correlation:
    """Return a coefficient of the pairs' weights, and of resampled weights, shape (some, n)."""
    check_confidence(confidence)
    if resamples < 1:
        raise ConfigError(f"resamples {resamples} is less than 1; usual is 2,000")
    n = len(pairs.x)
    value = float(coefficient(pairs.weights[None, :])[0]) if n >= _FEW else float("nan")
    if not np.isfinite(value):
        return Correlation(None, n, pairs.left_out, None)
    member = _members(pairs)
    interval = None
    if int(member.max()) + 1 >= _FEW:
        drawn = _resampled_weights(pairs.weights, member, resamples, seed)
        interval = percentile_interval(np.concatenate([coefficient(w) for w in drawn]), confidence)
    return Correlation(value, n, pairs.left_out, interval)


def _members(pairs: _Pairs) -> NDArray[np.int64]:
    """Return the number of each item's cluster."""
    if pairs.clusters is None:
        return np.arange(len(pairs.x))
    places: dict[Hashable, int] = {}
    return np.array([places.setdefault(name, len(places)) for name in pairs.clusters])


def _resampled_weights(
    weights: Floats, member: NDArray[np.int64], resamples: int, seed: int
) -> Iterator[Floats]:
    clusters = int(member.max()) + 1
    # A chunk holds about so many weights however few the clusters of the items are.
    for counts in resampled_counts(clusters, resamples, seed, width=len(weights)):
        yield counts[:, member] * weights


def _moments(x: Floats, y: Floats, weights: Floats) -> Floats:
    """Return the weighted Pearson correlation of each row of weights; NaN where not defined.

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
    """Return the spread that rounding alone gives a column of equal values."""
    return np.asarray(1e-28 * np.abs(values).max() ** 2 * total)


class _Ranks:
    """Middle ranks of a column under many rows of weights, sorted once."""

    def __init__(self, values: Floats) -> None:
        _, self._level = np.unique(values, return_inverse=True)
        self._order = np.argsort(self._level, kind="stable")
        self._starts = np.flatnonzero(np.diff(self._level[self._order], prepend=-1))

    def of(self, weights: Floats) -> Floats:
        """Return the weight below each value and half the weight at it, shape of `weights`."""
        at = np.add.reduceat(weights[:, self._order], self._starts, axis=1)
        middle: Floats = (np.cumsum(at, axis=1) - at / 2)[:, self._level]
        return middle
