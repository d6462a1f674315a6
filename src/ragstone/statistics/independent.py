"""The difference of two means over different queries."""

from __future__ import annotations

import math

from ragstone.statistics.summary import Summary


def independent_difference(
    a: Summary, b: Summary
) -> tuple[float | None, tuple[float, float] | None]:
    """Return the mean of `b` minus that of `a`, and its interval; None for unknown ones.

    The interval has the level of those of the summaries, which it combines by MOVER (Zou and
    Donner, Statistics in Medicine 27, 2008): the distances from the means to the bounds are added
    in squares. The two samples must share no query and no cluster.

    >>> from ragstone.statistics.summary import summarise
    >>> found = independent_difference(summarise([1, 1, 1, 0]), summarise([1, 0, 0, 0]))
    >>> found[0], [round(end, 3) for end in found[1]]
    (-0.5, [-0.845, 0.286])
    """
    if a.mean is None or b.mean is None:
        return None, None
    difference = b.mean - a.mean
    if a.interval is None or b.interval is None:
        return difference, None
    below = math.hypot(b.mean - b.interval[0], a.interval[1] - a.mean)
    above = math.hypot(b.interval[1] - b.mean, a.mean - a.interval[0])
    return difference, (difference - below, difference + above)
