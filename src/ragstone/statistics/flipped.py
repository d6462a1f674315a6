"""The queries on which one system is better than another, and those on which it is worse."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ragstone.statistics.failures import Scale
from ragstone.types import Score


@dataclass(frozen=True, slots=True)
class FlippedQueries:
    """The queries whose value differs between two systems, the largest change first."""

    better: tuple[str, ...]
    """Queries on which the second system is better."""
    worse: tuple[str, ...]
    """Queries on which the second system is worse."""


def flipped_queries(a: Mapping[str, Score], b: Mapping[str, Score], scale: Scale) -> FlippedQueries:
    """Return the queries on which `b` is better or worse than `a`.

    Args:
        a: query id -> score of the first system under one metric.
        b: query id -> score of the second system.
        scale: direction of the metric, and the failure policy. Under a neutral
            direction a larger value is better.

    >>> a, b = ({q: Score(q, "EM", v) for q, v in zip("xyz", vs)} for vs in ([1, 0, 1], [0, 1, 1]))
    >>> flipped_queries(a, b, Scale())
    FlippedQueries(better=('y',), worse=('x',))
    """
    sign = -1 if scale.direction == "lower" else 1
    changes: dict[str, float] = {}
    for query_id in (q for q in a if q in b):
        before, after = scale.counted(a[query_id]), scale.counted(b[query_id])
        if before and after:
            changes[query_id] = sign * (after[0] - before[0])
    ordered = sorted(changes, key=lambda q: -abs(changes[q]))
    return FlippedQueries(
        tuple(q for q in ordered if changes[q] > 0), tuple(q for q in ordered if changes[q] < 0)
    )
