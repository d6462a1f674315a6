"""An inverted index over weighted terms, and its exact search with arrays in place of loops.

In a small index every list is added up. In a large one the terms are added in descending order of
their bounds; as soon as the remaining terms together cannot lift a new document into the ranking,
they are looked up only in the documents that can still win (MaxScore: Turtle and Flood, "Query
evaluation: strategies and optimizations", 1995, list by list). Both ways add the same numbers in
the same order: the scores are the same, and documents with equal words have equal scores.
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

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.indexes.top_k import top_k_lower_bound, top_places

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers: TypeAlias = npt.NDArray[np.integer[Any]]
    Numbers: TypeAlias = npt.NDArray[np.number[Any]]
    Scores: TypeAlias = npt.NDArray[Any]

FILES: Final = ("starts", "places", "weights", "highest")
_FREQUENT: Final = 32
"""A term is frequent if at least one document in 32 contains it."""

SMALL: Final = 150_000
"""Number of documents up to which adding up every list is fastest."""
SINGLE: Final = 32
"""Number of terms above which sums are in double precision."""
_ROUNDING: Final = 1e-5
"""Maximum error of sums in single precision, relative to the largest."""
_LIKELY: Final = 0.1
"""The remaining bounds are compared with the ranking once they are below this share of the sums."""
_FEW: Final = 4
"""With fewer than `_FEW * top_k` documents, dropping some costs more than it saves."""


@dataclass(frozen=True)
class Postings:
    """The documents of each term, with its weight in each; documents are numbered from 0.

    Term `t` is in the documents `places[starts[t]:starts[t + 1]]`, ascending, with the `weights` at
    the same positions, all above 0. The score of a document for a query is the sum, over the
    query's terms, of the term's weight in the query times its weight in the document.

    >>> index = Postings.of_rows(
    ...     np.array([0, 2, 3]), np.array([4, 1, 4]), np.array([1.0, 0.5, 2.0]), vocabulary=5
    ... )
    >>> [found.tolist() for found in index.search([4, 1], [1.0, 3.0], top_k=10)]
    [[0, 1], [2.5, 2.0]]
    """

    length: int
    """Number of documents, including those without a term."""
    starts: Integers
    places: Integers
    weights: Numbers
    highest: Numbers
    """The highest weight of each term; 0 if no document contains it."""

    @classmethod
    def of_lists(
        cls, length: int, starts: Integers, places: Integers, weights: Numbers
    ) -> Postings:
        """Return the index of some lists, in the layout of the class."""
        return cls(length, starts, places, weights, highest_of(starts, weights))

    @classmethod
    def of_rows(
        cls, starts: Integers, terms: Integers, weights: Numbers, *, vocabulary: int
    ) -> Postings:
        """Return the index of documents given row by row.

        Args:
            starts: shape (documents + 1,): document n has `terms[starts[n]:starts[n + 1]]`.
            terms: numbers from 0 to `vocabulary` - 1, each at most once per document.
            weights: one for each of `terms`, above 0; their type is kept.
            vocabulary: number of terms.
        """
        length = len(starts) - 1
        documents = np.repeat(np.arange(length, dtype=np.uint32), np.diff(starts))
        order = np.argsort(terms, kind="stable")
        counts = np.bincount(terms, minlength=vocabulary)
        return cls.of_lists(length, starts_of(counts), documents[order], weights[order])

    @classmethod
    def load(cls, folder: Path) -> Postings:
        """Return the index in a folder; its arrays are memory maps."""
        arrays = [np.load(folder / f"{name}.npy", mmap_mode="r") for name in FILES]
        length = int(np.load(folder / "length.npy"))
        # Slicing a memmap object takes ten times as long as slicing an array.
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
            weights: weight of each term, 0 or more.
            top_k: maximum number of documents; those without any of the terms are left out.
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
            if rare or (len(self._rows) + 1) * self.length * 4 > limits.FREQUENT_TERM_BYTES:
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
        """Return this thread's zeros, one per document; the caller must reset its changes."""
        found: Numbers | None = getattr(self._own, kind.__name__, None)
        if found is None:
            found = np.zeros(self.length, dtype=kind)
            setattr(self._own, kind.__name__, found)
        return found

    def sums(self, count: int) -> npt.NDArray[np.float32]:
        """Return this thread's zeros of `count` queries, as `zeros` does."""
        found: npt.NDArray[np.float32] | None = getattr(self._own, "sums", None)
        if found is None or len(found) < count:
            found = self._own.sums = np.zeros((count, self.length), dtype=np.float32)
        return found[:count]


def starts_of(counts: Integers) -> npt.NDArray[np.int64]:
    """Return the start of each of some consecutive lists, and the end of the last.

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


class Term(NamedTuple):
    """A term of the query that is in the index."""

    bound: float
    """Its maximum contribution to a score."""
    number: int
    weight: float
    start: int
    stop: int


def _search(
    index: Postings, terms: Sequence[int], weights: Sequence[float], top_k: int
) -> tuple[Integers, Scores]:
    """Return the best places and their scores; see `Postings.search`."""
    held = terms_of(index, terms, weights)
    if not held:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.float32)
    sums: Scores = index.zeros(np.float32 if len(held) <= SINGLE else np.float64)
    added, places, scores = _candidates(index, held, sums, top_k)
    if added < len(held):
        places, scores = _weed(index, held[added:], places, scores, top_k)
    order = top_places(scores, top_k)
    return places[order], scores[order].astype(np.float32, copy=False)


def terms_of(index: Postings, terms: Sequence[int], weights: Sequence[float]) -> list[Term]:
    """Return the terms that can contribute to a score, in descending order of their bounds."""
    numbers = np.array(terms, dtype=np.intp)
    highest = index.highest[numbers].tolist()
    starts, stops = index.starts[numbers].tolist(), index.starts[numbers + 1].tolist()
    held = [
        Term(weight * high, number, weight, start, stop)
        for high, number, weight, start, stop in zip(
            highest, numbers.tolist(), weights, starts, stops, strict=True
        )
        if weight * high > 0
    ]
    held.sort(key=itemgetter(0), reverse=True)
    return held


def add_term(index: Postings, term: Term, sums: Scores) -> None:
    """Add a term's weights to the sums of its documents."""
    row = index.row(term.number)
    if row is not None:
        np.add(sums, _weighted(row, term), out=sums)
    else:
        places = index.places[term.start : term.stop].astype(np.intp)
        np.add.at(sums, places, _weighted(index.weights[term.start : term.stop], term))


def _weighted(impacts: Scores, term: Term) -> Scores:
    return impacts if term.weight == 1 else impacts * np.float32(term.weight)


def _candidates(
    index: Postings, terms: list[Term], sums: Scores, top_k: int
) -> tuple[int, Integers, Scores]:
    """Add up terms until few documents can still win.

    Returns the number of terms that were added, the documents in order, and their scores so far.
    """
    rest = _rest(terms)
    floor, since = 0.0, rest[0]
    for n, term in enumerate(terms, start=1):
        add_term(index, term, sums)
        # The floor has grown by at most the bounds added since it was last computed.
        early = index.length <= SMALL or rest[n] > floor + _LIKELY * (since - rest[n])
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


def _rest(terms: list[Term]) -> list[float]:
    """Return the sum of the bounds from each term on, and 0 for the end."""
    return [*accumulate((term.bound for term in reversed(terms)), initial=0.0)][::-1]


def _weed(
    index: Postings, terms: list[Term], places: Integers, scores: Scores, top_k: int
) -> tuple[Integers, Scores]:
    """Add the remaining terms to the scores of the documents that can still win."""
    for term, rest in zip(terms, _rest(terms), strict=False):
        if len(places) > _FEW * top_k:
            floor = np.partition(scores, -top_k)[-top_k] * (1 - _ROUNDING)
            able = scores + rest >= floor
            places, scores = places[able], scores[able]
        scores = scores + _weighted(_look_up(index, term, places), term)
    return places, scores


def _look_up(index: Postings, term: Term, documents: Integers) -> Scores:
    """Return the weights of a term in some documents, 0 in those without it."""
    row = index.row(term.number)
    if row is not None:
        return row.take(documents)
    places = index.places[term.start : term.stop]
    at = places.searchsorted(documents.astype(places.dtype))
    at[at == len(places)] = 0
    weights = index.weights[term.start : term.stop].take(at)
    return np.where(places.take(at) == documents, weights, np.float32(0))
