"""Words of a text in any script, for lexical retrieval."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import Final

from ragstone.text.scripts import UNSPACED, marks

_ALPHANUMERIC: Final = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

PLAIN: Final = bytes(
    byte if byte in _ALPHANUMERIC or byte > ord("\x7f") else ord(" ") for byte in range(256)
).lower()
"""Byte of a text in UTF-8 -> its replacement: letters in lower case, ASCII separators as spaces."""


def words(text: str) -> list[str]:
    """Return the lower-cased alphanumeric words of a text, in order.

    Full-width and other compatible forms count as the plain ones (Unicode NFKC). In scripts without
    spaces between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese), each pair of neighbouring
    characters is a word.

    >>> words("BM25's naïve Tokenizer, in 1994.")
    ['bm25', 's', 'naïve', 'tokenizer', 'in', '1994']
    >>> words("東京都 2020")
    ['東京', '京都', '2020']
    """
    return split(normal(text))


def normal(text: str) -> str:
    """Return a text in the normal form for splitting."""
    # NFKC does not change ASCII.
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()


def split(text: str) -> list[str]:
    """Return the words of a text in its normal form."""
    if text.isascii():
        return text.encode().translate(PLAIN).decode().split()
    found: list[str] = []
    for word, unspaced in _pattern().findall(text):
        pairs = (first + second for first, second in pairwise(unspaced))
        found += pairs if len(unspaced) > 1 else [word or unspaced]
    return found


@cache
def _pattern() -> re.Pattern[str]:
    """Match a word (group 1) or a run of characters of an unspaced script (group 2)."""
    # Marks (vowel signs, accents) belong to the word before them, but `\w` does not match them.
    word = rf"[^\W_{UNSPACED}](?:[^\W_{UNSPACED}]|[{marks()}])*"
    run = rf"(?=[^\W_])[{UNSPACED}](?:(?=[^\W_]|[{marks()}])[{UNSPACED}])*"
    return re.compile(f"({word})|({run})")
