"""Labels of other tools, or of an earlier export, as events of a project."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from ragstone.annotation.events import Event
from ragstone.annotation.rating_export import rating_places
from ragstone.data.taxonomy import SEPARATOR
from ragstone.errors import DatasetError, did_you_mean

if TYPE_CHECKING:
    from ragstone.annotation.database import Database
    from ragstone.annotation.events import GivenLabel
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.project import Project
    from ragstone.annotation.schemes import Question, Scheme
    from ragstone.data.readers.ratings import HumanRating

_PLACE: Final = ("query_id", "system", "setting", "against", "passage_id", "part")


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """Numbers of ratings of a file, by outcome."""

    kept: int
    known: int
    """Ratings that were imported before, or that equal the label of their rater."""
    others: int
    """Ratings of queries, answers and passages that no item of the project has."""


def import_ratings(
    project: Project, database: Database, ratings: Iterable[HumanRating]
) -> ImportCounts:
    """Keep ratings as labels by their raters; a second import of a file changes nothing.

    A rating with the value that its rater's label has is not kept: the label stays as it is.

    Raises `DatasetError`, with file and line, for a value that the scheme does not have.
    """
    found: dict[str, list[Event]] = {}
    held = {(one.person, one.item_id, one.field, one.part): one.value for one in database.labels()}
    others = equal = 0
    for one, label in placed(project.items, project.scheme, ratings):
        if label is None:
            others += 1
            continue
        event, events = _event(project, one, label), found.setdefault(one.rater, [])
        if held.get((one.rater, event.item_id, event.field, event.part)) == event.value:
            equal += 1
        else:
            events.append(event)
    if not found:
        names = ", ".join(question.name for question in project.scheme.questions)
        raise DatasetError(
            f"none of the {others:,} ratings is of an item of {project.name!r}; its questions are "
            f"{names}"
        )
    before = database.count()
    total = sum(map(len, found.values()))
    for person, events in found.items():
        database.append(person, events)
    kept = database.count() - before
    return ImportCounts(kept, total - kept + equal, others)


def placed(
    items: Mapping[str, AnnotationItem], scheme: Scheme, ratings: Iterable[HumanRating]
) -> Iterator[tuple[HumanRating, GivenLabel | None]]:
    """Yield each rating with the place of its label; None if no item has the rated object."""
    places = {_key(row): label for row, label in rating_places(items, scheme)}
    for one in ratings:
        row = {name: getattr(one.item, name) for name in _PLACE} | {"property": one.property}
        yield one, places.get(_key(row))


def with_suggestions(
    items: Iterable[AnnotationItem], scheme: Scheme, ratings: Sequence[HumanRating]
) -> list[AnnotationItem]:
    """Return items with the ratings of a model as its suggestions.

    Raises `DatasetError` if none of the ratings is of an item, or a value is not an option.
    """
    by_id = {one.item_id: one for one in items}
    found: dict[str, dict[str, Any]] = {}
    for one, label in placed(by_id, scheme, ratings):
        question = scheme.question(one.property)
        if label is not None and question is not None:
            value, held = _value(one, question), found.setdefault(label.item_id, {})
            if label.part:
                held.setdefault(label.field, {})[label.part] = value
            else:
                held[label.field] = value
    if not found:
        raise DatasetError(
            f"none of the {len(ratings):,} suggestions is of an item; they name a query and its "
            f"passage or system, and one of: {', '.join(one.name for one in scheme.questions)}"
        )
    return [
        replace(one, suggested={**one.suggested, **found.get(one.item_id, {})})
        for one in by_id.values()
    ]


def _key(row: dict[str, Any]) -> tuple[str, ...]:
    return tuple(str(row.get(name) or "") for name in (*_PLACE, "property"))


def _event(project: Project, rating: HumanRating, place: GivenLabel) -> Event:
    question = project.scheme.question(place.field)
    value = _value(rating, question) if question is not None else rating.value
    content = [rating.rater, place.item_id, place.field, place.part, value, rating.time]
    client_id = f"import-{hashlib.sha256(orjson.dumps(content)).hexdigest()[:32]}"
    return Event(client_id, "label", place.item_id, place.field, place.part, value, rating.shown)


def _value(rating: HumanRating, question: Question) -> Any:
    """Return the value of a rating as an answer to a question."""
    if question.kind == "text":
        return str(rating.value)
    texts = {str(one.value): one.value for one in question.options}
    several = question.kind == "choices"
    given = str(rating.value).split(SEPARATOR) if several else [_plain(rating.value)]
    for one in given:
        if one not in texts:
            problem = f"the question {question.name!r} has no option {one!r}"
            raise rating.error(problem + did_you_mean(one, texts))
    return [texts[one] for one in given] if several else texts[given[0]]


def _plain(value: float | str) -> str:
    """Return a value as text; a whole number may be written with a point."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
