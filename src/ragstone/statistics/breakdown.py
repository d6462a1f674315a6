"""A metric taken apart by a label: answerability, turn, domain, question type, and any other.

Every value of the label has its own mean with n, failures and an interval over clusters; a label of
several values (question types) counts a query once under each. How far two systems are apart under
each value is `differences_by`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.errors import ConfigError, did_you_mean
from ragstone.statistics.paired import Difference, adjust, paired_difference
from ragstone.statistics.summary import Summary, summarise
from ragstone.types import Label, Query, Score

UNLABELLED: Final = "(none)"
"""The group of the queries without the label."""

LATER: Final = "later"
FIRST: Final = "first"
TURNS: Final = "first_turn"
"""A label that every turn has without being given it: `first` or `later`."""


@dataclass(frozen=True, slots=True)
class Group:
    """A metric over the queries that have one value of a label."""

    value: str
    summary: Summary


@dataclass(frozen=True, slots=True)
class DifferenceGroup:
    """Two systems over the queries that have one value of a label."""

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
    ordered = dict(found)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in found):
        ordered = dict(sorted(found.items(), key=lambda item: float(str(item[0]))))
    named = {_shown(value): ids for value, ids in ordered.items()}
    return {**named, UNLABELLED: without} if without else named


def _values(query: Query, label: str) -> tuple[Label, ...]:
    if label == TURNS and "turn" in query.labels:
        return (FIRST if query.labels["turn"] == 1 else LATER,)
    value = query.labels.get(label)
    if value is None:
        return ()
    return tuple(value) if isinstance(value, tuple) else (value,)


def _shown(value: Label) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def breakdown(
    scores: Mapping[str, Score],
    groups: Mapping[str, Sequence[str]],
    clusters: Mapping[str, str],
    *,
    confidence: float = 0.95,
) -> list[Group]:
    """Return a metric's mean under each value of a label; groups without a score are left out.

    Args:
        scores: query id -> score of one metric.
        groups: value -> query ids, from `groups_of`.
        clusters: query id -> what it stands or falls with: its conversation.
        confidence: of the intervals.
    """
    found = []
    for value, query_ids in groups.items():
        held = [scores[query_id] for query_id in query_ids if query_id in scores]
        if held:
            found.append(Group(value, _summary(held, clusters, confidence)))
    return found


def _summary(held: Sequence[Score], clusters: Mapping[str, str], confidence: float) -> Summary:
    scored = [score for score in held if score.value is not None]
    return summarise(
        [score.value for score in scored],
        clusters=[clusters.get(score.query_id, score.query_id) for score in scored],
        confidence=confidence,
        failed=sum(score.status == "failed" for score in held),
        not_applicable=sum(score.status == "not_applicable" for score in held),
    )


def differences_by(
    a: Mapping[str, Score],
    b: Mapping[str, Score],
    groups: Mapping[str, Sequence[str]],
    clusters: Mapping[str, str],
) -> list[DifferenceGroup]:
    """Return how far `b` is above `a` under each value, over the queries that both have scored.

    With a system's answers under the reference history as `a` and its live ones as `b`, and turns
    as groups, this is the drift of a live conversation.
    """
    values, differences = [], []
    for value, query_ids in groups.items():
        pairs = [
            (a[q].value, b[q].value, clusters.get(q, q)) for q in query_ids if q in a and q in b
        ]
        both = [(x, y, name) for x, y, name in pairs if x is not None and y is not None]
        if both:
            first, second, names = zip(*both, strict=True)
            values.append(value)
            differences.append(paired_difference(first, second, clusters=names))
    corrected = adjust([difference.p for difference in differences])
    return [
        DifferenceGroup(value, difference, p)
        for value, difference, p in zip(values, differences, corrected, strict=True)
    ]
