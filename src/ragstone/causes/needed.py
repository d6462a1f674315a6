"""Whether a processor left the text that an answer needs in a passage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.text.normalise import pieces_without_articles

_SHORT: Final = 10
"""Maximum number of different words of a short answer."""
_HALF: Final = 0.5
"""Share of a long answer's words that must be left."""


def keeps_answer(before: str, after: str, answers: Sequence[str]) -> bool:
    """Return whether a shortened passage still has the words of a gold answer that it had.

    The gold answer of which most words were in the passage counts: all that were there if it is
    short, or else half of them. Without gold answers, or if the passage had none of their words,
    any text that is left counts as enough.

    >>> keeps_answer("Oil. It opened in 1912.", "It opened in 1912.", ["1912"])
    True
    >>> keeps_answer("Oil. It opened in 1912.", "Oil.", ["1912", "in 1912"])
    False
    """
    had, left = (set(pieces_without_articles(text)) for text in (before, after))
    wanted = [set(pieces_without_articles(answer)) for answer in answers]
    shares = [(len(words & had) / len(words), words & had) for words in wanted if words]
    best = max((share for share, _ in shares), default=0.0)
    if not best:
        return bool(after.strip())
    held = [words for share, words in shares if share == best]
    return any(len(words & left) >= _minimum(words) * len(words) for words in held)


def _minimum(words: set[str]) -> float:
    return 1.0 if len(words) <= _SHORT else _HALF
