"""An inverted index over weighted terms, and its exact search with arrays in place of loops.

A small index adds up every list. A large one takes the terms in descending order of their bounds;
as soon as the remaining terms together cannot lift a new document into the ranking, they are looked
up only in the documents that can still win (MaxScore: Turtle and Flood, "Query evaluation:
strategies and optimizations", 1995, list by list). Both ways add the same numbers in the same
order, so they give the same scores, and documents with equal words get equal scores.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ragstone.errors import ConfigError
from ragstone.indexes.top_k import top_k_lower_bound, top_places

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.integer[Any]]
    Numbers: TypeAlias = npt.NDArray[np.number[Any]]
    Scores: TypeAlias = npt.NDArray[Any]

FILES: Final = ("starts", "places", "weights", "highest")
_ROWS_BYTES: Final = 64_000_000
"""Memory for frequent terms written out as one weight per document."""
_FREQUENT: Final = 32
"""A term is frequent where one document in so many holds it."""

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


@dataclass(frozen=True)
class Postings:
    """Which documents hold a term, and how much it counts there; documents are numbered from 0.

    Term `t` stands in the documents `places[starts[t]:starts[t + 1]]`, ascending, with the
    `weights` at the same positions, all above 0. The score of a document for a query is the sum,
    over the query's terms, of the term's weight in the query times its weight in the document.

    >>> index = Postings.of_rows(
    ...     np.array([0, 2, 3]), np.array([4, 1, 4]), np.array([1.0, 0.5, 2.0]), vocabulary=5
    ... )
    >>> [found.tolist() for found in index.search([4, 1], [1.0, 3.0], top_k=10)]
    [[0, 1], [2.5, 2.0]]
    """

    length: int
    """Number of documents, with those that hold no term."""
    starts: Integers
    places: Integers
    weights: Numbers
    highest: Numbers
    """The highest weight of each term; 0 where no document holds it."""

    @classmethod
    def of_lists(
        cls, length: int, starts: Integers, places: Integers, weights: Numbers
    ) -> Postings:
        """Return the index whose lists are given, as the class describes them."""
        return cls(length, starts, places, weights, highest_of(starts, weights))

    @classmethod
    def of_rows(
        cls, starts: Integers, terms: Integers, weights: Numbers, *, vocabulary: int
    ) -> Postings:
        """Return the index of documents given row by row.

        Args:
            starts: of shape (documents + 1,): document n holds `terms[starts[n]:starts[n + 1]]`.
            terms: numbers from 0 to `vocabulary` - 1, each at most once a document.
            weights: one for each of `terms`, above 0; kept in their own type.
            vocabulary: number of terms that there are.
        """
        length = len(starts) - 1
        documents = np.repeat(np.arange(length, dtype=np.uint32), np.diff(starts))
        order = np.argsort(terms, kind="stable")
        counts = np.bincount(terms, minlength=vocabulary)
        return cls.of_lists(length, starts_of(counts), documents[order], weights[order])

    @classmethod
    def load(cls, folder: Path) -> Postings:
        """Return the index kept in a folder; its arrays are read as they are needed."""
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in FILES]
        length = int(np.load(folder / "length.npy"))
        # A slice of a memory map's own class takes ten times as long as an array's.
        return cls(length, *(array.view(np.ndarray) for array in arrays))

    def save(self, folder: Path) -> None:
        """Write the index into a folder that exists."""
        np.save(folder / "length.npy", np.int64(self.length))
        for name in FILES:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)

    def search(
        self, terms: Sequence[int], weights: Sequence[float], top_k: int
    ) -> tuple[Integers, Numbers]:
        """Return the best documents and their scores (float32), best first, equal ones by place.

        Args:
            terms: the query's terms: numbers from 0 to the size of the vocabulary - 1.
            weights: how much each counts, from 0.
            top_k: number of documents at most; those that hold none of the terms are left out.
        """
        if len(weights) != len(terms) or not all(weight >= 0 for weight in weights):
            raise ConfigError("a query needs one weight per term, each 0 or more")
        return _search(self, terms, weights, top_k)

    def row(self, term: int) -> Numbers | None:
        """Return a frequent term's weight in every document; None for any other term."""
        found = self._rows.get(term)
        if found is None:
            part = slice(self.starts[term], self.starts[term + 1])
            rare = (part.stop - part.start) * _FREQUENT < self.length
            if rare or (len(self._rows) + 1) * self.length * 4 > _ROWS_BYTES:
                return None
            found = np.zeros(self.length, dtype=np.float32)
            found[self.places[part]] = self.weights[part]
            self._rows[term] = found
        return found

    @cached_property
    def _rows(self) -> dict[int, Numbers]:
        return {}

    @cached_property
    def _own(self) -> threading.local:
        return threading.local()

    def zeros(self, kind: type[np.floating[Any]]) -> Numbers:
        """Return this thread's zeros, one per document; whoever writes there cleans up."""
        found: Numbers | None = getattr(self._own, kind.__name__, None)
        if found is None:
            found = np.zeros(self.length, dtype=kind)
            setattr(self._own, kind.__name__, found)
        return found


def starts_of(counts: Integers) -> npt.NDArray[np.int64]:
    """Return where each of some lists starts when they stand one after another, and the end.

    >>> starts_of(np.array([2, 0, 1])).tolist()
    [0, 2, 2, 3]
    """
    starts = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def highest_of(starts: Integers, weights: Numbers) -> Numbers:
    """Return the highest of each list's weights, 0 for an empty list."""
    highest = np.zeros(len(starts) - 1, dtype=weights.dtype)
    held = np.flatnonzero(np.diff(starts))
    if len(held):
        highest[held] = np.maximum.reduceat(weights, starts[held])
    return highest


class _Term(NamedTuple):
    """A term of the query that the index holds."""

    bound: float
    """What it adds to a score at most."""
    number: int
    weight: float
    start: int
    stop: int


def _search(
    index: Postings, terms: Sequence[int], weights: Sequence[float], top_k: int
) -> tuple[Integers, Scores]:
    """Return the best places and their scores; see `Postings.search`."""
    held = _terms(index, terms, weights)
    if not held:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
    sums: Scores = index.zeros(np.float32 if len(held) <= _SINGLE else np.float64)
    added, places, scores = _candidates(index, held, sums, top_k)
    if added < len(held):
        places, scores = _weed(index, held[added:], places, scores, top_k)
    order = top_places(scores, top_k)
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
) -> tuple[int, Integers, Scores]:
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
        floor, since = top_k_lower_bound(sums, top_k) * (1 - _ROUNDING), rest[n]
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
    index: Postings, terms: list[_Term], places: Integers, scores: Scores, top_k: int
) -> tuple[Integers, Scores]:
    """Add the other terms to the scores of the documents that can still win."""
    for term, rest in zip(terms, _rest(terms), strict=False):
        if len(places) > _FEW * top_k:
            floor = np.partition(scores, -top_k)[-top_k] * (1 - _ROUNDING)
            able = scores + rest >= floor
            places, scores = places[able], scores[able]
        scores = scores + _weighted(_look_up(index, term, places), term)
    return places, scores


def _look_up(index: Postings, term: _Term, documents: Integers) -> Scores:
    """Return the weights of a term in some documents, 0 where it is not in them."""
    row = index.row(term.number)
    if row is not None:
        return row.take(documents)
    places = index.places[term.start : term.stop]
    at = places.searchsorted(documents.astype(places.dtype))
    at[at == len(places)] = 0
    weights = index.weights[term.start : term.stop].take(at)
    return np.where(places.take(at) == documents, weights, np.float32(0))
