"""Many texts folded at once: the same as one by one."""

from __future__ import annotations

import random

import pytest

from ragstone.text.fold_many import END, fold_joined
from ragstone.text.normalise import fold

ASCII = ["a", "The", " ", ".", ",", "-", "'", "%", "$", "5", "12", "1,000", "c++", "km", "million"]
MARKED = [
    "\u00e9",
    "e\u0301",
    "A\u030a",
    "\u0130",
    "\u00df",
    "\u1e96",
    "H\u0331",
    "\u03a3",
    "\u03c2",
]
FORMS = ["\ufb01", "\uff21", "\uff11", "\u0663", "\u00bd", "\u00b2", "\u0344", "\u0308", "\u00a8"]
DENSE = [
    "\u6771\u4eac",
    "\u304b\u3099",
    "\ud55c\uad6d",
    "\u0e44\u0e17\u0e22",
    "\u0e33",
    "\u05e9\u05c1",
]
SIGNS = [
    "\u00ad",
    "\u200d",
    "\u00a0",
    "\x1b",
    "\x07",
    "\n",
    "\0",
    "\u20ac",
    "\u266f",
    "\u2026",
    "\u2019",
]
RARE = ["\uab70", "\u13a0", "\U0001f600", "\u2013", "\U000f0041", "\x85", "\u2028"]
PARTS = [*ASCII, *MARKED, *FORMS, *DENSE, *SIGNS, *RARE]


@pytest.mark.parametrize("language", ["", "en", "de"])
def test_folding_at_once_equals_folding_one_by_one(language: str) -> None:
    """5,000 texts of mixed scripts, signs, numbers and marks; ASCII signs alone stay."""
    draw = random.Random(7)  # noqa: S311 - any texts
    texts = ["".join(draw.choices(PARTS, k=draw.randint(0, 9))) for _ in range(5000)]

    found = fold_joined(texts, language).split(END)

    for text, folded in zip(texts, found, strict=True):
        one = fold(text, language)
        if any(map(str.isalnum, text)):
            assert folded == one, repr(text)
        elif not text.isascii():  # signs alone are held
            assert folded.split() == one.split(), repr(text)


def test_no_text_gives_no_text() -> None:
    """No text, and one empty text, are an empty text."""
    assert fold_joined([]) == fold_joined([""]) == ""
