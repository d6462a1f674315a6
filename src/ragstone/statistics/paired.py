"""Two systems on the same queries: their difference, its tests, effect sizes and sample sizes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import compress
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.core import limits
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.difference_intervals import cluster_test, label_test
from ragstone.statistics.permutation import McNemar, mcnemar
from ragstone.statistics.summary import (
    UNIT,
    Summary,
    check_confidence,
    cluster_sums,
    present,
    present_clusters,
    range_of,
    standard_error,
)

Correction: TypeAlias = Literal["holm", "benjamini-hochberg", "none"]
Values: TypeAlias = Sequence[float] | NDArray[np.number]

POWER: Final = 0.8
"""Probability of finding a difference, for which sample sizes are planned."""
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Difference:
    """The second system's mean minus the first's, with interval, test and effect sizes."""

    n: int
    """Pairs."""
    clusters: int
    """Groups of pairs that were drawn, or changed sign, together."""
    difference: float
    """For 0/1 labels this is the risk difference."""
    interval: tuple[float, float] | None
    """The differences that the test does not reject: it excludes 0 exactly if p is below
    1 - confidence. None with a single cluster, and, for values without a range, with fewer than
    six clusters or with equal differences."""
    p: float
    """Two-sided: the score test for 0/1 values without clusters, else the permutation of the signs
    of clusters (`ragstone.statistics.difference_intervals`)."""
    wins: int
    losses: int
    ties: int
    cohens_d: float | None
    cliffs_delta: float
    standard_error: float | None
    """The standard error of the difference, over clusters; None with fewer than two clusters."""
    mcnemar: McNemar | None
    """None if a value is neither 0 nor 1."""


def paired_difference(
    a: Values,
    b: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float | None = 0.95,
    bounds: tuple[float, float] | None = UNIT,
) -> Difference:
    """Return mean(b) - mean(a) over pairs, with interval, test and effect sizes.

    Args:
        a: the first system's values, one per query.
        b: the second's, of the same queries in the same order.
        clusters: one name per pair: conversation, source document.
        confidence: of the interval; None for no interval, which is several times faster.
        bounds: range of a value; None if there is none. A range that a value exceeds is ignored.

    Raises:
        DatasetError: no pairs, unequal lengths, NaN or an infinite value.
        ConfigError: `confidence` is not between 0 and 1.

    >>> found = paired_difference([0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 0])
    >>> found.difference, round(found.p, 4), found.wins, found.ties
    (0.5, 0.0833, 3, 3)
    """
    if confidence is not None:
        check_confidence(confidence)
    first, second = _pairs(a, b)
    gaps = second - first
    names = present_clusters(clusters, np.ones(len(gaps), dtype=np.bool_))
    sums, sizes = cluster_sums(gaps, names)
    both = np.concatenate((first, second))
    binary = bool(((both == 0) | (both == 1)).all())
    wins, losses = int((gaps > 0).sum()), int((gaps < 0).sum())
    p, interval = 1.0, None
    if len(sums) > 1 and binary and len(sums) == len(gaps):
        p, interval = label_test(wins, losses, len(gaps), confidence)
    elif len(sums) > 1:
        held = range_of(both, bounds)
        span = held[1] - held[0] if held else None
        p, interval = cluster_test(sums, sizes, confidence, span)
    return Difference(
        n=len(gaps),
        clusters=len(sums),
        difference=math.fsum(gaps) / len(gaps),
        interval=interval,
        p=p,
        wins=wins,
        losses=losses,
        ties=int((gaps == 0).sum()),
        cohens_d=cohens_d(gaps),
        cliffs_delta=cliffs_delta(first, second),
        standard_error=standard_error(sums, sizes),
        mcnemar=mcnemar(first, second) if binary else None,
    )


def paired_summary(
    a: Sequence[float | None],
    b: Sequence[float | None],
    *,
    clusters: Sequence[Hashable] | None = None,
    bounds: tuple[float, float] | None = UNIT,
) -> Summary:
    """Return the summary of `paired_difference`; a pair with None counts as failed.

    >>> paired_summary([0.0, 1.0, None], [1.0, 1.0, 1.0]).mean
    0.5
    """
    held = [x is not None and y is not None for x, y in zip(a, b, strict=True)]
    if not any(held):
        return Summary(None, 0, len(held))
    names = None if clusters is None else list(compress(clusters, held))
    first, second = (np.array(list(compress(side, held)), dtype=float) for side in (a, b))
    found = paired_difference(first, second, clusters=names, bounds=bounds)
    return Summary(found.difference, found.n, len(held) - found.n, interval=found.interval)


def _pairs(a: Values, b: Values) -> tuple[Floats, Floats]:
    if len(a) != len(b) or not len(a):
        raise DatasetError(
            f"a paired comparison needs equally many values, at least one: found {len(a)} and "
            f"{len(b)}; give values of the same queries in the same order"
        )
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return present(first, "first values")[0], present(second, "second values")[0]


def cohens_d(differences: Floats) -> float | None:
    """Return the mean over the standard deviation of paired differences (Cohen 1988, d_z).

    0 if all differences are 0; None if they are equal otherwise, or for a single difference.
    """
    if not differences.any():
        return 0.0
    spread = float(differences.std(ddof=1)) if np.ptp(differences) > 0 else 0.0
    return float(differences.mean()) / spread if spread > 0 else None


def cliffs_delta(a: Floats, b: Floats) -> float:
    """Return P(b > a) - P(b < a) over all pairs of a value of `a` and one of `b` (Cliff 1993).

    >>> cliffs_delta(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    0.75
    """
    ordered = np.sort(a)
    above = np.searchsorted(ordered, b, side="left").sum()
    below = (len(a) - np.searchsorted(ordered, b, side="right")).sum()
    return float(above - below) / (len(a) * len(b))


def minimum_detectable(error: float, *, alpha: float = 0.05) -> float:
    """Return the difference that a two-sided test at `alpha` finds with probability `POWER`.

    This is (z(1 - alpha/2) + z(POWER)) times `error`, the standard error of the difference.

    >>> round(minimum_detectable(0.01), 4)
    0.028
    """
    if not 0 < alpha < 1:
        raise ConfigError(f"alpha {alpha} is not between 0 and 1; usual is 0.05")
    return error * (_NORMAL.inv_cdf(1 - alpha / 2) + _NORMAL.inv_cdf(POWER))


def more_queries(n: int, difference: float, error: float, *, alpha: float = 0.05) -> int | None:
    """Return the number of queries beyond n that are needed to find a true difference of this size.

    The standard error falls with the square root of n. None if more than a billion queries would
    be needed: for a difference of 0, or of rounding.

    >>> more_queries(100, 0.02, 0.01)
    97
    """
    detectable = minimum_detectable(error, alpha=alpha)
    if not difference or detectable > abs(difference) * math.sqrt(limits.MAX_PLANNED_QUERIES / n):
        return None
    return max(0, math.ceil(n * (detectable / abs(difference)) ** 2) - n)


def adjust(p_values: Sequence[float], correction: Correction = "holm") -> list[float]:
    """Return p values with a multiple-testing correction, in the order given.

    `holm` (1979) bounds the probability of any false finding, `benjamini-hochberg` (1995) the
    expected share of false findings.

    Raises:
        ConfigError: an unknown correction.
        DatasetError: a p outside 0 to 1.

    >>> adjust([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    >>> adjust([0.01, 0.04, 0.03], "benjamini-hochberg")
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not ((p >= 0) & (p <= 1)).all():
        raise DatasetError(f"p values must be between 0 and 1, found {list(p_values)}")
    order, count = np.argsort(p, kind="stable"), len(p)
    if correction == "holm":
        ordered = np.maximum.accumulate(p[order] * np.arange(count, 0, -1))
    elif correction == "benjamini-hochberg":
        scaled = p[order] * count / np.arange(1, count + 1)
        ordered = np.minimum.accumulate(scaled[::-1])[::-1]
    elif correction == "none":
        ordered = p[order]
    else:
        raise ConfigError(
            f"unknown correction {correction!r}; allowed: holm, benjamini-hochberg, none"
        )
    adjusted = np.empty(count)
    # Rounding of p * m / m must not make a value less than p.
    adjusted[order] = np.clip(ordered, p[order], 1.0)
    return adjusted.tolist()
