"""The difference of two means of different items, such as queries of two data sets."""

from __future__ import annotations

import math
from dataclasses import dataclass

from ragstone.statistics.summary import Summary


@dataclass(frozen=True, slots=True)
class UnpairedDifference:
    """The second mean minus the first; None if a side has no mean."""

    difference: float | None
    interval: tuple[float, float] | None
    """None if a side has no interval."""

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval is above 0 or below it."""
        return self.interval is not None and (self.interval[0] > 0 or self.interval[1] < 0)


def unpaired_difference(a: Summary, b: Summary) -> UnpairedDifference:
    """Return the mean of `b` minus that of `a`, with the interval of MOVER.

    The distances from the means to the bounds of their intervals are added in squares (Zou and
    Donner, Statistics in Medicine 27, 2008). The items of both sides must be independent; if they
    are partly the same, the interval is too wide.

    >>> low_high = Summary(0.25, 40, interval=(0.15, 0.45)), Summary(0.75, 40, interval=(0.6, 0.8))
    >>> found = unpaired_difference(*low_high)
    >>> found.difference, found.interval, found.excludes_zero
    (0.5, (0.25, 0.6118033988749895), True)
    """
    if a.mean is None or b.mean is None:
        return UnpairedDifference(None, None)
    gap = b.mean - a.mean
    if a.interval is None or b.interval is None:
        return UnpairedDifference(gap, None)
    below = math.hypot(b.mean - b.interval[0], a.interval[1] - a.mean)
    above = math.hypot(b.interval[1] - b.mean, a.mean - a.interval[0])
    return UnpairedDifference(gap, (gap - below, gap + above))
