"""Agreement of the people of a project, and the sides they choose, from the labels that count.

The numbers are those of `ragstone data ratings` on the export: both come from
`ragstone.evaluation.rater_agreement`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.annotation.blind import SIDES, Blind
from ragstone.annotation.label_columns import LabelColumns, QuestionColumns, decided, has
from ragstone.evaluation.rater_agreement import RatedValues, RaterAgreement
from ragstone.statistics.resampling import Coefficient
from ragstone.statistics.summary import Summary, summarise
from ragstone.web import limits

if TYPE_CHECKING:
    from ragstone.annotation.project import Project
    from ragstone.annotation.site import Site


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """How far people agree about a question."""

    question: str
    agreement: RaterAgreement
    """Kappas are of the pairs with the most common items."""
    two: int
    """Items, or parts of items, with two labels or more."""
    pairs: int
    """Pairs of people with a common item."""
    counts: Mapping[str, int]
    """Value -> labels; the options of the question first."""
    values: Mapping[str, Coefficient]
    """Value -> alpha of the value against the rest; {} of a question with two values."""
    people: Mapping[str, tuple[float | None, int]]
    """Person -> share of other people's labels that are equal to the person's, and n."""


@dataclass(frozen=True, slots=True)
class ItemAgreement:
    """Agreement about one item, without anybody's label."""

    question: str
    people: int
    equal_pairs: float | None
    """Share of pairs of people with equal labels, over the parts; None with one person."""


def agreements(columns: LabelColumns) -> tuple[PeopleAgreement, ...]:
    """Return the agreement per question, in the order in which questions were first answered."""
    return tuple(_agreement(columns, one) for one in columns.questions.values())


def _agreement(columns: LabelColumns, question: QuestionColumns) -> PeopleAgreement:
    rated, counts = columns.rated(question), question.counts
    return PeopleAgreement(
        question=question.question.name,
        agreement=rated.agreement(most_pairs=limits.VIEW_ROWS),
        two=sum(len(of) > 1 for of in rated.items),
        pairs=rated.pairs_in_common(),
        counts={str(value): count for value, count in counts.items()},
        values=_by_value(rated, question),
        people=rated.with_others(),
    )


def _by_value(rated: RatedValues, question: QuestionColumns) -> Mapping[str, Coefficient]:
    """Return value or option -> alpha of having it; {} if two values have one alpha."""
    if question.question.kind == "choices":
        return {
            str(one.value): replace(
                rated,
                items=[{p: str(has(v, one.value)) for p, v in of.items()} for of in rated.items],
            ).alpha()
            for one in question.question.options
        }
    if len(question.known_values) <= 2:  # noqa: PLR2004 - each is the other's rest
        return {}
    return {str(value): one for value, one in rated.by_value().items()}


def item_agreement(site: Site, item_id: str, person: str) -> tuple[ItemAgreement, ...]:
    """Return the agreement about an item; () for a person who has not labelled it.

    Nobody's label is in it.
    """
    scheme = site.project.scheme
    given: dict[str, dict[str, dict[str, Any]]] = {}
    for label in site.database.labels(item_id=item_id):
        question = scheme.question(label.field)
        value = None if question is None else decided(question, label.value)
        if value is not None:
            given.setdefault(label.field, {}).setdefault(label.part, {})[label.person] = value
    found = []
    for name, parts in given.items():
        people = {one for of in parts.values() for one in of}
        if person in people:
            found.append(ItemAgreement(name, len(people), _equal_pairs(parts)))
    return tuple(found)


def _equal_pairs(parts: Mapping[str, Mapping[str, Any]]) -> float | None:
    equal = every = 0
    for of in parts.values():
        equal += sum(count * (count - 1) for count in Counter(of.values()).values())
        every += len(of) * (len(of) - 1)
    return equal / every if every else None


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
