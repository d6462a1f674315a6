"""Tests of a mean paired difference, each with the interval that it inverts.

The interval contains the differences that the test does not reject: it excludes 0 exactly if p is
below 1 - confidence. 0/1 values without clusters have the score test: McNemar's chi-squared without
a correction, and its inversion by Tango, Statistics in Medicine 17 (1998). Other values have the
test of `ragstone.statistics.permutation`: the signs of whole clusters are flipped. If fewer
clusters differ than any rejection needs (six at 95 %), the few differences do not show how far
others may be: the interval of values with a range then extends to Tango's of the summed wins and
losses.

After a shift by d, that test's one-sided p is the probability that the mean of a random subset of
the clusters is at most d (Hartigan, JASA 64, 1969): each cluster is in the subset with probability
1/2. An end of the interval is a quantile of these means. Up to 14 clusters all subsets are listed;
with more, the probability is computed by Fourier transform, or by Edgeworth's expansion if no
cluster has more than 3 % of the variance.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Final

import numpy as np

from ragstone.statistics.bootstrap import Floats, crossing
from ragstone.statistics.permutation import (
    ENUMERATED,
    SMALLEST_P,
    sign_flip_p,
    sign_sums_below,
)

Interval = tuple[float, float]

_NORMAL: Final = NormalDist()
_EVEN: Final = 0.03
"""Maximum share of the variance in one cluster for Edgeworth's expansion: p is within 1 %."""
_BISECTIONS: Final = 60
_TOLERANCE: Final = 1e-3
"""A tolerance in standard errors."""
_REACH: Final = 12.0
"""Standard errors from the mean within which an end is searched."""


def label_test(
    wins: float, losses: float, n: int, confidence: float | None
) -> tuple[float, Interval | None]:
    """Return p of the score test of n pairs of 0/1 values, and Tango's interval.

    Without a confidence there is no interval.

    >>> p, interval = label_test(9, 2, 40, 0.95)
    >>> round(p, 3), [round(bound, 3) for bound in interval or ()]
    (0.035, [0.014, 0.339])
    """
    mean = (wins - losses) / n

    def p_of(difference: float) -> float:
        return 2 * _NORMAL.cdf(-abs(_score(wins, losses, n, difference)))

    p = p_of(0.0)
    if confidence is None:
        return p, None
    alpha = 1 - confidence

    def end(limit: float) -> float:
        """Bisect between a difference that is not rejected and one that is."""
        inside = mean if p < alpha or mean * limit > 0 else 0.0
        outside = 0.0 if p < alpha and mean * limit < 0 else limit
        for _ in range(_BISECTIONS):
            middle = (inside + outside) / 2
            if p_of(middle) < alpha:
                outside = middle
            else:
                inside = middle
        return inside

    return p, (end(-1.0), end(1.0))


def _score(wins: float, losses: float, n: int, difference: float) -> float:
    """Return the standardised distance of the observed difference from a supposed one."""
    linear = -wins - losses + (2 * n - wins + losses) * difference
    constant = -losses * difference * (1 - difference)
    against = (math.sqrt(max(linear**2 - 8 * n * constant, 0.0)) - linear) / (4 * n)
    variance = n * (2 * against + difference * (1 - difference))
    distance = wins - losses - n * difference
    if not distance:
        return 0.0
    return distance / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, distance)


def cluster_test(
    sums: Floats, sizes: Floats, confidence: float | None, span: float | None
) -> tuple[float, Interval | None]:
    """Return p of the sign-flip test on the sums of clusters, and the interval that it inverts.

    `span` is the greatest possible difference, or None: then the interval is None for fewer
    clusters than any rejection needs (six at 95 %), and for equal differences. Without a confidence
    there is no interval.
    """
    if confidence is None:
        return _quick_p(sums), None
    p, alpha = sign_flip_p(sums), 1 - confidence
    k, mean = len(sums), float(sums.sum() / sizes.sum())
    if 2.0 ** (1 - k) >= alpha:
        return p, None if span is None or k < 2 else (-span, span)  # noqa: PLR2004 - no spread
    scale = float(np.abs(sums).max())
    equal = np.ptp(sums - mean * sizes) <= 1e-12 * scale
    if equal and span is None:
        return p, None
    if equal and mean:
        return p, _of_equal(mean, k, alpha, span or 0.0)
    low = high = 0.0
    if not equal:
        low = _low_end(sums, sizes, alpha, p)
        high = -_low_end(-sums, sizes, alpha, p)
    if span is not None:
        if 2.0 ** (1 - np.count_nonzero(sums)) >= alpha:
            least, most = _of_sums(sums, sizes, confidence, span)
            low, high = min(low, least), max(high, most)
        low, high = max(low, -span), min(high, span)
    return p, (low, high)


def _quick_p(sums: Floats) -> float:
    """Return p of the sign-flip test within 1 %: by Edgeworth's expansion if no cluster dominates.

    The transform of `sign_flip_p` takes a hundred times as long.
    """
    squares = sums**2
    if not squares.any() or float(squares.max()) > _EVEN * float(squares.sum()):
        return sign_flip_p(sums)
    below = _below(sums)
    return min(1.0, max(2 * min(below, 1 - below), SMALLEST_P))


def _of_equal(mean: float, clusters: int, alpha: float, span: float) -> Interval:
    """Return the interval of equal differences: a share of the unseen ones may differ.

    The share is the largest of which `clusters` draws contain none with probability alpha / 2.
    """
    share = 1 - (alpha / 2) ** (1 / clusters)
    near, far = abs(mean) * (1 - share), abs(mean) + share * (span - abs(mean))
    return (near, far) if mean > 0 else (-far, -near)


def _of_sums(sums: Floats, sizes: Floats, confidence: float, span: float) -> Interval:
    """Return Tango's interval of as many pairs as clusters, with the summed wins and losses."""
    k = len(sums)
    scale = k / (float(sizes.sum()) * span)
    wins, losses = (float(side[side > 0].sum()) * scale for side in (sums, -sums))
    low, high = label_test(wins, losses, k, confidence)[1] or (-1.0, 1.0)
    return low * span, high * span


def _low_end(sums: Floats, sizes: Floats, alpha: float, p: float) -> float:
    """Return the least difference that the test does not reject, on the side of 0 that p gives."""
    mean = float(sums.sum() / sizes.sum())
    error = float(np.sqrt(((sums - mean * sizes) ** 2).sum()) / sizes.sum())
    if len(sums) <= ENUMERATED:
        found = _listed_quantile(sums, sizes, alpha / 2)
    else:
        aim = _NORMAL.inv_cdf(alpha / 2)

        def gap(point: float) -> float:
            below = _below(sums - point * sizes)
            return _NORMAL.inv_cdf(min(max(below, 1e-12), 1 - 1e-12)) - aim

        start = mean + aim * error
        found = crossing(gap, *_around(gap, start, error), _TOLERANCE * error)
    if mean > 0:
        # Rounding must not part the interval from p.
        return max(found, 1e-6 * min(error, mean)) if p < alpha else min(found, 0.0)
    return min(found, mean)


def _around(gap: Callable[[float], float], start: float, error: float) -> Interval:
    """Return two points on either side of the zero of a rising function, near `start`."""
    step = error / 4
    low, high = start - step, start + step
    while gap(low) > 0 and low > start - _REACH * error:
        low, step = low - step, 2 * step
    while gap(high) < 0 and high < start + _REACH * error:
        high, step = high + step, 2 * step
    return low, high


def _listed_quantile(sums: Floats, sizes: Floats, level: float) -> float:
    """Return the least point with P(mean of a subset <= point) >= level; the empty one is least."""
    totals, counts = np.zeros(1), np.zeros(1)
    for total, size in zip(sums, sizes, strict=True):
        totals = np.concatenate((totals, totals + total))
        counts = np.concatenate((counts, counts + size))
    means = np.sort(totals[1:] / counts[1:])
    # The empty subset counts as below every point.
    place = math.ceil(level * len(totals) - 1e-9) - 2
    return float(means[max(place, 0)])


def _below(shifted: Floats) -> float:
    """Return P(sum of a random subset <= 0): the one-sided p of the shifted sums."""
    variance = float((shifted**2).sum())
    if float((shifted**2).max()) > _EVEN * variance:
        return sign_sums_below(shifted)
    z = float(shifted.sum()) / math.sqrt(variance)
    kurtosis = -2 * float((shifted**4).sum()) / variance**2
    below = _NORMAL.cdf(-z) + _NORMAL.pdf(z) * kurtosis / 24 * (z**3 - 3 * z)
    return min(max(below, 0.0), 1.0)
