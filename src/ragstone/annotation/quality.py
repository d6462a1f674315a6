"""How good the labels of each person are: known labels, repeats, agreement, time and skips."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.annotation.database import SKIPPED
from ragstone.annotation.disagreements import comparable, withdrawn_items
from ragstone.annotation.done import right_labels
from ragstone.annotation.items import ADJUDICATED, AGAIN, base_id
from ragstone.statistics.agreement import cohen_kappa
from ragstone.statistics.label_agreement import majority
from ragstone.statistics.proportions import Proportion, proportion

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.events import GivenLabel
    from ragstone.annotation.project import Project
    from ragstone.annotation.schemes import Question
    from ragstone.statistics.resampling import Coefficient

HASTY_SECONDS: Final = 1.0
"""A label after less time on the item is counted as hasty."""
_RESAMPLES: Final = 2000
"""Resamples of an interval: a page of 200 people must not take long."""
_Place: TypeAlias = tuple[str, str]
"""The item id and the part of a label of one question."""


@dataclass(frozen=True, slots=True)
class _Answers:
    """The labels of a question; repeats keep their own ids."""

    at: dict[_Place, dict[str, Any]]
    """Place -> person -> label."""
    of: dict[str, dict[_Place, Any]]
    """Person -> place -> label."""


@dataclass(frozen=True, slots=True)
class ComparedLabels:
    """The labels of one person compared with other labels of the same items."""

    question: str
    same: Proportion
    """Share of equal labels."""
    kappa: Coefficient
    """Cohen's kappa; of a scale, with quadratic weights."""


@dataclass(frozen=True, slots=True)
class PersonQuality:
    """Measures of the quality of a person's labels."""

    person: str
    items: int
    """Items with a label, without qualification items and repeats."""
    labels: int
    seconds: float | None
    """Median time per item; None if no browser measured it."""
    timed: int
    """Items with a time."""
    known: Proportion
    """Share of the known labels of qualification items that are right."""
    repeats: tuple[ComparedLabels, ...]
    """The first and the second label of items that came again, per question."""
    others: tuple[ComparedLabels, ...]
    """The person's labels and the majority of the others', per question."""
    skips: Mapping[str, str]
    """Skipped item -> reason."""
    hasty: int
    """Labels after less than a second on the item."""


def quality(project: Project, database: Database) -> list[PersonQuality]:
    """Return the quality of each person with a label or a skip, by name."""
    by_person: dict[str, list[GivenLabel]] = {}
    gone = withdrawn_items(database)
    for label in database.labels():
        item_id = base_id(label.item_id)
        if item_id in project.items and item_id not in gone:
            by_person.setdefault(label.person, []).append(label)
    answers = [
        (question, _answers(project, question, by_person))
        for question in project.scheme.questions
        if question.kind in ("choice", "choices")
    ]
    found = [_quality(project, name, given, answers) for name, given in by_person.items()]
    shown = [one for one in found if one.labels or one.known.n or one.skips]
    return sorted(shown, key=lambda one: one.person)


def _answers(
    project: Project, question: Question, by_person: Mapping[str, Iterable[GivenLabel]]
) -> _Answers:
    """Return the labels of a question; those of qualification items are left out."""
    found = _Answers({}, {})
    for person, given in by_person.items():
        mine = found.of.setdefault(person, {})
        for label in given:
            if label.field == question.name and not project.items[base_id(label.item_id)].known:
                value = (
                    label.value if _is_number(question, label.value) else comparable(label.value)
                )
                place = (label.item_id, label.part)
                mine[place] = value
                found.at.setdefault(place, {})[person] = value
    return found


def _is_number(question: Question, value: Any) -> bool:
    return question.numeric and isinstance(value, int | float) and not isinstance(value, bool)


def _quality(
    project: Project,
    person: str,
    given: list[GivenLabel],
    answers: Sequence[tuple[Question, _Answers]],
) -> PersonQuality:
    own = [one for one in given if one.field != SKIPPED and not one.field.startswith(ADJUDICATED)]
    plain = [one for one in own if not _is_special(project, one.item_id)]
    times: dict[str, float] = {}
    for one in plain:
        if one.seconds is not None:
            times[one.item_id] = max(one.seconds, times.get(one.item_id, 0.0))
    return PersonQuality(
        person,
        len({one.item_id for one in plain}),
        len(plain),
        statistics.median(times.values()) if times else None,
        len(times),
        _known(project, given),
        tuple(_found(question, _repeated(held.of[person])) for question, held in answers),
        tuple(_found(question, _with_others(person, held)) for question, held in answers),
        {one.item_id: str(one.value) for one in given if one.field == SKIPPED},
        sum(one.seconds is not None and one.seconds < HASTY_SECONDS for one in own),
    )


def _is_special(project: Project, item_id: str) -> bool:
    """Whether an item is a repeat or a qualification item."""
    return item_id.endswith(AGAIN) or bool(project.items[item_id].known)


def _known(project: Project, given: Iterable[GivenLabel]) -> Proportion:
    right = total = 0
    for item_id, labels in groupby(given, lambda one: one.item_id):
        if project.items[base_id(item_id)].known:
            count, n = right_labels(project.scheme, project.items[base_id(item_id)], labels)
            right, total = right + count, total + n
    return proportion(right, total)


def _repeated(mine: Mapping[_Place, Any]) -> list[tuple[Any, Any]]:
    """Return the first and the second label of each place that a person labelled twice."""
    return [
        (mine[base_id(item_id), part], again)
        for (item_id, part), again in mine.items()
        if item_id.endswith(AGAIN) and (base_id(item_id), part) in mine
    ]


def _with_others(person: str, answers: _Answers) -> list[tuple[Any, Any]]:
    """Return the label of a person and the majority of the others', per place that has both."""
    mine = answers.of[person]
    others: dict[str, dict[str, str]] = {}
    values: dict[str, Any] = {}
    for number, place in enumerate(mine):
        for name, value in answers.at[place].items():
            if name != person:
                values[comparable(value)] = value
                others.setdefault(name, {})[f"{number}"] = comparable(value)
    agreed = majority(others, least=1).labels
    places = enumerate(mine.values())
    return [(value, values[agreed[f"{n}"]]) for n, value in places if f"{n}" in agreed]


def _found(question: Question, pairs: list[tuple[Any, Any]]) -> ComparedLabels:
    same = proportion(sum(a == b for a, b in pairs), len(pairs))
    scale = all(_is_number(question, value) for pair in pairs for value in pair)
    kappa = cohen_kappa(
        [a if scale else str(a) for a, _ in pairs],
        [b if scale else str(b) for _, b in pairs],
        weights="quadratic" if scale else "none",
        resamples=_RESAMPLES,
    )
    return ComparedLabels(question.name, same, kappa)
