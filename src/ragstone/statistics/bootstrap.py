"""The bootstrap distribution of a mean, computed instead of sampled.

The sum of n clusters drawn with replacement is a sum of n independent draws from the observed
values. Its distribution is an n-fold convolution: one Fourier transform, a power, and the inverse
transform. 10,000 resamples would have an error of about 1.4 % of an interval's width; this has no
sampling error and no seed, and takes milliseconds for 10,000 values.

Values are put on an even grid; a value between two points is split between them, which keeps its
mean. The number of grid steps is divisible by the small numbers: 0/1 labels, ratings and most
recalls are on the grid. For other values the standard error grows by less than 1 in 1,000.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_Kind = TypeVar("_Kind", np.float64, np.complex128)

_NORMAL: Final = NormalDist()
_STEPS: Final = (27720, 5040, 2520, 840, 420, 240, 120, 60)
"""Grid steps over the range of the values; the first that fits into the transform is used."""
_FINENESS: Final = 10.0
"""Minimum grid steps per standard deviation: splitting adds (1/10)^2 / 12 to the variance."""
_LENGTH: Final = 2**15
_RATIO_LENGTH: Final = 2**13
"""Shorter, because the quantile of a ratio needs many transforms."""
_TOLERANCE: Final = 1e-4
"""A tolerance in standard errors: a hundredth of the noise of 10,000 resamples."""
_ROUNDING: Final = 1e-12
"""Differences between clusters up to this share of the largest sum count as rounding."""
_ON_GRID: Final = 1e-9
"""Steps from a point of the grid that count as rounding."""
_BISECTIONS: Final = 60
_WIDTH: Final = 20.0
"""Standard deviations of the sum that the transform covers; less than 1e-8 wraps around."""


@dataclass(frozen=True, slots=True)
class SumDistribution:
    """Probabilities of a sum at the evenly spaced points `origin + (first + i) / density`."""

    origin: float
    first: int
    density: float
    probabilities: Floats

    def quantile(self, level: float) -> float:
        """Return the least point that the sum does not exceed with probability `level`."""
        reached = np.cumsum(self.probabilities)
        place = int(np.searchsorted(reached, level * reached[-1]))
        return self.origin + (self.first + min(place, len(reached) - 1)) / self.density

    def below(self, point: float) -> float:
        """Return P(sum < point) + P(sum = point) / 2, linear between the grid's points."""
        place = (point - self.origin) * self.density - self.first
        last = len(self.probabilities) - 1
        if not -_ON_GRID <= place <= last:
            return 0.0 if place < 0 else 1.0
        whole = min(math.floor(place + _ON_GRID), last - 1)
        before = float(self.probabilities[:whole].sum())
        here, after = self.probabilities[whole : whole + 2]
        part = max(place - whole, 0.0)
        return before + float(here * (1 + part) + after * part) / 2


def sum_of_draws(values: Floats, *, length: int = _LENGTH) -> SumDistribution:
    """Return the distribution of the sum of n draws, with replacement, from n finite values.

    `length` is the minimum length of the transform; a coarse grid makes it longer.
    """
    n, low, span = len(values), float(values.min()), float(np.ptp(values))
    if span == 0.0:
        return SumDistribution(n * low, -1, 1.0, np.array([0.0, 1.0, 0.0]))
    relative = (values - low) / span
    steps, length = _grid(n, float(relative.std()), length)
    place = relative * steps
    floor = np.floor(place).astype(np.int64)
    part = place - floor
    single = np.bincount(floor, 1.0 - part, length) + np.bincount(floor + 1, part, length)
    summed = np.fft.irfft(power(np.fft.rfft(single / n), n), length)
    # Sums are known modulo `length`; they are all in the window of that length around the mean.
    first = 0 if n * steps < length else math.floor(float(place.sum())) - length // 2
    probabilities = np.maximum(np.roll(summed, -(first % length)), 0.0)
    return SumDistribution(n * low, first, steps / span, probabilities)


def power(base: NDArray[_Kind], exponent: int) -> NDArray[_Kind]:
    """Return each entry to a power of 1 or more by repeated squaring, much faster than numpy."""
    result = np.ones_like(base)
    while True:
        if exponent % 2:
            result *= base
        exponent //= 2
        if not exponent:
            return result
        base = base * base


def _grid(n: int, deviation: float, length: int) -> tuple[int, int]:
    """Return the number of steps over the range of the values, and the transform's length.

    `deviation` is the standard deviation of one draw as a share of that range.
    """
    reach = max(1.0, min(float(n), _WIDTH * math.sqrt(n) * deviation))
    needed = max(_STEPS[-1], math.ceil(_FINENESS / deviation))
    fitting = [steps for steps in _STEPS if steps >= needed and reach * steps + 2 <= length]
    if fitting:
        return fitting[0], length
    return needed, 2 ** math.ceil(math.log2(reach * needed + 2))


def ratio_interval(sums: Floats, sizes: Floats, confidence: float) -> tuple[float, float]:
    """Return the BCa bootstrap interval of `sums.sum() / sizes.sum()`, drawing clusters.

    `sums` and `sizes` have shape (clusters,), for two or more clusters. Efron, "Better bootstrap
    confidence intervals", JASA 82 (1987): percentiles corrected for bias and, by the jackknife
    over clusters, for skewness.
    """
    # Scaling by a power of two does not round; squares of tiny or huge values stay in range.
    scale = 2.0 ** max(math.frexp(float(np.abs(sums).max()))[1] - 1, -1000)
    sums = sums / scale
    mean = float(sums.sum() / sizes.sum())
    residuals = sums - mean * sizes
    if np.ptp(residuals) <= _ROUNDING:
        return mean * scale, mean * scale
    even = bool(np.all(sizes == sizes[0]))
    drawn = sum_of_draws(sums if even else residuals)
    bias = _NORMAL.inv_cdf(drawn.below(float(sums.sum()) if even else 0.0))
    left = (sums.sum() - sums) / (sizes.sum() - sizes)
    gaps = left.mean() - left
    acceleration = float((gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5))
    levels = _bca_levels(bias, acceleration, confidence)
    if even:
        low, high = (drawn.quantile(level) / float(sizes.sum()) for level in levels)
    else:
        low, high = (_ratio_quantile(sums, sizes, level) for level in levels)
    return low * scale, high * scale


def _bca_levels(bias: float, acceleration: float, confidence: float) -> tuple[float, float]:
    def corrected(level: float) -> float:
        shifted = bias + _NORMAL.inv_cdf(level)
        return _NORMAL.cdf(bias + shifted / (1 - acceleration * shifted))

    tail = (1 - confidence) / 2
    return corrected(tail), corrected(1 - tail)


def _ratio_quantile(sums: Floats, sizes: Floats, level: float) -> float:
    """Return t with P(ratio < t) = level: the ratio is below t if the sum of s - t m is below 0.

    False position on the normal scale: there, the distribution of a mean is almost a line.
    """

    def gap(point: float) -> float:
        below = sum_of_draws(sums - point * sizes, length=_RATIO_LENGTH).below(0.0)
        return _NORMAL.inv_cdf(min(max(below, 1e-12), 1 - 1e-12)) - aim

    aim = _NORMAL.inv_cdf(level)
    mean = float(sums.sum() / sizes.sum())
    error = float(np.sqrt(((sums - mean * sizes) ** 2).sum()) / sizes.sum())
    low = max(mean - 6 * error, float((sums / sizes).min()))
    high = min(mean + 6 * error, float((sums / sizes).max()))
    return crossing(gap, low, high, _TOLERANCE * error)


def crossing(gap: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Return the point at which a rising function, almost a line, is 0; else the nearer end."""
    at_low, at_high = gap(low), gap(high)
    if at_low >= 0 or at_high <= 0:
        return low if at_low >= 0 else high
    for _ in range(_BISECTIONS):
        if high - low < tolerance:
            break
        middle = low - at_low * (high - low) / (at_high - at_low)
        at_middle = gap(middle)
        if abs(at_middle) < _TOLERANCE:
            return middle
        # Halving the value at the fixed end makes false position converge (Illinois).
        if at_middle < 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
    return (low + high) / 2
