"""Which side people choose of two answers, whatever answer was on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragstone.annotation.blind import SIDES, Blind
from ragstone.statistics.summary import Summary, summarise

if TYPE_CHECKING:
    from ragstone.annotation.label_columns import LabelColumns, QuestionColumns
    from ragstone.annotation.project import Project


@dataclass(frozen=True, slots=True)
class SideChoices:
    """How often people chose the left answer, and neither."""

    question: str
    left: Summary
    """Share of the left answer among the choices; an interval without .5 shows a position bias."""
    ties: Summary
    """Share of ties among the labels."""


def side_choices(project: Project, columns: LabelColumns) -> tuple[SideChoices, ...]:
    """Return the choices of sides per question about pairs, with intervals over queries."""
    return tuple(
        _choices(project, columns, one)
        for one in columns.questions.values()
        if one.question.of == "pair"
    )


def _choices(project: Project, columns: LabelColumns, question: QuestionColumns) -> SideChoices:
    queries, names = columns.clusters(question), columns.names
    items = [item_id for item_id, _ in question.places]
    sides, ties, of_sides, of_ties = [], [], [], []
    for cell, person, value, _ in question.triples():
        ties.append(float(value not in SIDES))
        of_ties.append(queries[cell])
        if value in SIDES:
            left = _left(project, names[person], items[cell])
            if left:
                sides.append(float(value == left))
                of_sides.append(queries[cell])
    return SideChoices(
        question.question.name,
        summarise(sides, clusters=of_sides),
        summarise(ties, clusters=of_ties),
    )


def _left(project: Project, person: str, item_id: str) -> str:
    """Return the label of the answer that was on the left; "" if the item has one answer."""
    blind = Blind(project, person, item_id)
    if len(blind.sides) < len(SIDES):
        return ""
    first = project.items[item_id].answers[0].part
    return SIDES[blind.parts[blind.sides[0]] != first]
