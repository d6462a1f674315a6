"""Percentile intervals of bootstrap resamples, for correlations, kappas, AUC and ranks.

Items are drawn by cluster. A resample is a row of counts, one per cluster: one matrix product
computes the sums, or the item weights, of many resamples at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.summary import Numbers, check_confidence

_DISTINCT: Final = 4
"""Mean repetitions of a row from which on rows are drawn by frequency: fewer numbers to draw."""
_UNDEFINED: Final = 0.05
"""Maximum share of resamples without a value."""


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement (1 is perfect, 0 is chance) or correlation (-1 to 1)."""

    value: float | None
    """None if undefined: too few items, or all values equal."""
    n: int
    """Items in the coefficient."""
    left_out: int
    """Items with too few values, or of weight 0."""
    interval: tuple[float, float] | None
    """None if the value is, for too few clusters, or if too many resamples are undefined."""


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """Confidence, number and seed of resamples; the same seed gives the same resamples.

    Raises:
        ConfigError: `confidence` is not between 0 and 1, or `resamples` is less than 1.
    """

    confidence: float = 0.95
    resamples: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        check_confidence(self.confidence)
        if self.resamples < 1:
            raise ConfigError(
                f"resamples {self.resamples} is less than 1; 2,000 to 10,000 are usual"
            )

    def sums(self, parts: Floats) -> Floats:
        """Return the column sums of every resample of the rows of `parts`.

        `parts` has shape (clusters, sums), the result (resamples, sums).
        """
        rows, frequencies = _distinct_rows(parts)
        if len(rows) * _DISTINCT > len(parts):
            return np.concatenate([counts @ parts for counts in self.counts(len(parts))])
        generator, n = np.random.default_rng(self.seed), len(parts)
        drawn = (
            generator.multinomial(n, frequencies / n, size) for size in self._chunks(len(rows))
        )
        return np.concatenate([counts @ rows for counts in drawn])

    def counts(self, n: int, width: int = 0) -> Iterator[Numbers]:
        """Yield, in chunks of shape (resamples, n), how often each of n clusters was drawn.

        `width` is the number of cells that the caller makes of a row, if more than n.
        """
        generator = np.random.default_rng(self.seed)
        for size in self._chunks(max(n, width)):
            drawn = generator.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
            yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)

    def _chunks(self, width: int) -> Iterator[int]:
        most = max(1, limits.RESAMPLED_COUNTS // width)
        for start in range(0, self.resamples, most):
            yield min(most, self.resamples - start)

    def interval(self, samples: Floats) -> tuple[float, float] | None:
        """Return the percentile interval of resampled values, shape (resamples,).

        Undefined values (NaN) are left out; None if more than 5 % are undefined.
        """
        defined = samples[np.isfinite(samples)]
        if len(defined) < (1 - _UNDEFINED) * len(samples):
            return None
        tail = (1 - self.confidence) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        return float(low), float(high)

    def interval_of(
        self, coefficient: Callable[[Floats], Floats], weights: Floats, members: Numbers
    ) -> tuple[float, float] | None:
        """Return the interval of a coefficient of item weights.

        `coefficient` maps weights of shape (rows, items) to one value per row; `members` is the
        number of each item's cluster.
        """
        drawn = self.counts(int(members.max()) + 1, width=len(weights))
        found = [coefficient(counts[:, members] * weights) for counts in drawn]
        return self.interval(np.concatenate(found))


class MiddleRanks:
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


def _distinct_rows(parts: Floats) -> tuple[Floats, Numbers]:
    """Return the distinct rows in order, and how often each occurs.

    `np.unique` with an axis gives the same, but lets no other thread run while it sorts.

    >>> _distinct_rows(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0]]))[1]
    array([1, 2])
    """
    ordered = parts[np.lexsort(parts.T[::-1])]
    is_new = np.ones(len(ordered), dtype=np.bool_)
    is_new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(is_new)
    return ordered[starts], np.diff(np.append(starts, len(ordered)))
