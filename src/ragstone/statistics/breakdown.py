"""Metrics broken down by a label: answerability, turn, domain, question type, and others.

Each value of the label has its own mean with n, failures and an interval over clusters. A query
with several values, such as question types, counts under each of them.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.errors import ConfigError, did_you_mean
from ragstone.statistics.failures import Scale, difference_between, summarise_scores
from ragstone.statistics.paired import Difference, adjust
from ragstone.statistics.summary import Summary, clusters_of
from ragstone.types import Label, Query, Score

UNLABELLED: Final = "(none)"
"""The group of the queries without the label."""

LATER: Final = "later"
FIRST: Final = "first"
TURNS: Final = "first_turn"
"""A label derived from the turn: `first` or `later`."""


@dataclass(frozen=True, slots=True)
class Group:
    """A metric over the queries with one value of a label."""

    value: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class DifferenceGroup:
    """The difference of two systems over the queries with one value of a label."""

    value: str
    difference: Difference
    p_adjusted: float
    """Holm's correction over the values."""


def groups_of(queries: Iterable[Query], label: str) -> dict[str, list[str]]:
    """Return value -> query ids, numbers in order of size and texts in that of first occurrence.

    `first_turn` groups turns into first and later ones.

    Raises:
        ConfigError: no query has the label.

    >>> turns = [Query(f"c::{n}", "Who?", labels={"turn": n}) for n in (1, 2)]
    >>> groups_of(turns, "turn"), groups_of(turns, "first_turn")
    ({'1': ['c::1'], '2': ['c::2']}, {'first': ['c::1'], 'later': ['c::2']})
    """
    held = list(queries)
    found: dict[Label, list[str]] = {}
    without: list[str] = []
    for query in held:
        values = _values(query, label)
        for value in values:
            found.setdefault(value, []).append(query.query_id)
        if not values:
            without.append(query.query_id)
    if not found:
        known = {name for query in held for name in query.labels}
        raise ConfigError(f"no query has the label {label!r}{did_you_mean(label, known)}")
    ordered = list(found.items())
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        ordered.sort(key=lambda item: float(str(item[0])))
    named = {str(v).lower() if isinstance(v, bool) else str(v): ids for v, ids in ordered}
    return {**named, UNLABELLED: without} if without else named


def _values(query: Query, label: str) -> tuple[Label, ...]:
    if label == TURNS and "turn" in query.labels:
        return (FIRST if query.labels["turn"] == 1 else LATER,)
    value = query.labels.get(label)
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def breakdown(
    scores: Mapping[str, Score],
    groups: Mapping[str, Sequence[str]],
    clusters: Mapping[str, str],
    scale: Scale,
) -> list[Group]:
    """Return a metric's mean under each value of a label; groups without a score are left out.

    `scores` maps query ids to scores of one metric, `clusters` to conversations; `groups` is a
    result of `groups_of`.
    """
    found = []
    for value, query_ids in groups.items():
        held = [scores[query_id] for query_id in query_ids if query_id in scores]
        if held:
            summary = summarise_scores(
                [score.value for score in held],
                [score.status for score in held],
                scale,
                clusters=clusters_of((score.query_id for score in held), clusters),
            )
            found.append(Group(value, summary))
    return found


def differences_by(
    a: Mapping[str, Score],
    b: Mapping[str, Score],
    groups: Mapping[str, Sequence[str]],
    clusters: Mapping[str, Hashable],
    scale: Scale,
) -> list[DifferenceGroup]:
    """Return the mean of `b` minus `a` under each value, over the queries that count for both.

    With a system's answers under the reference history as `a`, its live answers as `b` and turns as
    groups, this is the drift of live conversations.

    Args:
        a: query id -> score of the first system under one metric.
        b: query id -> score of the second system.
        groups: a result of `groups_of`.
        clusters: query id -> conversation.
        scale: range of the metric, and the failure policy.
    """
    found = []
    for value, query_ids in groups.items():
        first, second = ({q: side[q] for q in query_ids if q in side} for side in (a, b))
        difference = difference_between(first, second, scale, clusters)
        if difference is not None:
            found.append((value, difference))
    corrected = adjust([difference.p for _, difference in found])
    return [DifferenceGroup(*one, p) for one, p in zip(found, corrected, strict=True)]
