"""Parts: the statements of an item, given by its file or marked and written by a person.

A label of a question of the kind `parts` is a list of `{"id", "text"}`. The id is made where the
part is made, and stays if the text is edited; a label of the part names it. A plain text in the
list, and each part of the item's file, has its place as its id: `part:1`, `part:2`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.annotation.items import AnnotationItem
    from ragstone.annotation.schemes import Scheme


@dataclass(frozen=True, slots=True)
class ItemPart:
    """A statement."""

    part_id: str
    text: str


def read_parts(value: object) -> list[ItemPart] | None:
    """Return the parts of a label, or None if it is not a list; anything else in it is left out.

    >>> read_parts(["It sails.", {"id": "n7", "text": "At six."}])
    [ItemPart(part_id='part:1', text='It sails.'), ItemPart(part_id='n7', text='At six.')]
    """
    return list(_parts(value)) if isinstance(value, list | tuple) else None


def _parts(value: Sequence[object]) -> Iterator[ItemPart]:
    for number, one in enumerate(value, 1):
        made = ItemPart(f"part:{number}", one) if isinstance(one, str) else _written(one)
        if made is not None and made.text.strip():
            yield made


def _written(one: object) -> ItemPart | None:
    part_id, text = (one.get("id"), one.get("text")) if isinstance(one, dict) else (None, None)
    return ItemPart(part_id, text) if isinstance(part_id, str) and isinstance(text, str) else None


def plain_parts(parts: Sequence[ItemPart] | None) -> list[dict[str, str]] | None:
    """Return parts as a label has them."""
    return None if parts is None else [{"id": one.part_id, "text": one.text} for one in parts]


def written_parts(scheme: Scheme, given: Mapping[tuple[str, str], Any]) -> list[ItemPart] | None:
    """Return the parts that a person marked or wrote; None if there is no such label.

    Args:
        scheme: the questions.
        given: (question, part) -> the person's label.
    """
    labels = (given.get((one.name, "")) for one in scheme.questions if one.kind == "parts")
    return next((found for one in labels if (found := read_parts(one)) is not None), None)


def parts_of(
    scheme: Scheme, item: AnnotationItem, given: Mapping[tuple[str, str], Any]
) -> list[ItemPart]:
    """Return the parts of an item for a person: those that the person wrote, or its own."""
    written = written_parts(scheme, given)
    return list(_parts(item.parts)) if written is None else written


def part_text(part_id: str, parts: Sequence[ItemPart]) -> str:
    """Return the text of a part; its id if the part is unknown or another one has its text."""
    texts = [one.text for one in parts]
    text = next((one.text for one in parts if one.part_id == part_id), part_id)
    return part_id if texts.count(text) > 1 else text
