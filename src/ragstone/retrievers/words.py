"""Words of a text in any script, as lexical retrievers count them."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from itertools import groupby, pairwise
from typing import Final

_UNSPACED: Final = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Myanmar
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
"""Scripts that put no spaces between words."""


def words(text: str) -> list[str]:
    """Return the lower-cased alphanumeric words of a text, in order.

    Full-width and other compatible forms count as the plain ones (Unicode NFKC). Where a script
    puts no space between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), each pair of
    neighbouring characters is a word.

    >>> words("BM25's naïve Tokenizer, in 1994.")
    ['bm25', 's', 'naïve', 'tokenizer', 'in', '1994']
    >>> words("東京都 2020")
    ['東京', '京都', '2020']
    """
    found: list[str] = []
    for word, unspaced in _pattern().findall(unicodedata.normalize("NFKC", text).lower()):
        if len(unspaced) > 1:
            found.extend(first + second for first, second in pairwise(unspaced))
        else:
            found.append(word or unspaced)
    return found


@cache
def _pattern() -> re.Pattern[str]:
    """Match a word (group 1) or a run of characters of an unspaced script (group 2)."""
    # Marks (vowel signs, accents) belong to the word before them, but `re` calls them no letters.
    marks = _marks()
    word = rf"[^\W_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[{marks}])*"
    run = rf"(?=[^\W_])[{_UNSPACED}](?:(?=[^\W_]|[{marks}])[{_UNSPACED}])*"
    return re.compile(f"({word})|({run})")


def _marks() -> str:
    """Return the combining marks as ranges of a character class."""
    points = [p for p in range(0x300, min(0x20000, sys.maxunicode)) if _is_mark(chr(p))]
    runs = [
        [p for _, p in run] for _, run in groupby(enumerate(points), lambda pair: pair[1] - pair[0])
    ]
    return "".join(f"{chr(run[0])}-{chr(run[-1])}" for run in runs)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character) in ("Mn", "Mc")
