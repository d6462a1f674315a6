"""The required labels of an item, whether it is done, and which known labels are right."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.disagreements import comparable
from ragstone.annotation.parts import parts_of

if TYPE_CHECKING:
    from ragstone.annotation.events import GivenLabel
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.schemes import Question, Scheme

SUBMITTED: Final = "submitted"
"""The field of the label that ends a conversation."""


def is_done(scheme: Scheme, item: AnnotationItem, labels: Iterable[GivenLabel]) -> bool:
    """Whether all required questions are answered, by the labels that one person gave an item.

    A conversation is done if its writer submitted it.
    """
    given = {(one.field, one.part): one.value for one in labels}
    if any(one.of == "turn" for one in scheme.questions):
        return bool(given.get((SUBMITTED, "")))
    return all(place in given for place in places(scheme, item, given))


def places(
    scheme: Scheme, item: AnnotationItem, given: Mapping[tuple[str, str], Any]
) -> Iterator[tuple[str, str]]:
    """Yield (field, part) of each required label of an item.

    The parts of an item are its own, or those that the person wrote (`given`). An answer of a
    system that failed needs no label.
    """
    for question in scheme.questions:
        if not question.optional:
            for part in _parts(scheme, question, item, given):
                yield question.name, part


def _parts(
    scheme: Scheme,
    question: Question,
    item: AnnotationItem,
    given: Mapping[tuple[str, str], Any],
) -> list[str]:
    match question.of:
        case "answer":
            return [one.part for one in item.answers if one.text is not None]
        case "passage":
            return [one.passage_id for one in item.passages]
        case "part":
            return list(statements(scheme, item, given))
    return [""]


def statements(
    scheme: Scheme, item: AnnotationItem, given: Mapping[tuple[str, str], Any]
) -> dict[str, str]:
    """Return part -> text of the statements that a person wrote (`given`), or of the item's own."""
    return {one.part_id: one.text for one in parts_of(scheme, item, given)}


def right_labels(
    scheme: Scheme, item: AnnotationItem, labels: Iterable[GivenLabel]
) -> tuple[int, int]:
    """Return how many known labels of a qualification item a person has right, and their number.

    A known label that the person did not give, because the item was skipped, is not right.
    """
    given = {(one.field, one.part): comparable(one.value) for one in labels}
    known = {place: comparable(value) for place, value in _known_labels(scheme, item)}
    return sum(given.get(place) == value for place, value in known.items()), len(known)


def _known_labels(scheme: Scheme, item: AnnotationItem) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield each known label with its place; the only part of its kind needs no name."""
    for field, value in item.known.items():
        question = scheme.question(field)
        if isinstance(value, dict):
            yield from (((field, part), one) for part, one in value.items())
        elif question is not None and len(parts := _parts(scheme, question, item, {})) == 1:
            yield (field, parts[0]), value
        else:
            yield (field, ""), value
