"""Bootstrap resamples of anything that is a function of sums over clusters.

A correlation, a kappa, a ranking of systems: each follows from a few sums. So a resample is a row
of counts, one per cluster, times the clusters' parts of those sums: one matrix product for all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.statistics.bootstrap import Floats

_DISTINCT: Final = 4
"""Rows repeated this often on average are drawn by their frequency: fewer numbers to draw."""
_UNDEFINED: Final = 0.05
"""Share of resamples without a value from which on there is no interval."""


def resampled_sums(parts: Floats, *, resamples: int, seed: int) -> Floats:
    """Return the column sums of `resamples` bootstrap resamples of the rows of `parts`.

    `parts` has shape (clusters, sums), the result (resamples, sums). The same seed gives the same
    resamples; one generator draws them all, so no two share a stream.

    Raises:
        ConfigError: `resamples` is less than 1.
    """
    if resamples < 1:
        raise ConfigError(f"resamples {resamples} is less than 1; usual is 10,000")
    rows, frequencies = np.unique(parts, axis=0, return_counts=True)
    if len(rows) * _DISTINCT <= len(parts):
        return np.concatenate(list(_by_frequency(rows, frequencies, resamples, seed)))
    return np.concatenate([c @ parts for c in resampled_counts(len(parts), resamples, seed)])


def _by_frequency(
    rows: Floats, frequencies: NDArray[np.int64], resamples: int, seed: int
) -> Iterator[Floats]:
    generator, n = np.random.default_rng(seed), int(frequencies.sum())
    for size in _chunks(resamples, len(rows)):
        yield generator.multinomial(n, frequencies / n, size=size) @ rows


def resampled_counts(
    n: int, resamples: int, seed: int, *, width: int = 0
) -> Iterator[NDArray[np.int64]]:
    """Yield, in chunks of shape (some resamples, n), how often each of n clusters was drawn.

    `width` is that of what the caller makes of a row, where it is more than n.
    """
    generator = np.random.default_rng(seed)
    for size in _chunks(resamples, max(n, width)):
        drawn = generator.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
        yield np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)


def _chunks(resamples: int, width: int) -> Iterator[int]:
    most = max(1, limits.RESAMPLED_COUNTS // width)
    for start in range(0, resamples, most):
        yield min(most, resamples - start)


def percentile_interval(samples: Floats, confidence: float) -> tuple[float, float] | None:
    """Return the percentile interval of resampled values, shape (resamples,).

    A resample in which the value is not defined (NaN: all labels equal, say) is left out; None
    where that happens to more than 5 % of them.
    """
    defined = samples[np.isfinite(samples)]
    if len(defined) < (1 - _UNDEFINED) * len(samples):
        return None
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return float(low), float(high)
