"""Exact nearest vectors by inner product, in blocks, on every core.

A block of passages is multiplied with all queries at once. Selecting the best of every block would
take longer than the product. Each query therefore has a floor: a score that `top_k` passages have
reached so far, less the possible rounding error. Only scores that reach the floor are looked at, a
few hundred per query among a million passages in any order. The remaining candidates are computed
again, each alone and in 64 bits, so that a score depends only on its query and its passage.
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
from ragstone.indexes.top_k import HEAPS, lower_bounds, top_places

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.indexes.quantisation import Vectors

    Matrix: TypeAlias = npt.NDArray[np.float32]

_QUERIES: Final = 1024
"""Queries per product."""
_ROWS: Final = 2048
"""Passages per product of many queries, or of passages that are widened to 32 bits first."""
_NARROW: Final = 32
"""Queries up to which a product is faster with the passages first."""
_ENOUGH: Final = 256
"""Queries that are enough work for the products of one thread."""
_TOGETHER: Final = 64
"""Queries per task when candidates are computed again."""
_FEW: Final = 1024
"""Passages that are enough for one thread, and candidates that are kept besides the best."""
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
    at_once = max(1, min(_QUERIES, limits.KNN_SCORES // (2 * top_k)))
    count = threads or available_cpus()
    with ThreadPoolExecutor(count) as pool:
        each = pool.map if count > 1 else map
        for start in range(0, len(queries), at_once):
            # Products of mapped files and of slices are slow.
            part = np.ascontiguousarray(queries[start : start + at_once], dtype=np.float32)
            shares = _shares(part, vectors, top_k, count, advance)
            with single_blas():
                list(each(_Scan.run, itertools.chain.from_iterable(shares)))
                groups = [(scans, g) for scans in shares for g in _groups(len(scans[0].queries))]
                found = list(each(lambda given: _settled(given[0], given[1], top_k), groups))
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
    threads = 1 if by_query else max(1, min(count, len(vectors) // (2 * _FEW)))
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
        # Places ascend, so that a stable sort leaves equal scores in the order of the corpus.
        order = (-scores).argsort(kind="stable")[:top_k]
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
        shape = len(self.queries), 4 * self.top_k
        self.scores = np.full(shape, -np.inf, dtype=np.float32)
        self.places = np.zeros(shape, dtype=np.int64)
        self.held = np.zeros(len(self.queries), dtype=np.int64)
        self.slack = slack_of(self.queries, self.vectors)

    def run(self) -> None:
        """Fill `places` with all passages that may be among the best."""
        count = len(self.queries)
        most = limits.KNN_SCORES // (16 * count) if self.vectors.in_32_bits else 0
        rows = min(max(_ROWS, most), self.stop - self.start)
        products = np.empty(count * rows, dtype=np.float32)
        marks = np.empty(count * rows, dtype=bool)
        at = self.start
        while at < self.stop:
            passages = self.vectors.rough(at, min(rows, self.stop - at))
            shape = count, len(passages)
            scores = products[: count * len(passages)].reshape(shape)
            if count == 1:
                np.vecdot(passages, self.queries[0], out=scores[0])
            elif count > _NARROW:
                np.matmul(self.queries, passages.T, out=scores)
            else:
                scores[:] = (passages @ self.queries.T).T
            if at == self.start:
                self._start(scores)
            hit = marks[: scores.size].reshape(shape)
            np.greater_equal(scores, self.floors[:, None], out=hit)
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

    def _start(self, scores: Matrix) -> None:
        """Raise the floors by the scores of the first passages."""
        width = scores.shape[1]
        if width >= 2 * HEAPS * self.top_k:
            reached = lower_bounds(scores, self.top_k)
        elif width > self.top_k:
            reached = np.partition(scores, width - self.top_k, axis=1)[:, width - self.top_k]
        else:
            return
        np.maximum(self.floors, reached - self.slack, out=self.floors)

    def _take(self, scores: Matrix, hits: npt.NDArray[np.intp], at: int) -> None:
        """Add the scores at some positions of the product, in ascending order."""
        if not len(hits):
            return
        count, rows = scores.shape
        ends = np.searchsorted(hits, np.arange(rows, (count + 1) * rows, rows))
        counts = ends.copy()
        counts[1:] -= ends[:-1]
        if (self.held + counts).max() > self.scores.shape[1]:
            self._trim()
            self._widen(int((self.held + counts).max()))
        places = hits + np.repeat(at - np.arange(count) * rows, counts)
        self._add(scores.ravel()[hits], places, counts)
        if self.held.max() > 3 * self.top_k:
            self._trim()

    def _add(
        self, scores: Matrix, places: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]
    ) -> None:
        """Write candidates behind those that are held, `counts` of them per query in order."""
        firsts = np.arange(len(counts)) * self.scores.shape[1] + self.held
        to = np.arange(len(places)) + np.repeat(firsts - np.cumsum(counts) + counts, counts)
        self.scores.ravel()[to] = scores
        self.places.ravel()[to] = places
        self.held += counts

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
        kept = held >= np.maximum(self.floors, -_LARGEST)[:, None]
        scores, places = held[kept], self.places[:, :width][kept]
        held[:] = -np.inf
        self.held[:] = 0
        self._add(scores, places, kept.sum(axis=1))
        for query in np.flatnonzero(self.held > 3 * self.top_k + _FEW):
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
