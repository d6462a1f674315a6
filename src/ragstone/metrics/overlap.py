"""Token overlap of two texts: precision, recall and F1 over multisets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple


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
