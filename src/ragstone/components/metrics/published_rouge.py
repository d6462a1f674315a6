"""ROUGE of the package `rouge`, which BERGEN uses: case kept, n-grams as sets.

Not comparable with Google's `rouge_score`: sentences are split at every full stop, words only at
white space, and a perfect answer gets 0.999999995.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, pairwise
from typing import Any, Final

_EPSILON: Final = 1e-8
_Sentences = list[list[str]]


def pltrdy_rouge(answer: str, golds: Sequence[str], n: int) -> float:
    """Return ROUGE-n (n 1 or 2) or, for n 0, ROUGE-L at summary level, for the best gold answer.

    It is 0 if a text has no words.

    >>> pltrdy_rouge("Paris", ["Rome", "Paris"], 1), pltrdy_rouge("paris", ["Paris"], 1)
    (0.999999995, 0.0)
    """
    # The package raises for a text without a sentence, and BERGEN counts that as 0.
    compared = [gold for gold in golds if gold.strip(".")] if answer.strip(".") else []
    if n == 0:
        sentences = _sentences(answer)
        found = [_summary_level(sentences, _sentences(gold)) for gold in compared]
    else:
        ours = _grams(answer, n)
        found = [_of_sets(ours, _grams(gold, n)) for gold in compared]
    return max(found, default=0.0)


def _sentences(text: str) -> _Sentences:
    # As in the package, a blank sentence has one empty word.
    return [part.split() or [""] for part in text.split(".") if part]


def _grams(text: str, n: int) -> set[Any]:
    parts = text.split(".")
    blank = any(map(str.isspace, parts))
    words = list(chain.from_iterable(_sentences(text))) if blank else " ".join(parts).split()
    return set(words) if n == 1 else set(pairwise(words))


def _of_sets(answer: set[Any], gold: set[Any]) -> float:
    return _mean_of_rates(len(answer & gold), len(answer), len(gold))


def _mean_of_rates(shared: int, answer: int, gold: int) -> float:
    precision, recall = shared / answer if answer else 0.0, shared / gold if gold else 0.0
    return 2.0 * ((precision * recall) / (precision + recall + _EPSILON))


def _summary_level(answer: _Sentences, gold: _Sentences) -> float:
    ours, theirs = set(chain.from_iterable(answer)), set(chain.from_iterable(gold))
    union = set[str]()
    for one in gold:
        known = set(one)
        if len(known & ours) <= 1:
            union |= known & ours
        else:
            for other in answer:
                union |= _common_words(one, known, other)
    return _mean_of_rates(len(union), len(ours), len(theirs))


def _common_words(left: Sequence[str], known: set[str], right: Sequence[str]) -> set[str]:
    """Return the words of one longest common subsequence, the same as in the package.

    `known` has the words of `left`.
    """
    common = known.intersection(right)
    if len(common) <= 1:
        return common
    # A word of the right side alone never is where the search below ends a step to the left.
    right = [word for word in right if word in known]
    if right == [word for word in left if word in common]:
        return common
    lengths = [[0] * (len(right) + 1)]
    for word in left:
        lengths.append(_row(word, right, lengths[-1]) if word in common else lengths[-1])
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
