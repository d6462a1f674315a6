"""Graded answers as columns: systems and queries for an order, and groups of answers by label."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ragstone.core import limits
from ragstone.errors import ConfigError, did_you_mean
from ragstone.evaluation.human_grades import HumanSet, Labelled
from ragstone.statistics.breakdown import groups_of
from ragstone.statistics.correlation import Column
from ragstone.statistics.order_agreement import OrderAgreement, RatedAnswers, order_agreement

SYSTEM: Final = "system"
LENGTH: Final = "length"
OTHERS: Final = "(others)"
"""The group of the values beyond the most frequent ones."""
_LEAST: Final = 10
"""Number of answers that two values of a default label have at least."""
_PAIR: Final = " / "
"""Between the two systems of a pair, as readers of pairs write it."""


def order_of(
    data: HumanSet, reference: Column, judged: Column, *, seed: int = 0
) -> OrderAgreement | None:
    """Return the agreement of two orders of the systems; None with fewer than two systems.

    An item with two answers counts for both systems: a win of one is a loss of the other.
    """
    answers, (people, verdicts) = rated_answers(data.items, (reference, judged))
    return order_agreement(people, verdicts, answers, seed=seed)


def rated_answers(
    items: Sequence[Labelled], columns: Iterable[Column]
) -> tuple[RatedAnswers, list[list[float | None]]]:
    """Return system, query and cluster of each answer, and columns with one value per answer.

    Equal questions with equal histories are one query.
    """
    in_pairs = any(one.item.other for one in items)
    rows = [
        (place, system, second)
        for place, one in enumerate(items)
        for second, system in enumerate(one.system.split(_PAIR) if in_pairs else [one.system])
    ]
    asked = [items[place].item.query for place, *_ in rows]
    queries = [(query.text, tuple(one.text for one in query.history)) for query in asked]
    clusters = [items[p].cluster or query for (p, *_), query in zip(rows, queries, strict=True)]
    answers = RatedAnswers([system for _, system, _ in rows], queries, clusters)
    return answers, [_of_each(column, rows) for column in columns]


def _of_each(column: Column, rows: Sequence[tuple[int, str, int]]) -> list[float | None]:
    """Return a value per answer: for the second one of a pair, that of the opposite verdict."""
    values = [column[place] for place, *_ in rows]
    # Verdicts are from 0 to 1, or differences around 0.
    total = 0.0 if any(value is not None and value < 0 for value in values) else 1.0
    return [
        total - value if second and value is not None else value
        for value, (*_, second) in zip(values, rows, strict=True)
    ]


def answer_groups(
    items: Sequence[Labelled], by: Sequence[str] = ()
) -> dict[str, dict[str, list[int]]]:
    """Return label -> value -> places of the answers.

    Labels are those of the queries, `system`, and `length`: thirds by characters of the answer.
    Without `by`, they are those with 2 to `limits.SHOWN_CHECK_GROUPS` values, at most
    `limits.SHOWN_CHECK_LABELS`.

    Raises:
        ConfigError: no query has a label of `by`.
    """
    labels = list(dict.fromkeys(name for one in items for name in one.item.query.labels))
    known = [SYSTEM, *(name for name in labels if name not in (SYSTEM, LENGTH)), LENGTH]
    unknown = [name for name in by if name not in known and name != "first_turn"]
    if unknown:
        raise ConfigError(
            f"--by: no answer has the label {unknown[0]!r}{did_you_mean(unknown[0], known)}; "
            f"allowed: {', '.join(known)}"
        )
    if by:
        return {name: _largest(_groups(items, name)) for name in dict.fromkeys(by)}
    found = {name: _groups(items, name) for name in known}
    usual = {name: groups for name, groups in found.items() if _is_usual(groups)}
    return dict(list(usual.items())[: limits.SHOWN_CHECK_LABELS])


def _groups(items: Sequence[Labelled], label: str) -> dict[str, list[int]]:
    if label == LENGTH:
        return _thirds([len(one.item.answer or "") for one in items])
    if label == SYSTEM:
        systems: dict[str, list[int]] = {}
        for place, one in enumerate(items):
            systems.setdefault(one.system or "(none)", []).append(place)
        return systems
    places: dict[str, list[int]] = {}
    for place, one in enumerate(items):
        places.setdefault(one.item.item_id, []).append(place)
    by_value = groups_of((one.item.query for one in items), label)
    return {
        value: [place for query_id in dict.fromkeys(ids) for place in places[query_id]]
        for value, ids in by_value.items()
    }


def _thirds(lengths: Sequence[int]) -> dict[str, list[int]]:
    """Return the short, the middle and the long answers; equal lengths are in one group."""
    ordered = sorted(lengths)
    low, high = (ordered[len(ordered) * third // 3] for third in (1, 2)) if ordered else (0, 0)
    names = [f"below {low:,}", f"{low:,} to {high - 1:,}", f"{high:,} or more"]
    names = [f"{name} characters" for name in names]
    found: dict[str, list[int]] = {name: [] for name in names}
    for place, length in enumerate(lengths):
        found[names[(length >= low) + (length >= high)]].append(place)
    return {name: places for name, places in found.items() if places}


def _largest(groups: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return at most `limits.SHOWN_CHECK_GROUPS` groups; the smallest are joined."""
    if len(groups) <= limits.SHOWN_CHECK_GROUPS:
        return dict(groups)
    ranked = sorted(groups, key=lambda value: -len(groups[value]))
    kept = set(ranked[: limits.SHOWN_CHECK_GROUPS - 1])
    rest = [place for value, places in groups.items() if value not in kept for place in places]
    return {value: groups[value] for value in groups if value in kept} | {OTHERS: sorted(rest)}


def _is_usual(groups: Mapping[str, list[int]]) -> bool:
    large = sum(len(places) >= _LEAST for places in groups.values())
    return len(groups) <= limits.SHOWN_CHECK_GROUPS and large > 1
