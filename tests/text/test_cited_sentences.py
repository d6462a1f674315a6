"""Sentences and their citations in the spellings of today's systems."""

from __future__ import annotations

import pytest

from ragstone.text.cited_sentences import cited_sentences


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("It is old [1].", (1,)),
        ("It is old. [1]", (1,)),
        ("It is old [1][2].", (1, 2)),
        ("It is old [1, 2; 5].", (1, 2, 5)),
        ("It is old [2][1, 2]. [1]", (2, 1)),
        ("It is old [1-3].", (1, 2, 3)),
        ("It is old [3-1].", (1, 2, 3)),
        ("It is old [1–3].", (1, 2, 3)),  # noqa: RUF001 - a dash
        ("It is old [^1^].", (1,)),
        ("It is old.[^2]", (2,)),
        ("It is old 【4】.", (4,)),
        ("It is old [Document 2].", (2,)),
        ("It is old (1).", (1,)),
        ("It is old (1-2).", (1, 2)),
        ("It is of 1912 (1912).", ()),
        ("(1) It is old.", ()),
        ("It is [old].", ()),
    ],
)
def test_each_spelling_of_a_citation(answer: str, cited: tuple[int, ...]) -> None:
    """The sentence is left without it; a year and a number of a list are no citations."""
    ((text, found),) = cited_sentences(answer)

    assert found == cited
    assert text.endswith(".")


def test_round_brackets_are_text_beside_square_ones() -> None:
    """An answer has one spelling."""
    assert cited_sentences("It has two (2) arches [1].") == [("It has two (2) arches.", (1,))]


def test_abbreviations_and_decimals_end_no_sentence() -> None:
    """Titles, initials, units and numbers."""
    answer = "Dr. J. Low of the U.S. Navy rose by 3.5 m. [1] He left in 1912. Then? [2]"

    assert cited_sentences(answer) == [
        ("Dr. J. Low of the U.S. Navy rose by 3.5 m.", (1,)),
        ("He left in 1912.", ()),
        ("Then?", (2,)),
    ]


def test_a_long_answer_is_read_in_linear_time() -> None:
    """Open brackets, abbreviations without an end, and long white space."""
    assert len(cited_sentences("[1" * 50_000)) == 1
    assert len(cited_sentences("Dr. " * 50_000)) == 1
    assert len(cited_sentences("It" + " " * 500_000 + "is old.")) == 1
    assert cited_sentences("") == []
