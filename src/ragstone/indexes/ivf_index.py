"""An inverted file of vectors: a query is compared with the passages of the nearest lists only.

The lists are the parts of k-means over directions, on a sample of the vectors with a fixed seed. A
list is near if its mean score is high or its vectors are spread out, so that some score more.
Vectors are stored list by list, so that one product compares a list with all queries that read it.
The index is kept in the store under the digest of the corpus and the key of the vectors.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import progress
from ragstone.core.resources import available_cpus, require_memory_and_disk
from ragstone.core.user_code import source_digest
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.corpus_vectors import vectors_made_of
from ragstone.indexes.exact_knn import Near, single_blas, slack_of
from ragstone.indexes.quantisation import decode
from ragstone.indexes.top_k import top_places

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.data.corpus import Corpus
    from ragstone.indexes.quantisation import Precision, Vectors
    from ragstone.protocols import Embedder

    Matrix = npt.NDArray[np.float32]
    Places = npt.NDArray[np.int64]

_LISTS: Final = 2.5
"""Lists per square root of the number of vectors."""
_TRAINED_ON: Final = 32
"""Vectors per list in the sample that the centres are trained on."""
_ROUNDS: Final = 6
"""Rounds of k-means."""
_BLOCK: Final = 8192
"""Vectors that are assigned at a time."""
_QUERIES: Final = 4096
"""Maximum queries per search: many share the products of a list."""
_FEWEST: Final = 1024
"""Queries that are enough for one thread."""
_FIRST: Final = 4
"""Lists per query that give the first floor."""
_SPREAD: Final = 0.3
"""Weight of a list's spread; 0.2 to 0.5 found as many of the best passages of real questions."""
_BASE: Final = 300_000_000
"""Memory of a build besides the vectors, in bytes."""


class Lists(NamedTuple):
    """The arrays of an index."""

    means: Matrix
    """The mean vector of each list; zeros of an empty one."""
    spreads: Matrix
    """The root of the mean squared distance from it."""
    starts: Places
    """The first row of each list, and the number of rows."""
    places: Places
    """The position in the corpus of each row."""
    rows: npt.NDArray[Any]
    """The vectors as they are stored, list by list."""


@dataclass(frozen=True)
class IvfIndex:
    """The index of a corpus, and the stored vectors, which decide the scores."""

    lists: Lists
    vectors: Vectors

    @classmethod
    def of(
        cls, corpus: Corpus, vectors: Vectors, embedder: Embedder, precision: Precision
    ) -> IvfIndex:
        """Return the index of a corpus, from its store if it is stored there."""
        store = corpus.store
        made_of = {
            **vectors_made_of(embedder, precision),
            "corpus": corpus.content_digest,
            "lists": list_count(len(vectors)),
            "build": source_digest(_build),
        }

        def built() -> Lists:
            if store is None:
                return _build(vectors)
            folder = store.files("ivf", made_of, lambda folder: _write(_build(vectors), folder))
            return _read(folder)

        root = str(store.root) if store else ""
        return cls(INDEXES.get("ivf", fingerprint({**made_of, "store": root}), built), vectors)

    def __len__(self) -> int:
        """Return the number of lists."""
        return len(self.lists.means)

    def nearest(
        self, queries: Matrix, top_k: int, probed: int, advance: Callable[[int], object]
    ) -> Iterator[Near]:
        """Yield the nearest vectors of each query among those in its `probed` nearest lists.

        Scores are computed again in 64 bits, and equal ones are ordered by position, as in an exact
        search. There may be fewer than `top_k` vectors in the lists.
        """
        threads = available_cpus()
        size = min(_QUERIES, max(_FEWEST, -(-len(queries) // threads)))
        starts = range(0, len(queries), size)
        parts = [np.ascontiguousarray(queries[at : at + size]) for at in starts]
        with single_blas(), ThreadPoolExecutor(threads) as pool:
            for found in pool.map(lambda part: self._search(part, top_k, probed), parts):
                yield from found
                advance(len(found))

    def ranks(self, queries: Matrix, found: Places) -> Places:
        """Return, for some vectors per query, how many lists are nearer than the vector's own."""
        rows = np.empty(len(self.vectors), dtype=np.int64)
        rows[self.lists.places] = np.arange(len(rows))
        own = np.searchsorted(self.lists.starts, rows[found], side="right") - 1
        near = self._nearness(queries)
        ranks = np.argsort(np.argsort(-near, axis=1, kind="stable"), axis=1)
        wanted: Places = np.take_along_axis(ranks, own, axis=1)
        return wanted

    def _nearness(self, queries: Matrix) -> Matrix:
        spreads = np.linalg.norm(queries, axis=1)[:, None] * self.lists.spreads
        near: Matrix = queries @ self.lists.means.T + np.float32(_SPREAD) * spreads
        return near

    def _search(self, queries: Matrix, top_k: int, probed: int) -> list[Near]:
        first, near = min(_FIRST, probed), self._nearness(queries)
        places = len(self) - probed, len(self) - first
        least = np.partition(near, sorted({*places}), axis=1)
        # Lists come first, so that the queries of each are found quickly.
        chosen, nearest = (np.ascontiguousarray((near >= least[:, [p]]).T) for p in places)
        slack = slack_of(queries, self.vectors)
        floors = np.full(len(queries), -np.inf, dtype=np.float32)
        hits = self._hits(queries, nearest, floors, top_k, slack)
        if probed > first:
            floors = _floors(hits, len(queries), top_k) - slack
            more = self._hits(queries, chosen & ~nearest, floors, 0, slack)
            hits = tuple(np.concatenate(pair) for pair in zip(hits, more, strict=True))
        asked, rows, scores = hits
        kept = scores >= (_floors(hits, len(queries), top_k) - slack)[asked]
        asked, places = asked[kept], self.lists.places[rows[kept]]
        order = np.lexsort((places, asked))
        ends = np.cumsum(np.bincount(asked, minlength=len(queries)))[:-1]
        groups = np.split(places[order], ends)
        return [self._settled(*pair, top_k) for pair in zip(queries, groups, strict=True)]

    def _hits(
        self,
        queries: Matrix,
        chosen: npt.NDArray[np.bool_],
        floors: Matrix,
        top_k: int,
        slack: Matrix,
    ) -> tuple[npt.NDArray[Any], ...]:
        """Return query, row and score of all vectors of the chosen lists that reach the floors.

        A list alone raises the floors of its queries if `top_k` is not 0.
        """
        found = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))]
        for number in np.flatnonzero(chosen.any(axis=1)).tolist():
            start, stop = self.lists.starts[number : number + 2].tolist()
            if start == stop:
                continue
            asked = np.flatnonzero(chosen[number])
            scores = queries[asked] @ decode(self.lists.rows[start:stop], np.float32).T
            if 0 < top_k < stop - start:
                place = stop - start - top_k
                worst = np.partition(scores, place, axis=1)[:, place]
                floors[asked] = np.maximum(floors[asked], worst - slack[asked])
            hits = np.flatnonzero(scores >= floors[asked][:, None])
            at = hits // (stop - start)
            rows = hits - at * (stop - start) + start
            found.append((asked[at], rows, scores.ravel()[hits]))
        return tuple(np.concatenate(column) for column in zip(*found, strict=True))

    def _settled(self, query: Matrix, places: Places, top_k: int) -> Near:
        scores = np.vecdot(self.vectors.exact(places), query.astype(np.float64)).astype(np.float32)
        order = top_places(scores, top_k) if len(places) else places
        return Near(places[order], scores[order])


def list_count(count: int) -> int:
    """Return the number of lists for a number of vectors.

    >>> list_count(100_000)
    791
    """
    return max(1, round(_LISTS * math.sqrt(count)))


def _floors(hits: tuple[npt.NDArray[Any], ...], count: int, top_k: int) -> Matrix:
    """Return the `top_k`-th best score of each query; -inf where there are fewer."""
    asked, _, scores = hits
    held = np.bincount(asked, minlength=count)
    last = np.cumsum(held) - held + top_k - 1
    floors = np.full(count, -np.inf, dtype=np.float32)
    enough = held >= top_k
    floors[enough] = scores[np.lexsort((-scores, asked))][last[enough]]
    return floors


def _build(vectors: Vectors) -> Lists:
    count, lists = len(vectors), list_count(len(vectors))
    empty = vectors.stored(np.arange(0))
    rows = np.empty((count, *empty.shape[1:]), dtype=empty.dtype)
    size = rows.nbytes + count * 16
    require_memory_and_disk(_BASE + size, 0, f"indexing {count:,} vectors for approximate search")
    with progress("Indexing vectors", count) as bar, single_blas():
        centres, own = _centres(vectors, lists), np.empty(count, dtype=np.int64)
        for start in range(0, count, _BLOCK):
            part = vectors.slice(start, start + _BLOCK)
            own[start : start + len(part)] = np.argmax(part @ centres.T, axis=1)
            bar.advance(len(part))
    places = np.argsort(own, kind="stable")
    for start in range(0, count, _BLOCK):
        rows[start : start + _BLOCK] = vectors.stored(places[start : start + _BLOCK])
    starts = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=lists))])
    return Lists(*_means(rows, starts), starts, places, rows)


def _means(rows: npt.NDArray[Any], starts: Places) -> tuple[Matrix, Matrix]:
    """Return mean and spread of each list of rows."""
    means, squares = [], []
    for start, stop in itertools.pairwise(starts.tolist()):
        held = decode(rows[start:stop], np.float32)
        means.append(held.sum(axis=0) / max(1, len(held)))
        squares.append(np.vecdot(held, held).sum() / max(1, len(held)))
    middle = np.stack(means).astype(np.float32, copy=False)
    spreads = np.sqrt(np.maximum(np.array(squares) - np.vecdot(middle, middle), 0))
    return middle, spreads.astype(np.float32, copy=False)


def _centres(vectors: Vectors, lists: int) -> Matrix:
    """Return the mean directions of the parts of a sample."""
    count = min(len(vectors), lists * _TRAINED_ON)
    drawn = np.linspace(0, len(vectors) - 1, count).astype(np.int64)
    sample = _directions(vectors.exact(drawn).astype(np.float32))
    chosen = np.random.default_rng(0).permutation(count)[np.arange(lists) % count]
    centres = sample[chosen]
    for _ in range(_ROUNDS):
        blocks = range(0, count, _BLOCK)
        own = np.concatenate([(sample[n : n + _BLOCK] @ centres.T).argmax(axis=1) for n in blocks])
        held = np.bincount(own, minlength=lists)
        # A centre without vectors stays where it is.
        used = np.flatnonzero(held)
        starts = (np.cumsum(held) - held)[used]
        sums = np.add.reduceat(sample[np.argsort(own, kind="stable")], starts, axis=0)
        centres[used] = _directions(sums.astype(np.float32))
    return centres


def _directions(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    directions: Matrix = (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32, copy=False)
    return directions


def _write(lists: Lists, folder: Path) -> None:
    for name, array in lists._asdict().items():
        np.save(folder / f"{name}.npy", array)


def _read(folder: Path) -> Lists:
    mapped = {n: np.load(folder / f"{n}.npy", mmap_mode="r") for n in Lists._fields}
    return Lists(**{name: np.asarray(array) for name, array in mapped.items()})
