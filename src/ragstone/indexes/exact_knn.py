"""Exact nearest vectors by inner product, in blocks, on every core.

A block of passages is multiplied with all queries at once. Selecting the best of every block would
take longer than the product. Each query therefore has a floor: its k-th best score so far, less the
possible rounding error. Only scores that reach the floor are looked at, a few hundred per query
among a million passages in any order. The remaining candidates are computed again, each alone and
in 64 bits, so that a score depends only on its query and its passage.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

import numpy as np

from ragstone.core import limits
from ragstone.core.resources import available_cpus
from ragstone.errors import ConfigError
from ragstone.indexes.top_k import top_places

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.indexes.quantisation import Vectors

    Matrix: TypeAlias = npt.NDArray[np.float32]

_QUERIES: Final = 1024
"""Queries per product."""
_ROWS: Final = 8192
"""Maximum passages per product."""
_ENOUGH: Final = 256
"""Queries that are enough work for the products of one thread."""
_TOGETHER: Final = 64
"""Queries per task when candidates are computed again."""
_FIRST: Final = 1024
"""Passages per core whose scores are all looked at, for a first floor."""
_LARGEST: Final = np.finfo(np.float32).max
_ROUNDING: Final = 2.0**-24
"""Maximum relative error of one operation in 32 bits."""


class Near(NamedTuple):
    """The best passages of one query, best first, equal scores by position."""

    places: npt.NDArray[np.int64]
    scores: Matrix


def nearest(
    queries: Matrix,
    vectors: Vectors,
    top_k: int,
    *,
    threads: int | None = None,
    advance: Callable[[int], object] = lambda _: None,
) -> Iterator[Near]:
    """Yield the `top_k` nearest vectors of each query, in order.

    Args:
        queries: shape (n, dimension).
        vectors: the vectors of the passages.
        top_k: maximum number of vectors per query.
        threads: number of threads; by default the number of cores.
        advance: called with the number of scores that were computed, from several threads.
    """
    top_k = min(top_k, len(vectors))
    at_once = max(1, min(_QUERIES, limits.KNN_SCORES // max(2 * top_k, _FIRST)))
    count = threads or available_cpus()
    with ThreadPoolExecutor(count) as pool:
        for start in range(0, len(queries), at_once):
            # Products of mapped files and of slices are slow.
            part = np.ascontiguousarray(queries[start : start + at_once], dtype=np.float32)
            shares = _shares(part, vectors, top_k, count, advance)
            with single_blas():
                list(pool.map(_Scan.run, itertools.chain.from_iterable(shares)))
                groups = [(scans, g) for scans in shares for g in _groups(len(scans[0].queries))]
                found = list(pool.map(lambda given: _settled(given[0], given[1], top_k), groups))
            yield from itertools.chain.from_iterable(found)


def _shares(
    queries: Matrix, vectors: Vectors, top_k: int, count: int, advance: Callable[[int], object]
) -> list[list[_Scan]]:
    """Return, for each share of the queries, the scans of the shares of the passages.

    Many queries are divided among the threads: a thread that has seen more passages has a higher
    floor. With few queries, each thread compares all of them with its share of the passages. A
    short corpus is not divided.
    """
    by_query = len(queries) >= count * _ENOUGH
    parts = np.array_split(queries, count if by_query else 1)
    threads = 1 if by_query else max(1, min(count, len(vectors) // (2 * _FIRST)))
    edges = [len(vectors) * n // threads for n in range(threads + 1)]
    shares = []
    for part in parts:
        floors = np.full(len(part), -np.inf, dtype=np.float32)
        shares.append(
            [
                _Scan(part, vectors, top_k, floors, first, last, advance)
                for first, last in itertools.pairwise(edges)
            ]
        )
    return shares


def _groups(count: int) -> list[range]:
    """Return the queries in groups that are large enough for a task."""
    return [range(n, min(n + _TOGETHER, count)) for n in range(0, count, _TOGETHER)]


def _settled(scans: list[_Scan], group: range, top_k: int) -> list[Near]:
    """Return the rankings of some queries from the candidates of all threads."""
    settled = []
    for query in group:
        places = np.concatenate([scan.places_of(query) for scan in scans])
        scores = scans[0].exact(query, places)
        order = top_places(scores, top_k)
        settled.append(Near(places[order], scores[order]))
    return settled


@dataclass(eq=False)
class _Scan:
    """One thread's share of the passages, against some queries."""

    queries: Matrix
    vectors: Vectors
    top_k: int
    floors: Matrix
    """Score that a candidate must reach, one per query, shared by the threads. A thread may
    overwrite the floor of another one: both are right."""
    start: int
    stop: int
    advance: Callable[[int], object]
    scores: Matrix = field(init=False)
    """Scores of each query's candidates, of shape (queries, width), in the order of the corpus;
    -inf at unused places."""
    places: npt.NDArray[np.int64] = field(init=False)
    held: npt.NDArray[np.int64] = field(init=False)
    """Number of candidates per query."""
    slack: Matrix = field(init=False)

    def __post_init__(self) -> None:
        count = len(self.queries)
        first = min(max(2 * self.top_k, _FIRST), self.stop - self.start)
        width = max(first, 4 * self.top_k)
        self.scores = np.full((count, width), -np.inf, dtype=np.float32)
        self.places = np.zeros((count, width), dtype=np.int64)
        self.held = np.zeros(count, dtype=np.int64)
        self.slack = slack_of(self.queries, self.vectors)

    def run(self) -> None:
        """Fill `places` with all passages that may be among the best."""
        at, first = self.start, min(max(2 * self.top_k, _FIRST), self.stop - self.start)
        rows = max(1, min(_ROWS, limits.KNN_SCORES // len(self.queries)))
        product = np.empty((max(rows, first), len(self.queries)), dtype=np.float32)
        hits = np.empty(product.shape, dtype=bool)
        while at < self.stop:
            left = self.start + first - at
            # At most as many as were seen before, so that few of them reach the floor.
            most = left if left > 0 else min(rows, at - self.start, self.stop - at)
            passages = self.vectors.rough(at, most)
            scores = product[: len(passages)]
            np.matmul(passages, self.queries.T, out=scores)
            if left > 0:
                self._take_all(scores, at)
                if left == len(scores):
                    self._trim()
            else:
                hit = np.greater_equal(scores, self.floors, out=hits[: len(passages)])
                self._take(scores, np.flatnonzero(hit), at)
            self.advance(scores.size)
            at += len(passages)
        self._trim()

    def places_of(self, query: int) -> npt.NDArray[np.int64]:
        """Return the positions of a query's candidates, in ascending order."""
        return self.places[query, : self.held[query]]

    def exact(self, query: int, places: npt.NDArray[np.int64]) -> Matrix:
        """Return the scores of some passages, each computed alone."""
        wanted = self.queries[query].astype(np.float64)
        scores: Matrix = np.vecdot(self.vectors.exact(places), wanted).astype(np.float32)
        return scores

    def _take_all(self, scores: Matrix, at: int) -> None:
        begin = at - self.start
        end = begin + len(scores)
        self.scores[:, begin:end] = scores.T
        self.places[:, begin:end] = np.arange(at, at + len(scores))
        self.held[:] = end

    def _take(self, scores: Matrix, hits: npt.NDArray[np.intp], at: int) -> None:
        """Add the scores at some positions of the product, counted through its rows."""
        if not len(hits):
            return
        # Not divmod: numpy turns the division by a constant into a product.
        rows = hits // len(self.queries)
        queries = hits - rows * len(self.queries)
        # A stable sort of 16-bit numbers is a radix sort, and keeps the order of the corpus.
        order = np.argsort(queries.astype(np.uint16), kind="stable")
        rows, queries = rows[order], queries[order]
        counts = np.bincount(queries, minlength=len(self.queries))
        if (self.held + counts).max() > self.scores.shape[1]:
            self._trim()
            self._widen(int((self.held + counts).max()))
        columns = _ranks(counts) + self.held[queries]
        self.scores[queries, columns] = scores[rows, queries]
        self.places[queries, columns] = rows + at
        self.held += counts
        if self.held.max() > 3 * self.top_k:
            self._trim()

    def _widen(self, width: int) -> None:
        more = width - self.scores.shape[1]
        if more > 0:
            wider = ((0, 0), (0, more))
            self.scores = np.pad(self.scores, wider, constant_values=-np.inf)
            self.places = np.pad(self.places, wider)

    def _trim(self) -> None:
        """Raise the floors, and drop the candidates that no longer reach them."""
        width = int(self.held.max(initial=0))
        held = self.scores[:, :width]
        if width > self.top_k:
            place = width - self.top_k
            worst = np.partition(held, place, axis=1)[:, place]
            np.maximum(self.floors, worst - self.slack, out=self.floors)
        # Without a floor yet, -inf would keep the unused places.
        kept = np.flatnonzero(held >= np.maximum(self.floors, -_LARGEST)[:, None])
        queries = kept // max(1, width)
        columns = kept - queries * width
        scores, places = held[queries, columns], self.places[queries, columns]
        self.held = np.bincount(queries, minlength=len(self.queries)).astype(np.int64)
        columns = _ranks(self.held)
        held[:] = -np.inf
        self.scores[queries, columns] = scores
        self.places[queries, columns] = places
        for query in np.flatnonzero(self.held > 3 * self.top_k + _FIRST):
            self._decide(int(query))

    def _decide(self, query: int) -> None:
        """Keep the `top_k` best candidates of a query whose near ties would fill the memory."""
        places = self.places_of(query)
        kept = np.sort(top_places(self.exact(query, places), self.top_k))
        scores, places = self.scores[query, kept], places[kept]
        self.scores[query] = -np.inf
        self.scores[query, : len(kept)] = scores
        self.places[query, : len(kept)] = places
        self.held[query] = len(kept)


def slack_of(queries: Matrix, vectors: Vectors) -> Matrix:
    """Return the maximum difference of two scores of each query by rounding in 32 bits.

    Raises:
        ConfigError: the vectors are too long to be multiplied.
    """
    # The error of a sum of n products in 32 bits is at most n roundings of |query| * |passage|,
    # and two sums are compared. The stored numbers and the floor itself add a few roundings.
    lengths = np.linalg.norm(queries.astype(np.float64), axis=1) * vectors.longest
    if lengths.max(initial=0) > _LARGEST:
        raise ConfigError(
            f"vectors of length {vectors.longest:g} are too long to be multiplied; "
            f"normalise them in the embedder"
        )
    slack: Matrix = (lengths * 2 * (vectors.dimension + 4) * _ROUNDING).astype(np.float32)
    return slack


def _ranks(counts: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
    """Return 0, 1, ... for each group of a sorted sequence, given the size of each.

    >>> _ranks(np.array([2, 0, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    starts = np.cumsum(counts) - counts
    ranks: npt.NDArray[np.int64] = np.arange(counts.sum()) - np.repeat(starts, counts)
    return ranks


def single_blas() -> AbstractContextManager[object]:
    """Return a context in which a product runs on the thread that calls it.

    The threads of BLAS wait for one another after every block; ours wait once, at the end. This is
    many times faster on a machine with other load.
    """
    limited: AbstractContextManager[object] = _blas().limit(limits=1, user_api="blas")
    return limited


@cache
def _blas() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
