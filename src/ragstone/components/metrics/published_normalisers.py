"""The text normalisation of released scorers, for the variants that reproduce their figures.

docs/metrics.md lists their traps. The corrected forms use only `char_grams`.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Final

from ragstone.components.metrics.precision_recall import Overlap, rates

_SIGNS: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")
_ASCII_RUN: Final = re.compile("[a-z0-9]+")


def squad_normal(text: str) -> str:
    """Return lower case, no ASCII punctuation, no a / an / the, single spaces, in SQuAD's order.

    >>> squad_normal("Il y a dix ans, A. A. Milne")
    'il y dix ans milne'
    """
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_SIGNS)).split())


def squad_words(text: str) -> list[str]:
    """Return the words of the normalised text."""
    return squad_normal(text).split()


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
