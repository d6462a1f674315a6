"""What people say of answers: ratings of several annotators, and which answer they prefer.

Ratings are made in Python, or read from InspectorRAGet's JSON by
`ragstone.data.readers.inspector_raget`. mtRAG's scale runs from 1 to 4 for faithfulness,
appropriateness, naturalness and completeness.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ragstone.data.readers.inspector_raget import Rating
from ragstone.errors import ConfigError
from ragstone.statistics.summary import Summary, summarise

Consolidation: TypeAlias = Literal["mean", "median"]
"""How the annotators of one answer are made one value."""

_CONSOLIDATE: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
}
_HALF: Final = 0.5


@dataclass(frozen=True, slots=True)
class Preference:
    """One annotator compared two systems' answers to one query."""

    query_id: str
    annotator: str
    first: str
    second: str
    winner: str
    """One of the two; empty for a tie."""


def consolidated(
    ratings: Iterable[Rating], metric: str, how: Consolidation = "median"
) -> dict[str, dict[str, float]]:
    """Return system -> query id -> the annotators' value of one property.

    >>> given = [Rating("q", "s", "faithfulness", rater, v) for rater, v in (("a", 4), ("b", 3))]
    >>> consolidated(given, "faithfulness", "mean")
    {'s': {'q': 3.5}}
    """
    if how not in _CONSOLIDATE:
        raise ConfigError(f"annotators are made one by mean or median, found {how!r}")
    held: dict[str, dict[str, list[float]]] = {}
    for rating in ratings:
        if rating.metric == metric:
            by_query = held.setdefault(rating.system, {})
            by_query.setdefault(rating.query_id, []).append(rating.value)
    return {
        system: {query_id: _CONSOLIDATE[how](values) for query_id, values in by_query.items()}
        for system, by_query in held.items()
    }


def ratings_by_item(
    ratings: Iterable[Rating], metric: str
) -> dict[tuple[str, str], dict[str, float]]:
    """Return (query id, system) -> annotator -> value: the rows that agreement is computed of."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for rating in ratings:
        if rating.metric == metric:
            found.setdefault((rating.query_id, rating.system), {})[rating.rater] = rating.value
    return found


def preferences_of(ratings: Iterable[Rating], metric: str) -> list[Preference]:
    """Return who preferred which of two answers, where annotators gave each answer a value.

    Every two systems that one annotator valued on one query are compared; equal values are a tie.
    """
    held: dict[tuple[str, str], dict[str, float]] = {}
    for rating in ratings:
        if rating.metric == metric:
            held.setdefault((rating.query_id, rating.rater), {})[rating.system] = rating.value
    return [
        Preference(query_id, rater, a, b, _winner(a, values[a], b, values[b]))
        for (query_id, rater), values in held.items()
        for place, a in enumerate(values)
        for b in list(values)[place + 1 :]
    ]


def _winner(a: str, value_a: float, b: str, value_b: float) -> str:
    return "" if value_a == value_b else a if value_a > value_b else b


def win_rates(
    preferences: Iterable[Preference],
    clusters: Mapping[str, Hashable] | None = None,
    *,
    tie: float = _HALF,
) -> dict[str, Summary]:
    """Return the share of comparisons that each system wins, with an interval over clusters.

    Args:
        preferences: of any number of annotators.
        clusters: query id -> conversation; without it a query is its own cluster.
        tie: what a tie counts for each of the two: one half, so that rates of two systems sum to
            1; 0 counts wins alone.

    >>> given = [Preference("q", "a", "x", "y", "x"), Preference("q", "b", "x", "y", "")]
    >>> {system: found.mean for system, found in win_rates(given).items()}
    {'x': 0.75, 'y': 0.25}
    """
    if not 0 <= tie <= 1:
        raise ConfigError(f"a tie counts between 0 and 1 of a win, found {tie}")
    held: dict[str, list[tuple[str, float]]] = {}
    for one in preferences:
        for system in (one.first, one.second):
            won = tie if not one.winner else float(one.winner == system)
            held.setdefault(system, []).append((one.query_id, won))
    return {
        system: summarise(
            [won for _, won in found],
            clusters=[(clusters or {}).get(query_id, query_id) for query_id, _ in found],
        )
        for system, found in held.items()
    }
