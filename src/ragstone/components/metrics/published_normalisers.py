"""Text handling of released scorers, to the letter, for the variants that reproduce their figures.

Their traps are listed in docs/metrics.md; nothing here is used by a corrected form.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Final

from ragstone.components.metrics.precision_recall import Overlap

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
    """Return MIRAGE's overlap: sets of lower-case words, all gold answers united into one set.

    >>> round(mirage_overlap("NYC", ["NYC", "New York"]).f1, 3)
    0.5
    """
    said = set(answer.lower().split())
    wanted = {word for label in gold for word in label.lower().split()}
    shared = len(said & wanted)
    if not shared:
        return Overlap()
    precision, recall = shared / len(said), shared / len(wanted)
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def ascii_pieces(text: str) -> list[str]:
    """Return Google's ROUGE tokens: runs of ASCII letters and digits, in lower case, unstemmed.

    >>> ascii_pieces("Café, 北京!")
    ['caf']
    """
    return _ASCII_RUN.findall(text.lower())


def squad_char3(text: str) -> list[str]:
    """Return BERGEN's 3-grams: inside the words of the normalised text, short words whole.

    >>> squad_char3("The Seine is")
    ['sei', 'ein', 'ine', 'is']
    """
    return [gram for word in squad_words(text) for gram in char_grams(word, 3)]


def char_grams(word: str, n: int) -> list[str]:
    """Return the character n-grams of a word; a word that is shorter, whole."""
    return [word[i : i + n] for i in range(max(1, len(word) - n + 1))]
