"""The labels of a project as columns of numbers, read once from the table of labels.

An object per label would take ten times the memory. A *cell* is the subject of one label: a
question about an item or about one of its parts.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.database import SKIPPED
from ragstone.annotation.disagreements import withdrawn_items
from ragstone.annotation.done import is_done
from ragstone.annotation.parts import ItemPart, part_text, parts_of
from ragstone.annotation.rating_export import plain_value
from ragstone.annotation.schemes import Option, Question
from ragstone.data.taxonomy import SEPARATOR
from ragstone.evaluation.rater_agreement import RatedValues

if TYPE_CHECKING:
    from ragstone.annotation.events import GivenLabel
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.schemes import Scheme
    from ragstone.annotation.site import Site

SHOWN: Final = ("", "before", "after", "never")
"""When a model's suggestion was shown; "" if there was none."""
_RELEVANCE: Final = Question(
    "relevance", "Is the passage relevant?", "turn", options=(Option("yes"), Option("no"))
)
"""The question about the passages of a conversation, which is in no scheme."""


@dataclass
class QuestionColumns:
    """The labels of a question, by item, person and part: a number per property of a label."""

    question: Question
    cells: array[int] = field(default_factory=lambda: array("l"))
    people: array[int] = field(default_factory=lambda: array("l"))
    values: array[int] = field(default_factory=lambda: array("l"))
    shown: array[int] = field(default_factory=lambda: array("b"))
    places: dict[tuple[str, str], int] = field(default_factory=dict)
    """Item id and part -> cell, in the order of their first label."""
    known_values: dict[Any, int] = field(default_factory=dict)

    def add(self, place: tuple[str, str], person: int, value: Any, shown: int) -> None:
        """Add a label."""
        self.cells.append(self.places.setdefault(place, len(self.places)))
        self.people.append(person)
        self.values.append(self.known_values.setdefault(value, len(self.known_values)))
        self.shown.append(shown)

    @property
    def counts(self) -> dict[Any, int]:
        """Value, or option of several, -> labels; the options first, in their order."""
        codes = list(self.known_values)
        found = Counter(codes[code] for code in self.values)
        if self.question.kind == "choices":
            return {
                str(one.value): sum(n for value, n in found.items() if has(value, one.value))
                for one in self.question.options
            }
        options = [one.value for one in self.question.options]
        return {value: found[value] for value in dict.fromkeys([*options, *codes])}

    def triples(self) -> Iterator[tuple[int, int, Any, int]]:
        """Yield cell, person, value and whether a suggestion was shown, per label."""
        codes = list(self.known_values)
        for cell, person, value, shown in zip(
            self.cells, self.people, self.values, self.shown, strict=True
        ):
            yield cell, person, codes[value], shown


@dataclass(frozen=True, slots=True)
class ItemWork:
    """The work of one person on one item."""

    done: bool
    """Whether all required questions are answered."""
    skipped: bool
    seconds: float
    """Time on the item until the last label; 0 if it is unknown."""
    day: str
    """The day of the last label."""


@dataclass
class LabelColumns:
    """All labels that count in a project's results: none of items that were withdrawn."""

    items: Mapping[str, AnnotationItem]
    """The items that count in results, without qualification items."""
    withdrawn: frozenset[str]
    people: dict[str, int] = field(default_factory=dict)
    questions: dict[str, QuestionColumns] = field(default_factory=dict)
    work: dict[tuple[str, int], ItemWork] = field(default_factory=dict)
    """Item id and person -> the person's work on it."""
    days: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Day and person -> labels."""

    @property
    def names(self) -> list[str]:
        """The people who gave a label, in order of their numbers."""
        return list(self.people)

    def rated(self, columns: QuestionColumns, shown: str | None = None) -> RatedValues:
        """Return the values of a question as the report of ratings has them.

        Args:
            columns: the question.
            shown: only the labels with a suggestion shown before, after or never; None: all.
        """
        names = self.names
        items: list[dict[str, float | str]] = [{} for _ in columns.places]
        wanted = None if shown is None else SHOWN.index(shown)
        for cell, person, value, seen in columns.triples():
            if wanted in (None, seen):
                items[cell][names[person]] = value
        # The order of the export: resampled intervals depend on it.
        order = {item_id: number for number, item_id in enumerate(self.items)}
        places = list(columns.places)
        cells = sorted(range(len(places)), key=lambda cell: order[places[cell][0]])
        queries = self.clusters(columns)
        rows = [dict(sorted(items[cell].items())) for cell in cells]
        return RatedValues(rows, [queries[cell] for cell in cells])

    def clusters(self, columns: QuestionColumns) -> Sequence[Hashable]:
        """Return the query of each cell."""
        return [self.items[item_id].query.query_id for item_id, _ in columns.places]


def label_columns(site: Site) -> LabelColumns:
    """Read the labels of a project."""
    gone = withdrawn_items(site.database)
    items = site.project.items
    kept = {key: one for key, one in items.items() if not one.known and key not in gone}
    found = LabelColumns(kept, frozenset(gone))
    # The table is in the order of items and people.
    by_work = groupby(site.database.labels(), key=lambda one: (one.item_id, one.person))
    for (item_id, person), labels in by_work:
        if item_id in kept:
            _add(found, site.project.scheme, kept[item_id], person, list(labels))
    return found


def _add(
    found: LabelColumns,
    scheme: Scheme,
    item: AnnotationItem,
    person: str,
    labels: Sequence[GivenLabel],
) -> None:
    """Add the labels that a person gave an item."""
    number = found.people.setdefault(person, len(found.people))
    own_parts = _own_parts(scheme, item, labels)
    known = {one.part_id for one in own_parts or ()}
    for label in labels:
        question = _question(scheme, label.field)
        if question is None:
            continue
        found.days[label.received[:10], number] += 1
        value = decided(question, label.value)
        if value is not None:
            columns = found.questions.get(question.name)
            if columns is None:
                columns = found.questions[question.name] = QuestionColumns(question)
            of_part = question.of == "part" and own_parts is not None
            if of_part and label.part not in known:
                continue
            part = part_text(label.part, own_parts or ()) if of_part else label.part
            columns.add((item.item_id, part), number, value, SHOWN.index(label.shown))
    found.work[item.item_id, number] = ItemWork(
        is_done(scheme, item, labels),
        any(one.field == SKIPPED for one in labels),
        max((one.seconds or 0.0 for one in labels), default=0.0),
        max(one.received[:10] for one in labels),
    )


def _question(scheme: Scheme, name: str) -> Question | None:
    """Return a question with values that can be compared, or None."""
    found = scheme.question(name)
    turns = any(one.of == "turn" for one in scheme.questions)
    return _RELEVANCE if found is None and turns and name == _RELEVANCE.name else found


def _own_parts(
    scheme: Scheme, item: AnnotationItem, labels: Iterable[GivenLabel]
) -> list[ItemPart] | None:
    """Return the parts that a person wrote or kept; None if nobody writes parts."""
    if not scheme.writes_parts:
        return None
    return parts_of(scheme, item, {(one.field, one.part): one.value for one in labels})


def decided(question: Question, value: Any) -> Any:
    """Return a value as the export has it; None for texts and lists of texts."""
    return plain_value(value) if question.kind in ("choice", "choices") else None


def has(value: Any, option: Any) -> bool:
    """Whether one of several options is part of a value of the export.

    >>> has("a;b", "b"), has("ab", "b")
    (True, False)
    """
    return str(option) in str(value).split(SEPARATOR)


def suggestion(question: Question, item: AnnotationItem, part: str) -> Any:
    """Return the model's label of a part of an item, or None."""
    value = item.suggested.get(question.name)
    if isinstance(value, Mapping):
        value = value.get(part)
    return None if value is None else decided(question, value)
