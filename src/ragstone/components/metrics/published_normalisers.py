"""The text normalisation of released scorers, for the variants that reproduce their figures.

docs/metrics.md lists their traps. The corrected forms use only `char_grams`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.fast_tokens import blank_separated
from ragstone.components.metrics.precision_recall import Overlap, rates
from ragstone.core import limits
from ragstone.text.normalise import ARTICLES

if TYPE_CHECKING:
    from ragstone.components.metrics.fast_tokens import Tokens

_SIGNS: Final = str.maketrans("", "", string.punctuation)
_LONG: Final = 10_000
"""Characters of a text that is not cached."""
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_ASCII_RUN: Final = re.compile("[a-z0-9]+")


def squad_normal(text: str) -> str:
    """Return lower case, no ASCII punctuation, no a / an / the, single spaces, in SQuAD's order.

    >>> squad_normal("Il y a dix ans, A. A. Milne")
    'il y dix ans milne'
    """
    return _squad_normal(text) if len(text) < _LONG else _squad_normal.__wrapped__(text)


@lru_cache(maxsize=limits.CACHED_CUTS)
def _squad_normal(text: str) -> str:
    bare = text.lower().translate(_SIGNS)
    words = bare.split()
    if bare.isascii() and "".join(words).isprintable():
        return " ".join([word for word in words if word not in ARTICLES])
    return " ".join(_ARTICLES.sub(" ", bare).split())


def squad_words(text: str) -> list[str]:
    """Return the words of the normalised text."""
    return squad_normal(text).split()


_PIECE_BYTES: Final = bytes(
    byte if not byte or byte in b"abcdefghijklmnopqrstuvwxyz0123456789" else ord(" ")
    for byte in range(256)
)
"""Byte -> byte: all but ASCII letters and digits become blanks; ends of texts stay."""


def squad_tokens(texts: Sequence[str]) -> Tokens:
    """Return the words of `squad_words` of many texts."""
    return blank_separated(list(map(squad_normal, texts)))


def ascii_tokens(texts: Sequence[str]) -> Tokens:
    """Return the pieces of `ascii_pieces` of many texts."""
    return blank_separated([text.lower() for text in texts], _PIECE_BYTES)


def mirage_overlap(answer: str, gold: Sequence[str]) -> Overlap:
    """Return MIRAGE's overlap: sets of lower-case words, one set for all gold answers.

    >>> round(mirage_overlap("NYC", ["NYC", "New York"]).f1, 3)
    0.5
    """
    words = set(answer.lower().split())
    gold_words = {word for label in gold for word in label.lower().split()}
    return rates(len(words & gold_words), len(words), len(gold_words))


def ascii_pieces(text: str) -> list[str]:
    """Return Google's ROUGE tokens: runs of ASCII letters and digits, in lower case, unstemmed.

    >>> ascii_pieces("Café, 北京!")
    ['caf']
    """
    return _ASCII_RUN.findall(text.lower())


def char_grams(word: str, n: int) -> list[str]:
    """Return the character n-grams of a word; the whole word if it is shorter.

    >>> char_grams("seine", 3), char_grams("is", 3)
    (['sei', 'ein', 'ine'], ['is'])
    """
    return [word[i : i + n] for i in range(max(1, len(word) - n + 1))]
