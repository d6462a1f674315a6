"""Two systems on the same queries: is the difference real, how large, and what could be seen."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ragstone.core import limits
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.permutation import McNemar, mcnemar, sign_flip_p
from ragstone.statistics.summary import (
    check_confidence,
    cluster_sums,
    held_clusters,
    mean_interval,
    present,
)

Correction: TypeAlias = Literal["holm", "benjamini-hochberg", "none"]
Values: TypeAlias = Sequence[float] | NDArray[np.number]

POWER: Final = 0.8
"""The chance of finding a difference that sample sizes are planned for."""
_NORMAL: Final = NormalDist()


@dataclass(frozen=True, slots=True)
class Difference:
    """What the pairs say about the second system's mean minus the first's."""

    n: int
    """Pairs."""
    clusters: int
    """Groups of pairs that were drawn, or changed sign, together."""
    difference: float
    """Mean of the second less mean of the first; for 0/1 labels the risk difference."""
    interval: tuple[float, float] | None
    """BCa bootstrap over clusters; None with fewer than two."""
    p: float
    """Two-sided, by permutation: the signs of whole clusters."""
    wins: int
    losses: int
    ties: int
    cohens_d: float | None
    """Mean difference over the standard deviation of the differences; None where that is 0."""
    cliffs_delta: float
    """P(a value of the second exceeds one of the first) less P(it falls below), pairs ignored."""
    standard_error: float | None
    """Of the difference, over clusters; None with fewer than two."""
    mcnemar: McNemar | None
    """Where all values are 0 or 1."""


def paired_difference(
    a: Values,
    b: Values,
    *,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Difference:
    """Return mean(b) - mean(a) over pairs, with interval, test and effect sizes.

    Args:
        a: the first system's values, one per query.
        b: the second's, of the same queries in the same order.
        clusters: one name per pair: conversation, source document.
        confidence: of the interval.

    Raises:
        DatasetError: no pairs, unequal lengths, NaN or an infinite value.
        ConfigError: `confidence` is not between 0 and 1.

    >>> found = paired_difference([0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 0])
    >>> found.difference, found.p, found.wins, found.ties
    (0.5, 0.25, 3, 3)
    """
    check_confidence(confidence)
    first, second = _pairs(a, b)
    gaps = second - first
    names = held_clusters(clusters, np.ones(len(gaps), dtype=np.bool_))
    sums, sizes = cluster_sums(gaps, names)
    binary = bool(np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all())
    return Difference(
        n=len(gaps),
        clusters=len(sums),
        difference=math.fsum(gaps) / len(gaps),
        interval=mean_interval(gaps, names, confidence),
        p=sign_flip_p(sums),
        wins=int((gaps > 0).sum()),
        losses=int((gaps < 0).sum()),
        ties=int((gaps == 0).sum()),
        cohens_d=cohens_d(gaps),
        cliffs_delta=cliffs_delta(first, second),
        standard_error=standard_error(sums, sizes),
        mcnemar=mcnemar(first, second) if binary else None,
    )


def _pairs(a: Values, b: Values) -> tuple[Floats, Floats]:
    if len(a) != len(b) or not len(a):
        raise DatasetError(
            f"a paired comparison needs equally many values, at least one: found {len(a)} and "
            f"{len(b)}; keep the queries that both systems have, in one order"
        )
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return present(first, "first values")[0], present(second, "second values")[0]


def cohens_d(differences: Floats) -> float | None:
    """Return the mean over the standard deviation of paired differences (Cohen 1988, d_z).

    0 where all differences are 0, None where they are equal otherwise or there is one alone.
    """
    if not differences.any():
        return 0.0
    spread = float(differences.std(ddof=1)) if np.ptp(differences) > 0 else 0.0
    return float(differences.mean()) / spread if spread > 0 else None


def cliffs_delta(a: Floats, b: Floats) -> float:
    """Return P(b > a) - P(b < a) over all pairs of one value of each (Cliff 1993).

    >>> cliffs_delta(np.array([0.0, 1.0]), np.array([1.0, 2.0]))
    0.75
    """
    ordered = np.sort(a)
    above = np.searchsorted(ordered, b, side="left").sum()
    below = (len(a) - np.searchsorted(ordered, b, side="right")).sum()
    return float(above - below) / (len(a) * len(b))


def standard_error(sums: Floats, sizes: Floats) -> float | None:
    """Return the standard error of `sums.sum() / sizes.sum()` over clusters, by linearisation."""
    if len(sums) < 2:  # noqa: PLR2004 - one cluster shows no spread
        return None
    total = float(sizes.sum())
    residuals = sums - sums.sum() / total * sizes
    return math.sqrt(len(sums) / (len(sums) - 1) * float((residuals**2).sum())) / total


def minimum_detectable(error: float, *, alpha: float = 0.05, power: float = POWER) -> float:
    """Return the difference that a two-sided test at `alpha` finds with probability `power`.

    `error` is the standard error of the difference: (z(1 - alpha/2) + z(power)) times it.

    >>> round(minimum_detectable(0.01), 4)
    0.028
    """
    if not (0 < alpha < 1 and 0 < power < 1):
        raise ConfigError(f"alpha {alpha} and power {power} must both lie between 0 and 1")
    return error * (_NORMAL.inv_cdf(1 - alpha / 2) + _NORMAL.inv_cdf(power))


def more_queries(
    n: int, difference: float, error: float, *, alpha: float = 0.05, power: float = POWER
) -> int | None:
    """Return how many queries beyond n it takes to find a true difference of this size.

    The standard error falls with the square root of the queries; None where it would take more
    than a billion: a difference of 0, or of rounding.

    >>> more_queries(100, 0.02, 0.01)
    97
    """
    wanted = minimum_detectable(error, alpha=alpha, power=power)
    if wanted > abs(difference) * math.sqrt(limits.MAX_PLANNED_QUERIES / n):
        return None
    ratio = wanted / abs(difference) if difference else 0.0
    return max(0, math.ceil(n * ratio**2) - n) if difference else None


def adjust(p_values: Sequence[float], correction: Correction = "holm") -> list[float]:
    """Return p values corrected for being many, in the order given.

    `holm` (1979) bounds the chance of any false finding, `benjamini-hochberg` (1995) the expected
    share of false ones among the findings.

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
        raise DatasetError(f"p values lie between 0 and 1, found {list(p_values)}")
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
    # Rounding in p * m / m must not carry a value below p.
    adjusted[order] = np.clip(ordered, p[order], 1.0)
    return adjusted.tolist()
