"""HTML tags and entities."""

from __future__ import annotations

import pytest

from ragstone.data_quality.markup import without_entities, without_tags


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('<a href="x.html">A</a> and <b>B</b>', "A and B"),
        ("one<br>two<!-- three -->", "one two"),
        ("if a < b and c > d, Vec<u8> or <T>", "if a < b and c > d, Vec<u8> or <T>"),
    ],
)
def test_tags_go_and_comparisons_stay(text: str, expected: str) -> None:
    """A sign of comparison, or a type of a programming language, is not a tag."""
    assert without_tags(text) == expected


def test_entities_are_decoded_until_none_is_left() -> None:
    """Twice escaped text needs two steps."""
    assert without_entities("R&amp;amp;D &#39;x&#39;") == "R&D 'x'"
