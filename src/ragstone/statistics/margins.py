"""Margins of a gate: how many queries decide one, and how likely an equal system passes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import numpy as np

from ragstone.core import limits
from ragstone.statistics.paired import POWER, Difference

ALPHA: Final = 0.05
"""One-sided level of both bounds of a gate."""
_ALIKE: Final = 0.8
"""Assumed correlation of two versions' scores of a query."""
_NORMAL: Final = NormalDist()


def queries_to_decide(
    found: Difference, change: float, margin: float, *, level: float = ALPHA, span: float = 1.0
) -> int | None:
    """Return about how many queries in all decide, with a probability of 80 %.

    This is under the assumption that the observed change is the true one.

    Args:
        found: the difference on the queries so far.
        change: the difference, with its sign turned if lower is better.
        margin: the largest acceptable loss.
        level: one-sided level of the bounds.
        span: the greatest possible difference of a query.

    Returns:
        The number, or None with a single cluster or if no realistic number is enough.
    """
    if found.standard_error is None:
        return None
    quantile = -_NORMAL.inv_cdf(level)
    distance = max(change + margin, -change)
    needed = ((quantile + _NORMAL.inv_cdf(POWER)) * found.standard_error / distance) ** 2
    # Equal values do not show that all others are equal: Tango's bound without any difference.
    unseen = quantile**2 * max(span / distance - 1, 0.0) * found.n / found.clusters
    total = max(math.ceil(found.n * needed), math.ceil(unseen), found.n + 1)
    return total if total <= limits.MAX_PLANNED_QUERIES else None


def chance_to_pass(found: Difference, margin: float, level: float = ALPHA) -> float | None:
    """Return the approximate probability that an equal system passes on as many queries."""
    if not found.standard_error:
        return None
    return _NORMAL.cdf(margin / found.standard_error + _NORMAL.inv_cdf(level))


def small_margin(values: Sequence[float], margin: float, level: float = ALPHA) -> str:
    """Return why queries can hardly decide a margin, before the new version is asked; "" if not.

    The two versions are assumed to be as alike as systems that share most parts.

    >>> small_margin([0.0, 1.0] * 40, 0.02)[:50]
    '80 queries can hardly decide a margin of 0.02: an '
    >>> small_margin([0.0, 1.0] * 400, 0.05)
    ''
    """
    n, quantile = len(values), -_NORMAL.inv_cdf(level)
    deviation = math.sqrt(2 * float(np.var(values)) * (1 - _ALIKE)) if n else 0.0
    # At least Tango's bound without any difference, and the power of a test of the mean.
    unseen = quantile**2 * max(1 / margin - 1, 0.0)
    needed = max(unseen, ((quantile + _NORMAL.inv_cdf(POWER)) * deviation / margin) ** 2)
    if n >= needed:
        return ""
    error = deviation / math.sqrt(n) if n else math.inf
    chance = _NORMAL.cdf(margin / error - quantile) if error and n > unseen else 0.0
    return (
        f"{n:,} queries can hardly decide a margin of {margin:g}: an equal system passes with a "
        f"probability of about {chance:.0%}, if the scores of both versions have a correlation of "
        f"{_ALIKE:g}; about {math.ceil(needed):,} queries are enough for {POWER:.0%}"
    )
