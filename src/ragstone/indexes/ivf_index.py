"""An inverted file of vectors (faiss, IVF Flat): a query is compared with the nearest lists only.

The centres of the lists are trained on a sample of the vectors, with a fixed seed and in one
thread. The index is kept in the store under the digest of the corpus and the key of the vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import progress
from ragstone.core.resources import available_cpus, require_memory_and_disk
from ragstone.core.user_code import source_digest
from ragstone.errors import MissingDependency
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.corpus_vectors import vectors_made_of
from ragstone.indexes.exact_knn import Near
from ragstone.indexes.top_k import top_places

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.data.corpus import Corpus
    from ragstone.indexes.quantisation import Precision, Vectors
    from ragstone.protocols import Embedder

    Matrix = npt.NDArray[np.float32]

_FILE: Final = "index.faiss"
_LISTS: Final = 2.5
"""Lists per square root of the number of vectors."""
_TRAINED_ON: Final = 64
"""Vectors per list in the sample that the centres are trained on."""
_BLOCK: Final = 16_384
"""Vectors that are added at a time."""
_QUERIES: Final = 256
"""Queries per search, between two steps of the progress bar."""
_BASE: Final = 300_000_000
"""Memory of a build besides the vectors, in bytes."""


def load_faiss() -> Any:
    """Return the package faiss; raise `MissingDependency` if it is not installed."""
    try:
        import faiss
    except ImportError as error:
        raise MissingDependency("dense(ann=ivf)", "faiss-cpu", "ann") from error
    return faiss


@dataclass(frozen=True)
class IvfIndex:
    """The index of a corpus, and the stored vectors, which decide the scores."""

    lists: Any
    vectors: Vectors

    @classmethod
    def of(
        cls, corpus: Corpus, vectors: Vectors, embedder: Embedder, precision: Precision
    ) -> IvfIndex:
        """Return the index of a corpus, from its store if it is stored there."""
        faiss, store = load_faiss(), corpus.store
        made_of = {
            **vectors_made_of(embedder, precision),
            "corpus": corpus.content_digest,
            "lists": list_count(len(vectors)),
            "build": source_digest(_build),
            "faiss": faiss.__version__,
        }

        def built() -> Any:
            if store is None:
                return _build(vectors)
            # The store compares the file with its checksum before anything reads it.
            folder = store.files("ivf", made_of, lambda folder: _write(_build(vectors), folder))
            return faiss.read_index(str(folder / _FILE))

        root = str(store.root) if store else ""
        return cls(INDEXES.get("ivf", fingerprint({**made_of, "store": root}), built), vectors)

    def __len__(self) -> int:
        """Return the number of lists."""
        return int(self.lists.nlist)

    def nearest(
        self, queries: Matrix, top_k: int, probed: int, advance: Callable[[int], object]
    ) -> Iterator[Near]:
        """Yield the nearest vectors of each query among those in its `probed` nearest lists.

        Scores are computed again in 64 bits, and equal ones are ordered by position, as in an exact
        search. There may be fewer than `top_k` vectors in the lists.
        """
        faiss = load_faiss()
        self.lists.nprobe = probed
        for start in range(0, len(queries), _QUERIES):
            part = np.ascontiguousarray(queries[start : start + _QUERIES])
            with _threads(faiss, available_cpus()):
                _, found = self.lists.search(part, min(top_k, len(self.vectors)))
            yield from map(self._settled, part, found)
            advance(len(part))

    def _settled(self, query: Matrix, found: npt.NDArray[np.int64]) -> Near:
        # -1 stands for a place of the ranking that no vector of the lists takes.
        places = np.sort(found[found >= 0])
        scores = np.vecdot(self.vectors.exact(places), query.astype(np.float64)).astype(np.float32)
        order = top_places(scores, len(places)) if len(places) else places
        return Near(places[order], scores[order])


def list_count(count: int) -> int:
    """Return the number of lists for a number of vectors.

    >>> list_count(100_000)
    791
    """
    return max(1, round(_LISTS * math.sqrt(count)))


def _build(vectors: Vectors) -> Any:
    faiss, count = load_faiss(), len(vectors)
    size = count * (vectors.dimension + 2) * 4
    require_memory_and_disk(_BASE + size, 0, f"indexing {count:,} vectors for approximate search")
    lists = list_count(count)
    centres = faiss.IndexFlatIP(vectors.dimension)
    index = faiss.IndexIVFFlat(centres, vectors.dimension, lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.min_points_per_centroid = 1  # else faiss warns about small samples
    sample = np.linspace(0, count - 1, min(count, lists * _TRAINED_ON)).astype(np.int64)
    with progress("Indexing vectors", count) as bar, _threads(faiss, 1):
        index.train(vectors.exact(sample).astype(np.float32))
        for start in range(0, count, _BLOCK):
            part = vectors.slice(start, start + _BLOCK)
            index.add(part)
            bar.advance(len(part))
    return index


def _write(index: Any, folder: Path) -> None:
    load_faiss().write_index(index, str(folder / _FILE))


@contextmanager
def _threads(faiss: Any, count: int) -> Iterator[None]:
    """Return a context with another number of threads of faiss."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
