"""The export of a project: labels as ratings, in an order that only the labels decide.

`ragstone.data.readers.ratings` reads every line.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import orjson

from ragstone.annotation.conversation import TURN_LABELS
from ragstone.annotation.disagreements import withdrawn_items
from ragstone.annotation.events import GivenLabel
from ragstone.annotation.items import AGAIN, AnnotationItem, ShownAnswer, base_id
from ragstone.annotation.parts import ItemPart, part_text, parts_of, read_parts
from ragstone.annotation.people import REPEATED
from ragstone.annotation.schemes import Rated, Scheme
from ragstone.data.readers.ratings import Inclusion
from ragstone.data.taxonomy import SEPARATOR

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.project import Project
    from ragstone.annotation.site import Site

Further: TypeAlias = Literal["known", "repeats", "suggestions"]
"""known: the labels of qualification items, and the right ones by the rater `known`; repeats: the
second labels of a person, by the rater `NAME (again)`; suggestions: those of the rater `model`."""
KNOWN: Final = "known"
MODEL: Final = "model"
_SIDES: Final = 2
_RELEVANCE: Final = "relevance"
_TURN: Final = frozenset({*TURN_LABELS, _RELEVANCE})
"""The fields of turns that are ratings."""


@dataclass(frozen=True)
class ExportChoice:
    """The choice of an export's content."""

    names: bool = True
    """Whether people have their names; else they are numbered, and times are left out."""
    include: frozenset[Further] = frozenset()


def rating_lines(site: Site) -> Iterator[bytes]:
    """Yield the labels of a project as lines of the ratings form."""
    return export_lines(site.project, site.database, ExportChoice())


def export_lines(project: Project, database: Database, choice: ExportChoice) -> Iterator[bytes]:
    """Yield the labels of a project as lines of the ratings form: equal labels, equal bytes.

    The order is that of the items in their file, then of raters, questions and parts.
    """
    for row in rating_rows(project, database, choice):
        yield orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE)


def rating_rows(
    project: Project, database: Database, choice: ExportChoice
) -> Iterator[dict[str, Any]]:
    """Yield the labels of a project as rows of the ratings form; see `export_lines`."""
    drawn = database.draws()
    items = {
        item_id: replace(item, inclusion=drawn[item_id]) if item_id in drawn else item
        for item_id, item in project.items.items()
    }
    exporter = _Exporter(items, project.scheme, project.task, choice, withdrawn_items(database))
    labels = [one for one in database.labels() if exporter.counts(one)]
    named = {} if choice.names else numbered_people(database, {one.person for one in labels})
    given = [exporter.renamed(one, named) for one in labels]
    for label in sorted([*given, *exporter.further()], key=exporter.place):
        yield from exporter.rows(label)


def rating_places(
    items: Mapping[str, AnnotationItem], scheme: Scheme
) -> Iterator[tuple[dict[str, Any], GivenLabel]]:
    """Yield the ratable parts of items: the fields of a rating, and a label without a value.

    Parts that people wrote themselves are left out.
    """
    exporter = _Exporter(items, scheme, "", ExportChoice(), set())
    for item in items.values():
        for question in scheme.questions:
            for part in _parts(item, question.of):
                label = GivenLabel(item.item_id, "", question.name, part, None)
                about = exporter.about(item, label)
                yield {"query_id": item.query.query_id, **about, "property": question.name}, label


def _parts(item: AnnotationItem, of: Rated) -> list[str]:
    match of:
        case "answer":
            return [one.part for one in item.answers]
        case "passage":
            return [one.passage_id for one in item.passages]
        case "part":
            return [one.part_id for one in read_parts(item.parts) or ()]
    return [""]


def numbered_people(database: Database, people: Iterable[str]) -> dict[str, str]:
    """Return person -> `person N`, in an order that reveals neither names nor times.

    It is that of a digest of their first events' ids, which no export has.
    """
    marks = {}
    for person in people:
        first = next(database.events(person=person), None)
        marks[person] = hashlib.sha256(
            (first.event.client_id if first else person).encode()
        ).digest()
    ordered = sorted(marks, key=lambda name: marks[name])
    return {name: f"person {number}" for number, name in enumerate(ordered, 1)}


@dataclass
class _Exporter:
    items: Mapping[str, AnnotationItem]
    scheme: Scheme
    task: str
    choice: ExportChoice
    withdrawn: set[str]
    own_parts: dict[tuple[str, str], list[ItemPart]] = field(default_factory=dict)
    """(item id, rater) -> the parts that the rater marked or wrote."""

    @cached_property
    def order(self) -> dict[str, int]:
        return {item_id: place for place, item_id in enumerate(self.items)}

    @cached_property
    def questions(self) -> dict[str, int]:
        return {one.name: place for place, one in enumerate(self.scheme.questions)}

    @cached_property
    def targets(self) -> Counter[tuple[str, str]]:
        """Query id and fields in the form of ratings -> number of items with them."""
        return Counter(map(self._target, self.items.values()))

    def counts(self, label: GivenLabel) -> bool:
        """Return whether a label is part of the export."""
        item = self.items.get(base_id(label.item_id))
        is_turn = self.task == "conversation" and label.field in _TURN
        if item is None or item.item_id in self.withdrawn:
            return False
        if not is_turn and label.field not in self.questions:
            return False
        if item.known and "known" not in self.choice.include:
            return False
        return "repeats" in self.choice.include or not label.item_id.endswith(AGAIN)

    def renamed(self, label: GivenLabel, named: Mapping[str, str]) -> GivenLabel:
        """Return a label with the rater's name in the export; own parts are kept."""
        again = REPEATED if label.item_id.endswith(AGAIN) else ""
        person = named.get(label.person, label.person) + again
        question = self.scheme.question(label.field)
        if question is not None and question.kind == "parts":
            self.own_parts[base_id(label.item_id), person] = read_parts(label.value) or []
        received = label.received if self.choice.names else ""
        return replace(label, item_id=base_id(label.item_id), person=person, received=received)

    def further(self) -> Iterator[GivenLabel]:
        """Yield the labels of models and the known ones, if they are wanted."""
        for item in self.items.values():
            for rater, kind, labels in (
                (MODEL, "suggestions", item.suggested), (KNOWN, "known", item.known)
            ):  # fmt: skip
                if kind in self.choice.include and item.item_id not in self.withdrawn:
                    yield from self._machine(item, rater, labels)

    def _machine(
        self, item: AnnotationItem, rater: str, labels: Mapping[str, Any]
    ) -> Iterator[GivenLabel]:
        for name in labels.keys() & self.questions.keys():
            value = labels[name]
            parts = value if isinstance(value, dict) else {"": value}
            for part, one in parts.items():
                yield GivenLabel(item.item_id, rater, name, part, one)

    def place(self, label: GivenLabel) -> tuple[int, str, int, str]:
        """Return the sort key of a label."""
        question = self.questions.get(label.field, len(self.questions))
        return self.order[label.item_id], label.person, question, f"{label.field} {label.part}"

    def rows(self, label: GivenLabel) -> Iterator[dict[str, Any]]:
        """Yield the ratings of a label: one, or one per part that the rater wrote."""
        item = self.items[label.item_id]
        question = self.scheme.question(label.field)
        if question is not None and question.kind == "parts":
            for text in dict.fromkeys(one.text for one in self.parts(item, label)):
                yield self._row(item, label, {**_answer_of(item), "part": text}, "yes")
            return
        if question is not None and question.of == "part" and self._is_gone(item, label):
            return
        value = plain_value(label.value)
        if value is not None:
            yield self._row(item, label, self.about(item, label), value)

    def about(self, item: AnnotationItem, label: GivenLabel) -> dict[str, Any]:
        """Return the fields that name the rated part of an item."""
        question = self.scheme.question(label.field)
        kind = question.of if question is not None else "turn"
        match kind:
            case "answer":
                named = _named(next((a for a in item.answers if a.part == label.part), None))
                return named or {"part": label.part}
            case "pair":
                return _pair(item.answers)
            case "passage":
                return {"passage_id": label.part}
            case "part":
                return {**_answer_of(item), "part": part_text(label.part, self.parts(item, label))}
            case "turn":
                turn, _, passage_id = label.part.partition("/")
                return {"passage_id": passage_id, "part": f"turn {turn}"}
        return self._whole(item)

    def parts(self, item: AnnotationItem, label: GivenLabel) -> list[ItemPart]:
        """Return the parts that a label's rater wrote, or those of the item."""
        written = self.own_parts.get((item.item_id, label.person))
        return parts_of(self.scheme, item, {}) if written is None else written

    def _is_gone(self, item: AnnotationItem, label: GivenLabel) -> bool:
        """Whether a label is of a part that its rater removed or split."""
        known = {one.part_id for one in self.parts(item, label)}
        return (item.item_id, label.person) in self.own_parts and label.part not in known

    def _whole(self, item: AnnotationItem) -> dict[str, Any]:
        """Return the fields that name the item itself: a passage, an answer or a query."""
        about = self._one_of(item)
        # Items that are equal in the form of ratings differ by their ids.
        several = self.targets[self._target(item)] > 1
        return about | ({"part": item.item_id} if several else {})

    def _one_of(self, item: AnnotationItem) -> dict[str, Any]:
        if len(item.answers) == 1:
            return _answer_of(item)
        per_passage = self.scheme.each == "passage" and len(item.passages) == 1
        return {"passage_id": item.passages[0].passage_id} if per_passage else {}

    def _target(self, item: AnnotationItem) -> tuple[str, str]:
        return item.query.query_id, str(self._one_of(item))

    def _row(
        self, item: AnnotationItem, label: GivenLabel, about: Mapping[str, Any], value: Any
    ) -> dict[str, Any]:
        return {
            "query_id": item.query.query_id,
            **{name: text for name, text in about.items() if text},
            "rater": label.person,
            "property": label.field,
            "value": value,
            **({"shown": label.shown} if label.shown else {}),
            **({"time": label.received} if label.received else {}),
            **_drawn(item, about),
        }


def _named(answer: ShownAnswer | None) -> dict[str, Any]:
    return {"system": answer.system, "setting": answer.setting} if answer else {}


def _answer_of(item: AnnotationItem) -> dict[str, Any]:
    """Return the answer of an item that has exactly one."""
    return _named(item.answers[0]) if len(item.answers) == 1 else {}


def _pair(answers: Sequence[ShownAnswer]) -> dict[str, Any]:
    """Return the fields of a pair; systems under different settings are named with them."""
    if len(answers) != _SIDES:
        return {}
    first, second = answers
    if first.setting == second.setting:
        return {**_named(first), "against": second.system}
    return {"system": first.part, "against": second.part}


def plain_value(value: Any) -> float | str | None:
    """Return a value as a rating has it; None if there is nothing to rate."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        value = SEPARATOR.join(map(str, value))
    return value if isinstance(value, int | float | str) and value != "" else None


def _drawn(item: AnnotationItem, about: Mapping[str, Any]) -> dict[str, Any]:
    """Return how an answer was drawn, else how the item was."""
    named = (about.get("system"), about.get("setting"))
    answers = (one for one in item.answers if (one.system, one.setting) == named)
    answer = next(answers, None)
    drawn: Inclusion | None = (answer.inclusion if answer else None) or item.inclusion
    return {"inclusion_probability": drawn.probability, "round": drawn.round} if drawn else {}
