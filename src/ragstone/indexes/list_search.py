"""The exact search of an inverted index, with arrays in place of loops.

A small index adds up every list. A large one takes the terms in the order of what they can add to a
score at most; as soon as all terms left together cannot lift a new document into the ranking, they
are looked up only in the documents that can still win (MaxScore: Turtle and Flood, "Query
evaluation: strategies and optimizations", 1995, list by list). Both ways add the same numbers in
the same order, so that they give the same scores, and documents with equal words equal ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ragstone.indexes.top_k import best, reached

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.indexes.inverted import Postings

    Places = npt.NDArray[np.integer[Any]]
    Scores = npt.NDArray[Any]

_SMALL: Final = 150_000
"""Up to so many documents it is quickest to add up every list."""
_SINGLE: Final = 32
"""With more terms than this, sums are made in double precision."""
_ROUNDING: Final = 1e-5
"""What sums in single precision may be off by, relative to the largest."""
_LIKELY: Final = 0.1
"""The share of what has been added that the rest must be below for a look at the ranking to pay."""
_FEW: Final = 4
"""With less than so many times `top_k` documents left, weeding costs more than it saves."""


class _Term(NamedTuple):
    """A term of the query that the index holds."""

    bound: float
    """What it adds to a score at most."""
    number: int
    weight: float
    start: int
    stop: int


def search(
    index: Postings, terms: Sequence[int], weights: Sequence[float], top_k: int
) -> tuple[Places, Scores]:
    """Return the best places and their scores; see `Postings.search`."""
    held = _terms(index, terms, weights)
    if not held:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
    sums: Scores = index.zeros(np.float32 if len(held) <= _SINGLE else np.float64)
    added, places, scores = _candidates(index, held, sums, top_k)
    if added < len(held):
        places, scores = _weed(index, held[added:], places, scores, top_k)
    order = best(scores, top_k)
    return places[order], scores[order].astype(np.float32, copy=False)


def _terms(index: Postings, terms: Sequence[int], weights: Sequence[float]) -> list[_Term]:
    """Return the terms that can add something, the one that can add most first."""
    numbers = np.array(terms, dtype=np.intp)
    highest = index.highest[numbers].tolist()
    starts, stops = index.starts[numbers].tolist(), index.starts[numbers + 1].tolist()
    held = [
        _Term(weight * high, number, weight, start, stop)
        for high, number, weight, start, stop in zip(
            highest, numbers.tolist(), weights, starts, stops, strict=True
        )
        if weight * high > 0
    ]
    held.sort(key=itemgetter(0), reverse=True)
    return held


def _add(index: Postings, term: _Term, sums: Scores) -> None:
    """Add a term's weights to the sums of its documents."""
    row = index.row(term.number)
    if row is not None:
        np.add(sums, _weighted(row, term), out=sums)
    else:
        places = index.places[term.start : term.stop].astype(np.intp)
        np.add.at(sums, places, _weighted(index.weights[term.start : term.stop], term))


def _weighted(impacts: Scores, term: _Term) -> Scores:
    return impacts if term.weight == 1 else impacts * np.float32(term.weight)


def _candidates(
    index: Postings, terms: list[_Term], sums: Scores, top_k: int
) -> tuple[int, Places, Scores]:
    """Add terms up until the documents that can win are few.

    Returns how many terms were added, the documents in order, and what they have so far.
    """
    rest = _rest(terms)
    floor, since = 0.0, rest[0]
    for n, term in enumerate(terms, start=1):
        _add(index, term, sums)
        # What was added since the last look is what the floor can have grown by.
        early = index.length <= _SMALL or rest[n] > floor + _LIKELY * (since - rest[n])
        if early and n < len(terms):
            continue
        floor, since = reached(sums, top_k) * (1 - _ROUNDING), rest[n]
        if rest[n] < floor or n == len(terms):
            break
    least = floor - rest[n]
    places = (sums >= least if least > 0 else sums > 0).nonzero()[0]
    scores = sums[places]
    sums.fill(0)
    return n, places, scores


def _rest(terms: list[_Term]) -> list[float]:
    """Return what the terms from each on can add at most, and 0 for the end."""
    return [*accumulate((term.bound for term in reversed(terms)), initial=0.0)][::-1]


def _weed(
    index: Postings, terms: list[_Term], places: Places, scores: Scores, top_k: int
) -> tuple[Places, Scores]:
    """Add the other terms to the scores of the documents that can still win."""
    for term, rest in zip(terms, _rest(terms), strict=False):
        if len(places) > _FEW * top_k:
            floor = np.partition(scores, -top_k)[-top_k] * (1 - _ROUNDING)
            able = scores + rest >= floor
            places, scores = places[able], scores[able]
        scores = scores + _weighted(_look_up(index, term, places), term)
    return places, scores


def _look_up(index: Postings, term: _Term, documents: Places) -> Scores:
    """Return the weights of a term in some documents, 0 where it is not in them."""
    row = index.row(term.number)
    if row is not None:
        return row.take(documents)
    places = index.places[term.start : term.stop]
    at = places.searchsorted(documents.astype(places.dtype))
    at[at == len(places)] = 0
    weights = index.weights[term.start : term.stop].take(at)
    return np.where(places.take(at) == documents, weights, np.float32(0))
