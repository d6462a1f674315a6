"""Systems over several data sets: mean ranks, Friedman's test and critical differences.

Demsar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7 (2006): the systems
are ranked on each data set. The F statistic of Iman and Davenport tests whether the mean ranks
differ at all. Two systems differ by Nemenyi's test if their mean ranks differ by at least the
critical difference.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import NormalDist
from typing import Final

import numpy as np

from ragstone.errors import DatasetError
from ragstone.statistics.proportions import beta_below
from ragstone.statistics.ranks import Place, places
from ragstone.types import one_line

_LEVEL: Final = 0.05
"""Level of both tests."""
FEW_BLOCKS: Final = 6
"""Number of data sets below which the tests can hardly show anything."""


@dataclass(frozen=True, slots=True)
class MeanRanks:
    """Mean ranks of systems over data sets, and the results of their tests."""

    systems: tuple[str, ...]
    """Best mean rank first."""
    mean_ranks: Mapping[str, float]
    blocks: int
    """Number of data sets."""
    statistic: float | None
    """Iman and Davenport's F, corrected for ties; None if all data sets have one order."""
    p: float
    critical_difference: float
    """Difference of two mean ranks that Nemenyi's test shows at level 0.05."""
    places: Mapping[str, Place]

    __repr__ = one_line


def mean_ranks(
    values: Mapping[str, Sequence[float]], *, lower_is_better: bool = False
) -> MeanRanks:
    """Return the mean ranks of systems; equal values share their middle rank.

    No two systems differ unless the F test shows that any do.

    Args:
        values: system -> its mean on each data set, in one order of the data sets.
        lower_is_better: whether the least value has rank 1.

    Raises:
        DatasetError: fewer than two systems or data sets, or systems of unequal lengths.

    >>> found = mean_ranks({"a": [0.9, 0.8, 0.7], "b": [0.5, 0.6, 0.6]})
    >>> found.mean_ranks, round(found.critical_difference, 3)
    ({'a': 1.0, 'b': 2.0}, 1.132)
    """
    sizes = {len(held) for held in values.values()}
    if len(values) < 2 or len(sizes) != 1 or min(sizes) < 2:  # noqa: PLR2004 - a rank needs two
        raise DatasetError(
            f"mean ranks need two systems or more on the same two data sets or more: found "
            f"{len(values)} systems with {sorted(sizes)} data sets"
        )
    table = np.array(list(values.values()), dtype=np.float64).T
    table = table if lower_is_better else -table
    # The middle rank: the number of smaller values, and half of the number of other equal ones.
    smaller = (table[:, None, :] < table[:, :, None]).sum(axis=2)
    equal = (table[:, None, :] == table[:, :, None]).sum(axis=2)
    ranks = 1 + smaller + (equal - 1) / 2
    n, k = ranks.shape
    means = dict(zip(values, ranks.mean(axis=0).tolist(), strict=True))
    statistic, p = _f_test(ranks)
    critical = studentized_range_quantile(1 - _LEVEL, k) / math.sqrt(2)
    critical *= math.sqrt(k * (k + 1) / (6 * n))
    ordered = tuple(sorted(means, key=means.__getitem__))
    pairs = combinations(ordered, 2) if p < _LEVEL else ()
    better = [(a, b) for a, b in pairs if means[b] - means[a] >= critical]
    return MeanRanks(ordered, means, n, statistic, p, critical, places(ordered, better))


def _f_test(ranks: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float | None, float]:
    """Return the F statistic and its p, by the exact sums of squares of the ranks."""
    n, k = ranks.shape
    between = n * float(((ranks.mean(axis=0) - (k + 1) / 2) ** 2).sum())
    rest = float(((ranks - (k + 1) / 2) ** 2).sum()) - between
    if between <= 0:
        return 0.0, 1.0
    free, others = k - 1, (k - 1) * (n - 1)
    if rest <= 1e-12:  # noqa: PLR2004 - rounding: all data sets have the same order
        _, ties = np.unique(ranks[0], return_counts=True)
        orders = math.factorial(k) // math.prod(map(math.factorial, ties.tolist()))
        return None, float(orders) ** (1 - n)
    statistic = between / free / (rest / others)
    return statistic, beta_below(others / (others + free * statistic), others / 2, free / 2)


def studentized_range_quantile(level: float, k: int) -> float:
    """Return the quantile of the range of k independent standard normal values.

    >>> round(studentized_range_quantile(0.95, 2) / 2**0.5, 3)
    1.96
    """
    normal = NormalDist()
    places = np.linspace(-8.0, 8.0, 4001)
    density = np.array([normal.pdf(x) for x in places])
    below = np.array([normal.cdf(x) for x in places])

    def probability(width: float) -> float:
        lower = np.interp(places - width, places, below, left=0.0)
        values = k * density * (below - lower) ** (k - 1)
        steps = [(first + second) / 2 for first, second in pairwise(values.tolist())]
        return math.fsum(steps) * float(places[1] - places[0])

    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if probability(middle) < level else (low, middle)
    return (low + high) / 2
