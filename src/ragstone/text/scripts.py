"""Writing systems: scripts without spaces between words, and combining marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
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
LANGUAGES_OF_SCRIPT: Final[Mapping[str, tuple[str, ...]]] = {
    script: tuple(languages.split())
    for script, languages in {
        "ARABIC": "ar fa ur ps az kk ky ug",
        "ARMENIAN": "hy",
        "BENGALI": "bn",
        "CJK": "zh ja ko",
        "CYRILLIC": "ru uk be bg mk sr bs kk ky mn tg uz az",
        "DEVANAGARI": "hi mr ne",
        "ETHIOPIC": "am",
        "GEORGIAN": "ka",
        "GREEK": "el",
        "GUJARATI": "gu",
        "GURMUKHI": "pa",
        "HANGUL": "ko",
        "HEBREW": "he yi",
        "HIRAGANA": "ja",
        "KANNADA": "kn",
        "KATAKANA": "ja",
        "KHMER": "km",
        "LAO": "lo",
        "MALAYALAM": "ml",
        "MYANMAR": "my",
        "ORIYA": "or",
        "SINHALA": "si",
        "TAMIL": "ta",
        "TELUGU": "te",
        "THAI": "th",
        "TIBETAN": "bo",
    }.items()
}
"""First word of a letter's Unicode name -> languages of the script, the most widely used first.

Latin is left out: names in Latin letters occur in all languages.
"""


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
