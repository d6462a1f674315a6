"""Tests of paired differences: by permutation, computed instead of sampled, and McNemar's.

If two systems are equally good, each difference is as likely to have the other sign. The test's p
is the share of all 2^n choices of signs whose sum is at least as far from 0 as the observed sum.
Sampling cannot give a p below 1 / samples, too coarse for corrections of many comparisons. Here the
distribution of the sum is computed: from every choice for few differences, otherwise as a product
of cosines, its Fourier transform.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ragstone.statistics.bootstrap import Floats, power

ENUMERATED: Final = 14
"""Maximum number of differences other than 0 for which all choices of signs are enumerated."""
_STEPS: Final = (5040, 2520, 840, 420, 240, 120)
"""Grid steps over the largest difference; see `ragstone.statistics.bootstrap`."""
_LENGTH: Final = 2**15
_LONG_LENGTH: Final = 2**17
"""Maximum, for sums that are exactly on the grid."""
_SHORT_LENGTH: Final = 2**13
"""Shorter, because the ends of an interval need many transforms."""
_WIDTH: Final = 9.0
"""Standard deviations kept on either side; a sum of signs exceeds them with p below 1e-17."""
_GRAIN: Final = 2520
"""Steps per unit of the lattice on which labels, ratings and most recalls are; 2520 is divisible by
1 to 10."""
_ON_LATTICE: Final = 1e-6
"""Steps from the lattice that count as rounding."""
_DECAYED: Final = 6.5
"""Standard deviations times frequency at which the transform of a sum is 0."""
_FREQUENCIES: Final = 1024
"""Maximum number of frequencies for rows; those with outlying spreads lose precision."""
_FAR_APART: Final = 0.4
"""Largest difference of a row over the spread of its sum, above which the sums have gaps."""
SMALLEST_P: Final = 1e-12
"""Rounding error of the transform; smaller values of p are raised to it."""


def sign_flip_p(differences: Floats) -> float:
    """Return the two-sided p of the paired permutation test on a mean difference of 0.

    `differences` has shape (clusters,): the difference of each pair, or the sum of the differences
    of each cluster, which change sign together. Without a difference other than 0, p is 1.

    >>> sign_flip_p(np.array([1.0, 1.0, 1.0, 0.0, 1.0]))
    0.125
    """
    sizes = np.abs(differences[differences != 0.0])
    if not len(sizes):
        return 1.0
    observed = abs(math.fsum(differences))
    if len(sizes) <= ENUMERATED:
        return _by_enumeration(sizes, observed)
    return min(1.0, max(SMALLEST_P, _by_transform(sizes, observed)))


def _by_enumeration(sizes: Floats, observed: float) -> float:
    choices = np.arange(2 ** len(sizes))[:, None] >> np.arange(len(sizes)) & 1
    sums = np.abs((2 * choices - 1) @ sizes)
    return float((sums >= observed - 1e-9 * sizes.sum()).mean())


def sign_flip_rows(values: Floats, counts: NDArray[np.int64]) -> Floats:
    """Return `sign_flip_p` of many rows at once, to about 2e-3.

    Args:
        values: the differences that occur.
        counts: shape (rows, values): how often each of them occurs in each row.

    >>> sign_flip_rows(np.array([-1.0, 0.0, 1.0]), np.array([[0, 1, 4], [3, 0, 3]])).round(6)
    array([0.125, 1.   ])
    """
    sizes, weights = np.abs(values), counts.astype(np.float64)
    differing = weights[:, sizes > 0].sum(axis=1)
    found = np.ones(len(counts))
    few, alone = differing <= ENUMERATED, differing == 0
    grain = _grain(sizes)
    if not grain or 16 * sizes.max() > _FREQUENCIES * grain:
        # Sums of few values, or of values far apart, have gaps, which a cut series does not show.
        largest = np.where(counts > 0, sizes, 0.0).max(axis=1)
        alone |= few | (largest > _FAR_APART * np.sqrt(weights @ sizes**2))
        for row in np.flatnonzero(alone).tolist():
            found[row] = sign_flip_p(np.repeat(values, counts[row]))
    for rows in (few & ~alone, ~few & ~alone):
        if rows.any():
            tails = _tails(sizes, weights[rows], np.abs(weights[rows] @ values))
            found[rows] = np.clip(2 * tails, SMALLEST_P, 1.0)
    return found


def _tails(sizes: Floats, weights: Floats, observed: Floats) -> Floats:
    """Return P(sum >= observed) of the sizes of each row with random signs, by Fourier series."""
    spreads = np.sqrt(weights @ sizes**2)
    period = 2.2 * min(float((weights @ sizes).max()), _WIDTH * float(spreads.max()))
    most = _DECAYED * period / (2 * np.pi * float(spreads.min()))
    grain = _grain(sizes)
    if grain:
        # Sums have steps of two grains; an odd number of them leaves none at the end of the band.
        steps = 2 * math.ceil(period / (4 * grain)) + 1
        period = 2 * grain * steps
        most = steps // 2 if steps < _FREQUENCIES else min(most, steps // 2)
    angles = 2 * np.pi / period * np.arange(1, min(math.floor(most), _FREQUENCIES) + 1)
    cosines = np.cos(np.outer(sizes, angles))
    transform = np.exp(weights @ np.log(np.maximum(np.abs(cosines), 1e-300)))
    transform *= 1 - 2 * np.rint(weights @ (cosines < 0) % 2)
    transform *= grain / np.sin(angles * grain) if grain else 1 / angles
    start = np.minimum(observed, period / 2) - grain
    series = (transform * np.sin(np.outer(start, angles))).sum(axis=1)
    return np.asarray(0.5 - start / period - 2 / period * series, dtype=np.float64)


def _grain(sizes: Floats) -> float:
    """Return the largest step of which all sizes are multiples, or 0."""
    if sizes.max() > _LONG_LENGTH:
        return 0.0
    places = np.rint(sizes * _GRAIN)
    if np.abs(sizes * _GRAIN - places).max() > _ON_LATTICE:
        return 0.0
    return float(np.gcd.reduce(places.astype(np.int64))) / _GRAIN


def sign_sums_below(values: Floats) -> float:
    """Return P(sum of a random subset of the values <= 0), to about 1e-4.

    This is the probability that the sum of all values with random signs is at least their sum.
    """
    total = math.fsum(values)
    above = _by_transform(np.abs(values), abs(total), _SHORT_LENGTH) / 2
    return above if total > 0 else 1 - above


def _by_transform(sizes: Floats, observed: float, least_length: int = _LENGTH) -> float:
    """Return P(|sum| >= observed) of the sizes with random signs."""
    unit = _grain(sizes)
    if not unit:
        # Squares of very large or small values leave the range of floating-point numbers.
        sizes, observed = sizes / sizes.max(), observed / sizes.max()
    spread = math.sqrt(float((sizes**2).sum()))
    reach = min(float(sizes.sum()), _WIDTH * spread)
    if unit and 2 * reach / unit + 4 <= _LONG_LENGTH:
        places = np.rint(sizes / unit)
    else:
        largest = float(sizes.max())
        fits = (s for s in _STEPS if 2 * reach / largest * s + 4 <= least_length)
        places = np.rint(sizes / largest * next(fits, _STEPS[-1]))
        # The unit of the grid compensates the effect of rounding on the spread.
        unit = spread / math.sqrt(float((places**2).sum()))
    length = max(least_length, 2 ** math.ceil(math.log2(2 * reach / unit + 4)))
    probabilities = np.fft.irfft(_cosines(places.astype(np.int64), length), length)
    least = math.ceil(observed / unit - 1e-6)
    if least <= 0:
        return 1.0
    return 2 * float(probabilities[least : length // 2].sum())


def _cosines(places: NDArray[np.int64], length: int) -> Floats:
    """Return the product of cos(2 pi f p / length) over the places p, for f in 0..length/2."""
    wave = np.cos(2 * np.pi * np.arange(length) / length)
    frequencies = np.arange(length // 2 + 1)
    product = np.ones(len(frequencies))
    values, counts = np.unique(places, return_counts=True)
    for place, count in zip(values.tolist(), counts.tolist(), strict=True):
        # A power of two divides by masking, much faster than the remainder of a division.
        product *= power(wave[frequencies * place & (length - 1)], count)
    return product


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test on the pairs of 0/1 labels that differ."""

    wins: int
    """Pairs with 1 in the second and 0 in the first."""
    losses: int
    """Pairs with 0 in the second and 1 in the first."""
    exact_p: float
    mid_p: float
    """The exact p less half the probability of the observed split: less conservative."""
    odds_ratio: float
    """Wins over losses, with 0.5 added to each if one is 0; 1 if no pair differs."""


def mcnemar(a: Floats, b: Floats) -> McNemar:
    """Return McNemar's exact and mid-p test of two rows of 0/1 labels of equal length.

    Fagerland, Lydersen and Laake, "The McNemar test for binary matched-pairs data", BMC Medical
    Research Methodology 13:91, 2013. The exact p equals `sign_flip_p(b - a)`. The test assumes
    independent pairs: with clusters, use the permutation test over clusters.

    >>> mcnemar(np.array([0.0, 0, 0, 0, 1]), np.array([1.0, 1, 1, 1, 1])).mid_p
    0.0625
    """
    wins, losses = int(((b == 1) & (a == 0)).sum()), int(((b == 0) & (a == 1)).sum())
    split, least = wins + losses, min(wins, losses)
    all_ways = math.lgamma(split + 1) - split * math.log(2)
    # Probabilities of 0 to `least` heads in `split` throws of a fair coin.
    tail = [
        math.exp(all_ways - math.lgamma(k + 1) - math.lgamma(split - k + 1))
        for k in range(least + 1)
    ]
    exact = 1.0 if wins == losses else min(1.0, 2 * math.fsum(tail))
    mid = min(1.0, 2 * (math.fsum(tail) - tail[-1] / 2))
    more = 0.5 if least == 0 and split else 0.0
    ratio = (wins + more) / (losses + more) if split else 1.0
    return McNemar(wins, losses, exact, mid, ratio)
