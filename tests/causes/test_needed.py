"""Whether a processor left the text that an answer needs."""

from __future__ import annotations

import pytest

from ragstone.causes.needed import keeps_answer

TEXT = "The bridge opened in 1912. It was designed by Ada Brown of Leeds. It is red."
LONG = "it was designed by Ada Brown of Leeds, is red, and opened in 1912 as a bridge for trains"


@pytest.mark.parametrize(
    ("after", "answers", "kept"),
    [
        ("It was designed by Ada Brown of Leeds.", ["Ada Brown"], True),
        ("The bridge opened in 1912.", ["Ada Brown"], False),
        ("It was designed by Ada", ["Ada Brown"], False),
        ("The bridge opened in 1912.", ["Ada Brown", "1912"], True),
        ("designed by Ada Brown of Leeds, opened in 1912", [LONG], True),
        ("It is red.", [LONG], False),
        ("It is red.", [], True),
        ("It is red.", ["Zürich"], True),
        ("It is red.", ["?"], True),
        (" ", [], False),
        ("", ["Zürich"], False),
    ],
)
def test_the_words_of_a_gold_answer_have_to_be_left(
    after: str, answers: list[str], kept: bool
) -> None:
    """All words of a short answer, half of a long one; any text if they never were there."""
    assert keeps_answer(TEXT, after, answers) is kept
