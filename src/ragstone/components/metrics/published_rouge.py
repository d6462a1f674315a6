"""ROUGE of the package `rouge`, which BERGEN uses: case kept, n-grams as sets.

Not comparable with Google's `rouge_score`: sentences are split at every full stop, words only at
white space, and a perfect answer gets 0.999999995.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Final

from ragstone.core import limits

_EPSILON: Final = 1e-8
_LONG: Final = 10_000
"""Characters of a text that is not cached."""


def pltrdy_rouge(answer: str, gold: str, n: int) -> float:
    """Return ROUGE-n (n 1 or 2) or, for n 0, ROUGE-L at summary level; 0 if one has no words.

    >>> pltrdy_rouge("Paris", "Paris", 1), pltrdy_rouge("paris", "Paris", 1)
    (0.999999995, 0.0)
    """
    answered, expected = _text(answer), _text(gold)
    if not answered.sentences or not expected.sentences:
        return 0.0  # the package raises, and BERGEN counts that as 0
    if n == 0:
        return _summary_level(answered, expected)
    ours, theirs = _grams(answered, n), _grams(expected, n)
    return _mean_of_rates(len(ours & theirs), len(ours), len(theirs))


class _Text:
    """A text cut into sentences and words."""

    def __init__(self, text: str) -> None:
        # As in the package, a blank sentence has one empty word: "".split(" ") is [""].
        self.sentences = [" ".join(part.split()).split(" ") for part in text.split(".") if part]
        self.words = set(chain.from_iterable(self.sentences))


def _text(text: str) -> _Text:
    return _kept(text) if len(text) < _LONG else _Text(text)


_kept: Final = lru_cache(maxsize=limits.CACHED_CUTS)(_Text)


def _grams(text: _Text, n: int) -> set[Any]:
    if n == 1:
        return text.words
    words = list(chain.from_iterable(text.sentences))
    return set(zip(*(words[start:] for start in range(n)), strict=False))


def _mean_of_rates(shared: int, answer: int, gold: int) -> float:
    precision, recall = shared / answer if answer else 0.0, shared / gold if gold else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + _EPSILON))


def _summary_level(answer: _Text, gold: _Text) -> float:
    union = set[str]()
    if not answer.words.isdisjoint(gold.words):
        for one in gold.sentences:
            for other in answer.sentences:
                union |= _common_words(one, other)
    return _mean_of_rates(len(union), len(answer.words), len(gold.words))


def _common_words(left: Sequence[str], right: Sequence[str]) -> set[str]:
    """Return the words of one longest common subsequence, the same as in the package."""
    known = set(left)
    common = known.intersection(right)
    if len(common) <= 1:
        return common
    # A word of the right side alone never is where the search below ends a step to the left.
    right = [word for word in right if word in known]
    both = set(right)
    lengths = [[0] * (len(right) + 1)]
    for word in left:
        lengths.append(_row(word, right, lengths[-1]) if word in both else lengths[-1])
    i, j, found = len(left), len(right), []
    while i and j:
        if left[i - 1] == right[j - 1]:
            i, j = i - 1, j - 1
            found.append(left[i])
        elif lengths[i - 1][j] > lengths[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return set(found)


def _row(word: str, right: Sequence[str], above: Sequence[int]) -> list[int]:
    row = [0]
    for j, other in enumerate(right):
        row.append(above[j] + 1 if word == other else max(above[j + 1], row[j]))
    return row
