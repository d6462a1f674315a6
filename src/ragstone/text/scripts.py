"""Writing systems: scripts without spaces between words, and combining marks."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import groupby
from typing import Final

UNSPACED: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts without spaces between words, as ranges of a character class."""


@cache
def marks() -> str:
    """Return the combining marks (vowel signs, accents) as ranges of a character class."""
    found = [c for c in map(chr, range(0x300, 0x20000)) if unicodedata.category(c) in ("Mn", "Mc")]
    groups = groupby(enumerate(found), lambda pair: ord(pair[1]) - pair[0])
    runs = [[character for _, character in group] for _, group in groups]
    return "".join(f"{run[0]}-{run[-1]}" for run in runs)


def is_unspaced(text: str) -> bool:
    """Return whether more than half of a text's letters are in scripts without spaces.

    >>> is_unspaced("東京都 2020 (Tokyo)"), is_unspaced("서울은 수도이다"), is_unspaced("")
    (False, False, False)
    >>> is_unspaced("東京は日本の首都 (Tokyo) です")
    True
    """
    if text.isascii():
        return False
    unspaced = sum(len(run) for run in _unspaced_letters().findall(text))
    return 2 * unspaced > sum(map(str.isalpha, text))


@cache
def _unspaced_letters() -> re.Pattern[str]:
    # Thai vowel signs are marks, not letters, and must not be counted.
    return re.compile(rf"(?:[{UNSPACED}](?<![\d{marks()}]))+")
