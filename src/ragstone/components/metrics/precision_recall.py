"""Token overlap of two texts: precision, recall and F1 over multisets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ragstone.components.metrics.arrays import ratio

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Ints, Values


class Overlap(NamedTuple):
    """Shared tokens over the answer's (precision), over the gold's (recall), and their F1."""

    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0


class Overlaps(NamedTuple):
    """The same of many pairs, as arrays."""

    precision: Values
    recall: Values
    f1: Values


def overlap(answer: Sequence[str], gold: Sequence[str]) -> Overlap:
    """Return the overlap of two token lists, each token counted as often as both contain it.

    >>> overlap(["a", "b", "b"], ["b", "b", "c", "d"])
    Overlap(precision=0.6666666666666666, recall=0.5, f1=0.5714285714285715)
    """
    shared = sum((Counter(answer) & Counter(gold)).values())
    return rates(shared, len(answer), len(gold))


def rates(shared: int, answer: int, gold: int) -> Overlap:
    """Return precision, recall and F1, given numbers of tokens; all 0 if no token is shared."""
    if not shared:
        return Overlap()
    precision, recall = shared / answer, shared / gold
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def many_rates(shared: Ints, answer: Ints, gold: Ints) -> Overlaps:
    """Return precision, recall and F1 of many pairs at once, as `rates` does for one."""
    precision, recall = ratio(shared, answer), ratio(shared, gold)
    return Overlaps(precision, recall, ratio(2 * precision * recall, precision + recall))


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel (Hyyrö, AWOCA 2004): an integer with one bit per token of `right`, updated once per
    token of `left`; the number of its zeros is the length.

    >>> lcs_length("the cat sat on the mat".split(), "the cat on a mat".split())
    4
    """
    places: dict[Hashable, int] = {}
    for i, token in enumerate(right):
        places[token] = places.get(token, 0) | 1 << i
    full = (1 << len(right)) - 1
    open_ = full
    for token in left:
        hit = open_ & places.get(token, 0)
        open_ = (open_ + hit | open_ - hit) & full
    return len(right) - open_.bit_count()
