"""The exact search of an inverted index, with arrays in place of loops.

A small index adds up every list. A large one takes the terms in the order of what they can add to a
score at most; as soon as all terms left together cannot lift a new document into the ranking, they
are looked up only in the documents that can still win (MaxScore: Turtle and Flood, "Query
evaluation: strategies and optimizations", 1995, list by list). Both ways add the same numbers in
the same order, so that they give the same scores, and documents with equal words equal ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ragstone.retrievers.ranks import best

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.retrievers.postings import Postings

    Places = npt.NDArray[np.integer[Any]]
    Scores = npt.NDArray[np.floating[Any]]

_SMALL: Final = 150_000
"""Up to so many documents it is quickest to add up every list."""
_SINGLE: Final = 32
"""With more terms than this, sums are made in double precision."""
_ROUNDING: Final = 1e-5
"""What sums in single precision may be off by, relative to the largest."""
_LIKELY: Final = 0.6
"""The share of what has been added that the rest must be below for a look at the ranking to pay."""
_FEW: Final = 4
"""With less than so many times `top_k` documents left, weeding costs more than it saves."""


class _Term(NamedTuple):
    """A term of the query that the index holds."""

    number: int
    weight: np.float32
    bound: float
    """What it adds to a score at most."""
    start: int
    stop: int


def search(
    index: Postings, terms: list[int], weights: list[float], top_k: int
) -> tuple[Places, Scores]:
    """Return the best places and their scores; see `Postings.search`."""
    held = _terms(index, terms, weights)
    if not held:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
    sums = index.zeros(np.float32 if len(held) <= _SINGLE else np.float64)
    way = _whole if index.length <= _SMALL else _pruned
    places, scores = way(index, held, sums, top_k)
    order = best(scores, top_k, above=0.0)
    return places[order], scores[order].astype(np.float32)


def _terms(index: Postings, terms: list[int], weights: list[float]) -> list[_Term]:
    """Return the terms that can add something, the one that can add most first."""
    starts, highest = index.starts, index.highest
    held = [
        _Term(term, np.float32(weight), bound, int(starts[term]), int(starts[term + 1]))
        for term, weight in zip(terms, weights, strict=True)
        if (bound := weight * float(highest[term])) > 0
    ]
    held.sort(key=lambda term: (-term.bound, term.number))
    return held


def _add(index: Postings, term: _Term, sums: Scores) -> Places:
    """Add a term's list to the sums; return its documents."""
    places = index.places[term.start : term.stop].astype(np.intp)
    impacts = index.weights[term.start : term.stop]
    np.add.at(sums, places, impacts if term.weight == 1 else impacts * term.weight)
    return places


def _whole(index: Postings, terms: list[_Term], sums: Scores, top_k: int) -> tuple[Places, Scores]:
    """Add up every list."""
    for term in terms:
        row = index.row(term.number)
        if row is None:
            _add(index, term, sums)
        else:
            np.add(sums, row if term.weight == 1 else row * term.weight, out=sums)
    places = best(sums, top_k, above=0.0)
    scores = sums[places]
    sums.fill(0)
    return places, scores


def _pruned(index: Postings, terms: list[_Term], sums: Scores, top_k: int) -> tuple[Places, Scores]:
    """Add up lists until the documents that can win are known; look the other terms up in them."""
    rest = _rest(terms)
    taken: list[Places] = []
    reached, floor = rest[0], 0.0
    for n, term in enumerate(terms, start=1):
        taken.append(_add(index, term, sums))
        # The floor grows by what was added since at most; looking costs as much as adding.
        likely = floor + _LIKELY * (reached - rest[n])
        if sum(map(len, taken)) < top_k or rest[n] > likely:
            continue
        places, scores = _collect(sums, taken)
        floor, reached = _floor(scores, top_k), rest[n]
        if rest[n] < floor:
            return _finish(index, terms[n:], places, scores, top_k)
        sums[places] = scores
        taken = [places]
    return _in_order(*_collect(sums, taken))


def _rest(terms: list[_Term]) -> list[float]:
    """Return what the terms from each on can add at most, and 0 for the end."""
    bounds = [term.bound for term in reversed(terms)]
    return np.cumsum([0.0, *bounds])[::-1].tolist()


def _collect(sums: Scores, taken: list[Places]) -> tuple[Places, Scores]:
    """Take the sums of some documents out, each document once, and leave zeros."""
    parts = []
    for places in taken:
        parts.append(sums.take(places))
        sums[places] = 0
    places, scores = np.concatenate(taken), np.concatenate(parts)
    first = scores > 0
    return places[first], scores[first]


def _floor(scores: Scores, top_k: int) -> float:
    """Return what the last place of the ranking reaches at least."""
    if len(scores) < top_k:
        return 0.0
    return float(np.partition(scores, -top_k)[-top_k]) * (1 - _ROUNDING)


def _finish(
    index: Postings, terms: list[_Term], places: Places, scores: Scores, top_k: int
) -> tuple[Places, Scores]:
    """Add the last terms to the scores of those documents that can still win."""
    for term, rest in zip(terms, _rest(terms), strict=False):
        if len(places) > _FEW * top_k:
            able = scores + rest >= _floor(scores, top_k)
            places, scores = places[able], scores[able]
        scores = scores + term.weight * _look_up(index, term, places)
    return _in_order(places, scores)


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


def _in_order(places: Places, scores: Scores) -> tuple[Places, Scores]:
    """Put documents back into the order of their places, which decides between ties."""
    order = np.argsort(places)
    return places[order], scores[order]
