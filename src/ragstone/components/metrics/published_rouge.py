"""ROUGE of the package `rouge`, which BERGEN uses: case kept, n-grams as sets.

Not comparable with Google's `rouge_score`: sentences are split at every full stop, words only at
white space, and a perfect answer gets 0.999999995.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from ragstone.core import limits

_EPSILON: Final = 1e-8
_LONG: Final = 10_000
"""Characters of a text that is not cached."""


def pltrdy_rouge(answer: str, gold: str, n: int) -> float:
    """Return ROUGE-n (n 1 or 2) or, for n 0, ROUGE-L at summary level; 0 if one has no words.

    >>> pltrdy_rouge("Paris", "Paris", 1), pltrdy_rouge("paris", "Paris", 1)
    (0.999999995, 0.0)
    """
    answered, expected = _sentences(answer), _sentences(gold)
    if not answered or not expected:
        return 0.0  # the package raises, and BERGEN counts that as 0
    if n == 0:
        return _summary_level(answered, expected)
    ours, theirs = _grams(answered, n), _grams(expected, n)
    return _mean_of_rates(len(ours & theirs), len(ours), len(theirs))


def _sentences(text: str) -> list[list[str]]:
    return _cut(text) if len(text) < _LONG else _cut.__wrapped__(text)


@lru_cache(maxsize=limits.CACHED_CUTS)
def _cut(text: str) -> list[list[str]]:
    # As in the package, a blank sentence has one empty word: "".split(" ") is [""].
    return [" ".join(part.split()).split(" ") for part in text.split(".") if part]


def _grams(sentences: Sequence[Sequence[str]], n: int) -> set[tuple[str, ...]]:
    flat = [word for sentence in sentences for word in sentence]
    return {tuple(flat[i : i + n]) for i in range(len(flat) - n + 1)}


def _mean_of_rates(shared: int, answer: int, gold: int) -> float:
    precision, recall = shared / answer if answer else 0.0, shared / gold if gold else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + _EPSILON))


def _summary_level(answer: list[list[str]], gold: list[list[str]]) -> float:
    union = {word for one in gold for other in answer for word in _common_words(one, other)}
    return _mean_of_rates(
        len(union), len({w for s in answer for w in s}), len({w for s in gold for w in s})
    )


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
