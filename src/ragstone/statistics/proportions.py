"""Intervals of shares: Agresti-Coull and Clopper-Pearson; and Student's t without scipy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final

from ragstone.errors import DatasetError

_NORMAL: Final = NormalDist()
_EXACT_BELOW: Final = 13
"""Number of items below which the interval is Clopper-Pearson's: there, the coverage of
Agresti-Coull's falls below 93 % at some shares."""
_TERMS: Final = 10_000
_BISECTIONS: Final = 60
_T_BOUND: Final = 1000.0
_PRECISION: Final = 1e-14


@dataclass(frozen=True, slots=True)
class Proportion:
    """A share of some items."""

    value: float | None
    """None if n is 0."""
    count: int
    n: int
    interval: tuple[float, float] | None


def proportion(count: int, n: int, *, confidence: float = 0.95, exact: bool = False) -> Proportion:
    """Return count / n with the interval of `share_interval`.

    >>> found = proportion(9, 10)
    >>> found.value, [round(bound, 3) for bound in found.interval]
    (0.9, [0.555, 0.997])
    """
    if not 0 <= count <= n:
        raise DatasetError(f"{count} of {n} is not a share; the count must be between 0 and n")
    if n == 0:
        return Proportion(None, 0, 0, None)
    return Proportion(count / n, count, n, share_interval(count, n, confidence, exact=exact))


def share_interval(
    count: float, n: float, confidence: float = 0.95, *, exact: bool = False
) -> tuple[float, float]:
    """Return the interval of the share `count` / `n`; its width is never 0.

    `count` and `n` need not be whole: `n` may be an effective number of items. The interval is
    Clopper and Pearson's (Biometrika 26, 1934) if `exact` or if n is below 13, else Agresti and
    Coull's (American Statistician 52, 1998).

    >>> [round(bound, 3) for bound in share_interval(0, 13)]
    [0.0, 0.266]
    """
    if exact or n < _EXACT_BELOW:
        return _clopper_pearson(count, n, (1 - confidence) / 2)
    return agresti_coull(count, n, confidence)


def agresti_coull(count: float, n: float, confidence: float) -> tuple[float, float]:
    """Return Agresti and Coull's interval, which adds z squared items, half of them right."""
    z = _NORMAL.inv_cdf((1 + confidence) / 2)
    more = n + z * z
    middle = (count + z * z / 2) / more
    half = z * math.sqrt(middle * (1 - middle) / more)
    return max(0.0, middle - half), min(1.0, middle + half)


def _clopper_pearson(count: float, n: float, tail: float) -> tuple[float, float]:
    """Return the shares at which the observed count is in the upper or lower `tail`."""
    low = 0.0 if count <= 0 else _beta_quantile(tail, count, n - count + 1)
    high = 1.0 if count >= n else _beta_quantile(1 - tail, count + 1, n - count)
    return low, high


@lru_cache(maxsize=4096)
def _beta_quantile(level: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if beta_below(middle, a, b) < level else (low, middle)
    return (low + high) / 2


def beta_below(x: float, a: float, b: float) -> float:
    """Return the regularised incomplete beta function, by its continued fraction (DLMF 8.17.22)."""
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_below(1 - x, b, a)
    if x <= 0:
        return 0.0
    ways = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    front = math.exp(ways + a * math.log(x) + b * math.log1p(-x)) / a
    top, bottom = 1.0, 1 / (1 - (a + b) * x / (a + 1))
    value = bottom
    for term in range(2, _TERMS):
        m = term // 2
        if term % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        # Lentz's method: the fraction is the product of the ratios of its approximants.
        top, bottom = 1 + part / top, 1 / (1 + part * bottom)
        value *= top * bottom
        if abs(top * bottom - 1) < _PRECISION:
            break
    return front * value


def t_quantile(level: float, freedom: float) -> float:
    """Return the quantile of Student's t by an expansion of the normal quantile in 1 / freedom.

    Abramowitz and Stegun 26.7.5; accurate to 1 % at level 0.975 from 5 degrees of freedom on. For
    other levels, use `t_exact`.

    >>> round(t_quantile(0.975, 10), 3), round(t_quantile(0.975, 1e9), 3)
    (2.228, 1.96)
    """
    z = _NORMAL.inv_cdf(level)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return math.fsum(term / freedom**power for power, term in enumerate(terms))


@lru_cache(maxsize=4096)
def t_exact(confidence: float, freedom: int) -> float:
    """Return Student's t whose two-sided p is 1 - confidence.

    >>> round(t_exact(0.95, 9), 4)
    2.2622
    """
    low, high = 0.0, _T_BOUND
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (low, middle) if t_p(middle, freedom) < 1 - confidence else (middle, high)
    return high


def t_p(t: float, freedom: int) -> float:
    """Return the two-sided p of Student's t.

    >>> round(t_p(2.2622, 9), 4)
    0.05
    """
    return beta_below(freedom / (freedom + t * t), freedom / 2, 0.5) if t else 1.0
