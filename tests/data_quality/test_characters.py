"""Invisible and look-alike characters are removed, and needed ones stay."""

from __future__ import annotations

import pytest

from ragstone.data_quality.characters import without_invisible, without_look_alikes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("re\u200btri\u00adeval", "retrieval"),
        ("\ufeff中国", "中国"),
        ("\u200eplain\u200f", "plain"),
        ("\u200f\u0645\u0631", "\u200f\u0645\u0631"),
        ("\u0645\u06cc\u200c\u062e\u0648", "\u0645\u06cc\u200c\u062e\u0648"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_invisible_characters_go_if_no_script_needs_them(text: str, expected: str) -> None:
    """Persian, emoji and marks of direction in Arabic keep theirs."""
    assert without_invisible(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p\u0430ypal", "paypal"),
        ("\u041co\u0441\u043a\u0432\u0430", "\u041c\u043e\u0441\u043a\u0432\u0430"),
        ("TNF\u03b1 and \u03bcm", "TNF\u03b1 and \u03bcm"),
        ("\u2f00\u4e2a", "一个"),
        ("\ufe8d\ufedf", "\u0627\u0644"),
    ],
)
def test_words_of_two_scripts_become_one(text: str, expected: str) -> None:
    """A Greek letter that looks like no Latin one stays, as in units and names of proteins."""
    assert without_look_alikes(text) == expected
