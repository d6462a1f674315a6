"""Token overlap of two texts: precision, recall and F1 over multisets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.fast_tokens import Ints


class Overlap(NamedTuple):
    """Shared tokens over the answer's (precision), over the gold's (recall), and their F1."""

    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0


def overlap(answer: Sequence[str], gold: Sequence[str]) -> Overlap:
    """Return the overlap of two token lists, each token counted as often as both have it.

    >>> overlap(["a", "b", "b"], ["b", "b", "c", "d"])
    Overlap(precision=0.6666666666666666, recall=0.5, f1=0.5714285714285715)
    """
    shared = sum((Counter(answer) & Counter(gold)).values())
    return rates(shared, len(answer), len(gold))


def rates(shared: int, answered: int, wanted: int) -> Overlap:
    """Return precision, recall and F1 of some shared tokens; all 0 where nothing is shared."""
    if not shared:
        return Overlap()
    precision, recall = shared / answered, shared / wanted
    return Overlap(precision, recall, 2 * precision * recall / (precision + recall))


def best(overlaps: Iterable[Overlap]) -> Overlap:
    """Return the overlap of highest F1, the first of equals: all three of one gold answer."""
    return max(overlaps, key=lambda found: found.f1, default=Overlap())


def many_rates(shared: Ints, answered: Ints, wanted: Ints) -> tuple[Values, Values, Values]:
    """Return precision, recall and F1 of many pairs at once, as `rates` does of one."""
    some = shared > 0
    precision = np.divide(shared, answered, out=np.zeros(len(shared)), where=some)
    recall = np.divide(shared, wanted, out=np.zeros(len(shared)), where=some)
    product, total = 2 * precision * recall, precision + recall
    return precision, recall, np.divide(product, total, out=np.zeros(len(shared)), where=some)


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel (Hyyrö, AWOCA 2004): one integer of as many bits as `right` has tokens, whose
    zeros count the length; a step per token of `left`.

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
