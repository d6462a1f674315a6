"""Parts of an item: given by its file, or marked and written by a person."""

from __future__ import annotations

from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.parts import (
    ItemPart,
    part_text,
    parts_of,
    plain_parts,
    read_parts,
    written_parts,
)
from ragstone.annotation.tasks import own_scheme
from ragstone.types import Query

NUGGETS, SUPPORT = (own_scheme(name) for name in ("nuggets", "support"))
ITEM = AnnotationItem("q1", Query("q1", "When?"), parts=("It sails.", "At six."))
OWN = [{"id": "n7", "text": "It sails at six."}]


def test_a_label_has_parts_with_ids() -> None:
    """Plain texts have their place as id; what is not a part, or is empty, is left out."""
    assert read_parts(OWN) == [ItemPart("n7", "It sails at six.")]
    assert read_parts(["a", " ", {"id": 3, "text": "b"}, {"id": "n"}, None, "c"]) == [
        ItemPart("part:1", "a"),
        ItemPart("part:6", "c"),
    ]
    assert read_parts("It sails.") is None
    assert plain_parts(read_parts(OWN)) == OWN
    assert plain_parts(None) is None


def test_parts_of_a_person_replace_those_of_the_item() -> None:
    """An empty list is a list; a scheme without such a question has the parts of the item."""
    given = [ItemPart("part:1", "It sails."), ItemPart("part:2", "At six.")]
    assert parts_of(NUGGETS, ITEM, {}) == given
    assert parts_of(NUGGETS, ITEM, {("nugget", ""): OWN}) == [ItemPart("n7", "It sails at six.")]
    assert parts_of(NUGGETS, ITEM, {("nugget", ""): []}) == []
    assert parts_of(SUPPORT, ITEM, {("nugget", ""): OWN}) == given
    assert written_parts(NUGGETS, {("nugget", ""): "damaged"}) is None


def test_the_text_of_a_part_is_its_name_if_no_other_part_has_it() -> None:
    """Else, and if the part is unknown, the id is."""
    parts = [ItemPart("n1", "a"), ItemPart("n2", "b"), ItemPart("n3", "b")]
    assert [part_text(one, parts) for one in ("n1", "n2", "n9")] == ["a", "n2", "n9"]
