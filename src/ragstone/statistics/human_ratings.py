"""Human ratings of answers: ratings of several annotators, preferences and win rates.

`ragstone.data.readers.inspector_raget` reads ratings from InspectorRAGet's JSON. mtRAG's scale runs
from 1 to 4 for faithfulness, appropriateness, naturalness and completeness.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal

from ragstone.data.readers.inspector_raget import AnswerRating
from ragstone.errors import ConfigError
from ragstone.statistics.summary import Summary, clusters_of, summarise

_CONSOLIDATE: Final[Mapping[str, Callable[[list[float]], float]]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
}


@dataclass(frozen=True, slots=True)
class Preference:
    """One annotator's choice between two systems' answers to one query."""

    query_id: str
    annotator: str
    first: str
    second: str
    winner: str
    """One of the two; empty for a tie."""


def consolidated(
    ratings: Iterable[AnswerRating], metric: str, how: Literal["mean", "median"] = "median"
) -> dict[str, dict[str, float]]:
    """Return system -> query id -> combined rating of one property.

    >>> raters = {"a": 4, "b": 3}
    >>> given = [AnswerRating("q", "s", "faithfulness", r, v) for r, v in raters.items()]
    >>> consolidated(given, "faithfulness", "mean")
    {'s': {'q': 3.5}}
    """
    if how not in _CONSOLIDATE:
        raise ConfigError(f"ratings are combined by mean or median, found {how!r}")
    found: dict[str, dict[str, float]] = {}
    for (query_id, system), values in ratings_by_item(ratings, metric).items():
        found.setdefault(system, {})[query_id] = _CONSOLIDATE[how](list(values.values()))
    return found


def ratings_by_item(
    ratings: Iterable[AnswerRating], metric: str
) -> dict[tuple[str, str], dict[str, float]]:
    """Return (query id, system) -> annotator -> rating, for functions of agreement."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for rating in ratings:
        if rating.metric == metric:
            found.setdefault((rating.query_id, rating.system), {})[rating.rater] = rating.value
    return found


def preferences_of(ratings: Iterable[AnswerRating], metric: str) -> list[Preference]:
    """Return a preference per annotator, query and pair of systems, from ratings of each answer.

    Equal ratings are a tie.
    """
    held: dict[tuple[str, str], dict[str, float]] = {}
    for rating in ratings:
        if rating.metric == metric:
            held.setdefault((rating.query_id, rating.rater), {})[rating.system] = rating.value
    found = []
    for (query_id, rater), values in held.items():
        for a, b in combinations(values, 2):
            better = a if values[a] > values[b] else b
            winner = "" if values[a] == values[b] else better
            found.append(Preference(query_id, rater, a, b, winner))
    return found


def win_rates(
    preferences: Iterable[Preference],
    clusters: Mapping[str, Hashable] | None = None,
    *,
    tie: float = 0.5,
) -> dict[str, Summary]:
    """Return the share of comparisons that each system wins, with an interval over clusters.

    `clusters` maps query ids to conversations; by default each query is a cluster. `tie` is the
    value of a tie for each of the two systems, from 0 to 1. With 0.5 the rates of two systems sum
    to 1.

    >>> given = [Preference("q", "a", "x", "y", "x"), Preference("q", "b", "x", "y", "")]
    >>> {system: found.mean for system, found in win_rates(given).items()}
    {'x': 0.75, 'y': 0.25}
    """
    if not 0 <= tie <= 1:
        raise ConfigError(f"a tie counts between 0 and 1 of a win, found {tie}")
    held: dict[str, tuple[list[str], list[float]]] = {}
    for one in preferences:
        for system in (one.first, one.second):
            ids, wins = held.setdefault(system, ([], []))
            ids.append(one.query_id)
            wins.append(float(one.winner == system) if one.winner else tie)
    return {
        system: summarise(wins, clusters=clusters_of(ids, clusters) or ids)
        for system, (ids, wins) in held.items()
    }
