"""Distances of two distributions, such as those of the words of two data sets.

Both sides have counts of shape (groups, categories). A group is a conversation or several: whole
groups are drawn, or dealt to the sides. Random samples of one distribution differ too, and the more
categories there are, the more they do. So a distance has its bias removed by the bootstrap, and
is compared with the distance by chance: that of the groups dealt out at random.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.resampling import Bootstrap

_FEW: Final = 5
"""Number of groups below which they do not show how far others may be."""
Measure: TypeAlias = Callable[[Floats, Floats], Floats]
"""Two arrays of shape (rows, categories), each row a distribution -> a distance per row."""


@dataclass(frozen=True, slots=True)
class Distance:
    """The distance of two distributions: 0 if they are equal."""

    value: float
    """Less the bias that samples of this size have; at least 0."""
    interval: tuple[float, float] | None
    """Pivotal bootstrap interval over groups; None with fewer than five groups on a side."""
    observed: float
    """The distance of the samples as they are."""
    chance: float | None
    """The observed distance that groups dealt out at random exceed with probability 5 %."""
    p: float | None
    """Probability of the observed distance, or a larger one, for groups dealt out at random."""
    n: tuple[int, int]
    """Counted items of each side."""


def jensen_shannon(p: Floats, q: Floats) -> Floats:
    """Return the Jensen-Shannon divergence of each row in bits: from 0 to 1.

    Lin, "Divergence measures based on the Shannon entropy", IEEE Trans. Information Theory 37
    (1991).

    >>> jensen_shannon(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[0.5, 0.5], [0.0, 1.0]]))
    array([0., 1.])
    """
    found: Floats = _entropy((p + q) / 2) - (_entropy(p) + _entropy(q)) / 2
    return np.maximum(np.round(found, 12), 0.0)


def _entropy(rows: Floats) -> Floats:
    found: Floats = -(rows * np.log2(np.where(rows > 0, rows, 1.0))).sum(axis=-1)
    return found


def earth_mover(p: Floats, q: Floats) -> Floats:
    """Return the earth mover's distance of each row, for categories 1 apart: 0, 1, 2, ...

    It is the area between the two cumulative distributions.

    >>> earth_mover(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.5, 0.5]]))
    array([1.5])
    """
    found: Floats = np.abs(np.cumsum(p - q, axis=-1)).sum(axis=-1)
    return np.round(found, 12)


def kolmogorov_smirnov(p: Floats, q: Floats) -> Floats:
    """Return the largest distance of the two cumulative distributions of each row.

    >>> kolmogorov_smirnov(np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 0.5, 0.5]]))
    array([1.])
    """
    found: Floats = np.abs(np.cumsum(p - q, axis=-1)).max(axis=-1)
    return np.round(found, 12)


def distance(
    measure: Measure, a: Floats, b: Floats, *, resamples: int = 1000, seed: int = 0
) -> Distance | None:
    """Return the distance of the summed counts; None if a side has no counts.

    Args:
        measure: `jensen_shannon`, `earth_mover` or `kolmogorov_smirnov`.
        a: counts of the first side, shape (groups, categories).
        b: counts of the second side, with the same categories.
        resamples: number of resamples for the interval, and of random deals for `chance`.
        seed: seed of both.

    >>> counts = np.array([[3.0, 1.0], [2.0, 2.0], [1.0, 3.0], [0.0, 4.0], [4.0, 0.0]])
    >>> same = distance(jensen_shannon, counts, counts)
    >>> same.value, same.interval, same.p
    (0.0, (0.0, 0.0), 1.0)
    """
    a, b = (side[side.sum(axis=1) > 0].astype(np.float64) for side in (a, b))
    if not len(a) or not len(b):
        return None
    n = int(a.sum()), int(b.sum())
    observed = float(measure(*(_shares(side.sum(axis=0)[None]) for side in (a, b)))[0])
    if min(len(a), len(b)) < _FEW:
        return Distance(observed, None, observed, None, None, n)
    drawn = _drawn(measure, a, b, resamples, seed)
    low, middle, high = (
        max(0.0, 2 * observed - float(end))
        for end in (np.quantile(drawn, 0.975), drawn.mean(), np.quantile(drawn, 0.025))
    )
    dealt = _dealt(measure, a, b, resamples, seed)
    return Distance(
        value=middle,
        interval=(low, high),
        observed=observed,
        chance=float(np.quantile(dealt, 0.95)),
        p=float((1 + (dealt >= observed).sum()) / (1 + resamples)),
        n=n,
    )


def _shares(counts: Floats) -> Floats:
    found: Floats = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1e-300)
    return found


def _drawn(measure: Measure, a: Floats, b: Floats, resamples: int, seed: int) -> Floats:
    """Return the distances of resampled groups of both sides."""
    # The same width for both sides, so that their chunks are equal too.
    width = max(len(a), len(b), a.shape[1])
    first = Bootstrap(resamples=resamples, seed=seed).counts(len(a), width)
    second = Bootstrap(resamples=resamples, seed=seed + 1).counts(len(b), width)
    found = [measure(_shares(x @ a), _shares(y @ b)) for x, y in zip(first, second, strict=True)]
    return np.concatenate(found)


def _dealt(measure: Measure, a: Floats, b: Floats, resamples: int, seed: int) -> Floats:
    """Return the distances of all groups dealt out at random, as many to each side as it has."""
    pooled, generator = np.concatenate((a, b)), np.random.default_rng(seed)
    total, found = pooled.sum(axis=0), list[Floats]()
    for start in range(0, resamples, 100):
        size = min(100, resamples - start)
        order = generator.random((size, len(pooled))).argsort(axis=1)
        first = (order < len(a)).astype(np.float64) @ pooled
        found.append(measure(_shares(first), _shares(total - first)))
    return np.concatenate(found)
