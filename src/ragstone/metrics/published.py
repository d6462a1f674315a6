"""Text handling of released scorers, to the letter, for the variants that reproduce their figures.

Their traps are listed in docs/metrics.md; nothing here is used by a corrected form.
"""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from typing import Final

from ragstone.metrics.overlap import Overlap

_SIGNS: Final = str.maketrans("", "", string.punctuation)
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


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
