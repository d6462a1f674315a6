"""Disagreements of people, decisions of a reviewer, and the label that counts in the end.

A decision is a label by the reviewer in the field `adjudicated:FIELD`, beside the labels of the
people. The last decision counts.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import orjson

from ragstone.annotation.items import ADJUDICATED
from ragstone.statistics.label_agreement import majority

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.events import GivenLabel
    from ragstone.annotation.project import Project
    from ragstone.annotation.schemes import Question

SCALE_POINTS: Final = 2
"""Points by which the labels of a scale must differ to be a disagreement."""
LabelPlace: TypeAlias = tuple[str, str, str]
"""The item id, field and part of a label."""
How: TypeAlias = Literal["adjudicated", "agreed", "majority", "median", "only", "unresolved"]
"""adjudicated: a reviewer decided; agreed: all people gave it; majority: more than half of them
did; median: of the points of a scale; only: one person labelled it; unresolved: there is none."""


@dataclass(frozen=True, slots=True)
class FinalLabel:
    """The label that counts in the end."""

    value: Any
    """None if it is unresolved."""
    how: How
    people: int
    """How many people labelled it."""


@dataclass(frozen=True, slots=True)
class Dispute:
    """A question about an item, or a part of it, to which people gave different labels."""

    item_id: str
    field: str
    part: str
    given: tuple[GivenLabel, ...]
    size: float
    """From 0 to 1: of a scale, the distance of the extremes relative to the scale; of words, the
    share of the people who did not give the most frequent label."""
    final: FinalLabel

    @property
    def decided(self) -> bool:
        """Whether a reviewer decided."""
        return self.final.how == "adjudicated"


def final_labels(
    project: Project, database: Database, *, known: bool = False
) -> dict[LabelPlace, FinalLabel]:
    """Return (item id, field, part) -> the label that counts, in the order of the items.

    Repeats and withdrawn items are left out, and items with known labels unless `known`.
    """
    return _final(project, _given(project, database, known=known))


def disagreements(
    project: Project, database: Database, *, threshold: float = SCALE_POINTS
) -> list[Dispute]:
    """Return the disagreements of people, the largest first.

    Labels of a scale disagree if they differ by `threshold` points or more; the two ends of a
    shorter scale disagree as well. Other labels disagree if they differ.
    """
    found = []
    for place, given in _given(project, database, known=False).items():
        question = project.scheme.question(place[1])
        people = [one for one in given if not one.field.startswith(ADJUDICATED)]
        if question is None or _of_own_parts(project, question) or _is_equal(people):
            continue
        if size := disagreement_size(question, [one.value for one in people], threshold):
            found.append(Dispute(*place, tuple(people), size, final_label(question, given)))
    return sorted(found, key=lambda one: -one.size)


def withdrawn_items(database: Database) -> set[str]:
    """Return the ids of the items that the owner took out of the project."""
    return set(database.withdrawn())


def not_annotators(database: Database) -> Callable[[str], bool]:
    """Return a function that returns whether a person is a reviewer or an owner.

    The owner of a project on one machine is not in the list of its people.
    """
    annotators = {one.name for one in database.people() if one.role == "annotator"}
    return lambda person: person not in annotators


def comparable(value: Any) -> str:
    """Return a text that is equal for equal labels; also if several options are in another order.

    >>> comparable(["b", "a"]) == comparable(["a", "b"])
    True
    """
    held = sorted(value, key=str) if isinstance(value, list) else value
    return orjson.dumps(held, option=orjson.OPT_SORT_KEYS).decode()


def _given(
    project: Project, database: Database, *, known: bool
) -> dict[LabelPlace, list[GivenLabel]]:
    """Return the labels and decisions per place, in the order of the items."""
    gone = withdrawn_items(database)
    counts = {
        item_id
        for item_id, item in project.items.items()
        if item_id not in gone and (known or not item.known)
    }
    found: dict[LabelPlace, list[GivenLabel]] = {}
    may_decide = not_annotators(database)
    for label in database.labels():
        field = label.field.removeprefix(ADJUDICATED)
        is_decision = field != label.field
        if label.item_id not in counts or (is_decision and not may_decide(label.person)):
            continue
        if project.scheme.question(field) is not None:
            found.setdefault((label.item_id, field, label.part), []).append(label)
    order = {item_id: number for number, item_id in enumerate(project.items)}
    return dict(sorted(found.items(), key=lambda one: order[one[0][0]]))


def _final(
    project: Project, by_place: Mapping[LabelPlace, Sequence[GivenLabel]]
) -> dict[LabelPlace, FinalLabel]:
    found = {}
    for place, given in by_place.items():
        question = project.scheme.question(place[1])
        final = final_label(question, given)
        if final.people > 1 and question is not None and _of_own_parts(project, question):
            final = FinalLabel(None, "unresolved", final.people)
        found[place] = final
    return found


def _of_own_parts(project: Project, question: Question) -> bool:
    """Whether a question is about parts that each person writes: those of two people differ."""
    return question.of == "part" and project.scheme.writes_parts


def final_label(question: Question | None, given: Iterable[GivenLabel]) -> FinalLabel:
    """Return the label that counts, of the labels and decisions of one place."""
    held = list(given)
    people = [one for one in held if not one.field.startswith(ADJUDICATED)]
    decided = [one for one in held if one.field.startswith(ADJUDICATED)]
    if decided:
        last = max(decided, key=lambda one: one.sequence)
        return FinalLabel(last.value, "adjudicated", len(people))
    values = [one.value for one in people]
    if len(values) == 1:
        return FinalLabel(values[0], "only", 1)
    texts = {one.person: comparable(one.value) for one in people}
    if len(set(texts.values())) == 1:
        return FinalLabel(values[0], "agreed", len(people))
    if question is not None and _on_scale(question, values):
        return FinalLabel(statistics.median(values), "median", len(people))
    most = majority({person: {"": text} for person, text in texts.items()}).labels.get("")
    if most is None:
        return FinalLabel(None, "unresolved", len(people))
    value = next(one.value for one in people if texts[one.person] == most)
    return FinalLabel(value, "majority", len(people))


def _is_equal(people: Sequence[GivenLabel]) -> bool:
    return all(one.value == people[0].value for one in people)


def disagreement_size(
    question: Question, values: Sequence[Any], threshold: float = SCALE_POINTS
) -> float:
    """Return the size of a disagreement, as in `Dispute`; 0 if there is none."""
    if len(values) < 2:  # noqa: PLR2004 - one person disagrees with nobody
        return 0.0
    if _on_scale(question, values):
        points = [float(one.value) for one in question.options]
        whole, gap = max(points) - min(points), max(values) - min(values)
        return gap / whole if gap and gap >= min(threshold, whole) else 0.0
    texts = [comparable(one) for one in values]
    return 1 - max(map(texts.count, texts)) / len(texts)


def _on_scale(question: Question, values: Iterable[Any]) -> bool:
    """Whether a question has a scale, and these labels are points of it."""
    points = {one.value for one in question.options}
    return (
        question.numeric
        and question.kind == "choice"
        and all(isinstance(one, int | float) and one in points for one in values)
    )
