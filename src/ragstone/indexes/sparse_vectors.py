"""The sparse vectors of a corpus, stored shard by shard as they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core import limits
from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import SilentBar, progress
from ragstone.core.resources import require_memory_and_disk
from ragstone.core.user_code import source_digest
from ragstone.indexes.embed import embed_passages
from ragstone.indexes.inverted import Postings
from ragstone.indexes.merge import Part, held, merge
from ragstone.indexes.sent_shards import SentShards, ShardJob

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.core.progress import Bar
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Embedder, Services

SHARD: Final = 256
"""Passages stored together: the most that a killed run has to encode again."""
_TERMS_PER_PASSAGE: Final = 300
"""Estimated terms of a passage: more than most encoders return."""
_BYTES_PER_TERM: Final = 40
"""Peak memory while an index is built, sorting included."""
_STORED_BYTES_PER_TERM: Final = 8


@dataclass(frozen=True, slots=True)
class SparseVectors:
    """Sparse vectors in compressed rows: row n has the terms `words[starts[n]:starts[n + 1]]`.

    The weights of these terms, all above 0, are at the same places of `weights`.
    """

    starts: npt.NDArray[np.int64]
    words: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    @classmethod
    def from_rows(cls, rows: Sequence[Mapping[int, float]]) -> SparseVectors:
        """Return the vectors of some rows, each term -> weight.

        >>> SparseVectors.from_rows([{7: 1.0}, {}, {2: 0.5, 9: 0.25}]).starts.tolist()
        [0, 1, 1, 3]
        """
        return cls(
            np.cumsum([0, *map(len, rows)], dtype=np.int64),
            np.array([word for row in rows for word in row], dtype=np.int32),
            np.array([weight for row in rows for weight in row.values()], dtype=np.float32),
        )

    def rows(self, start: int, stop: int) -> Iterator[dict[int, float]]:
        """Yield term -> weight of rows `start` up to `stop`.

        >>> list(SparseVectors.from_rows([{7: 1.0}, {}, {2: 0.5, 9: 0.25}]).rows(1, 3))
        [{}, {2: 0.5, 9: 0.25}]
        """
        for first, last in pairwise(self.starts[start : stop + 1].tolist()):
            words, weights = self.words[first:last].tolist(), self.weights[first:last].tolist()
            yield dict(zip(words, weights, strict=True))


def sparse_index(embedder: Embedder, services: Services) -> Postings:
    """Return the inverted index of a corpus.

    With a store, each shard is stored under the embedder's key and its own texts. A run after a
    kill, or after passages were added at the end, encodes only the shards that are new. The index
    is stored too: it is merged from parts on the disk and mapped, so that memory stays flat.

    Raises:
        RagstoneError: the index will not fit, or a passage could not be encoded.
    """
    corpus = services.corpus
    if corpus.store is None:
        need = len(corpus) * _TERMS_PER_PASSAGE * _BYTES_PER_TERM
        require_memory_and_disk(need, 0, f"a sparse index of {len(corpus):,} passages")
        vectors = _joined(list(_shards(embedder, services)))
        return _inverted(vectors)
    made_of = {
        "encoder": embedder,
        "corpus": corpus.content_digest,
        "source": [source_digest(_merged), source_digest(merge)],
    }
    folder = corpus.store.files("sparse", made_of, partial(_merged, embedder, services))
    return Postings.load(folder)


def _merged(embedder: Embedder, services: Services, folder: Path) -> None:
    """Write the index of a corpus, part by part, and then merged."""
    count = len(services.corpus)
    what = f"a sparse index of {count:,} passages"
    most = min(count, limits.INDEX_PART_PASSAGES) * _TERMS_PER_PASSAGE * _BYTES_PER_TERM
    require_memory_and_disk(most, 0, what)
    parts: list[Part] = []
    first = 0
    shards = _shards(embedder, services)
    with TemporaryDirectory(dir=folder) as temporary:
        while some := list(islice(shards, max(1, limits.INDEX_PART_PASSAGES // SHARD))):
            own = _inverted(_joined(some))
            if not parts:
                # Parts and index, by the size of the first part.
                need = 2 * len(own.places) * _STORED_BYTES_PER_TERM * count // own.length
                require_memory_and_disk(0, need, what, folder=folder.parent)
            place = Path(temporary) / str(len(parts))
            place.mkdir()
            own.save(place)
            parts.append(Part(place, first, np.arange(len(own.highest))))
            first += own.length
        size = max((len(part.terms) for part in parts if part.terms is not None), default=0)
        merge(parts, first, held(parts, size), folder=folder)


def _inverted(vectors: SparseVectors) -> Postings:
    size = int(vectors.words.max(initial=-1)) + 1
    return Postings.of_rows(vectors.starts, vectors.words, vectors.weights, vocabulary=size)


def _shards(embedder: Embedder, services: Services) -> Iterator[SparseVectors]:
    """Yield the vectors of each shard of a corpus, in order."""
    with progress("Weighing words", len(services.corpus)) as bar:
        # The shards of joined collections are those of their parts, which are computed once.
        parts = services.corpus.parts
        for one in [services.of_step(services.qrels, part) for part in parts] or [services]:
            sent = _sent(embedder, one)
            for start in range(0, len(one.corpus), SHARD):
                sent.wait_for(start)
                yield _shard(embedder, one, start, bar)


def _sent(embedder: Embedder, services: Services) -> SentShards:
    """Return the shards that the workers of the executor compute."""
    store = services.corpus.store

    def kept(start: int) -> bool:
        made_of = _made_of(embedder, services.corpus, start)
        return store is not None and store.kept_files("weigh", made_of) is not None

    def keep(start: int, arrays: Sequence[npt.NDArray[Any]]) -> None:
        _kept(embedder, services.corpus, start, lambda: SparseVectors(*arrays))

    job = ShardJob.of(embedder, services, _whole)
    return SentShards.of(job, services, SHARD, kept, keep)


def _whole(embedder: Embedder, services: Services, _: int) -> tuple[npt.NDArray[Any], ...]:
    """Return the arrays of a corpus that is one shard."""
    vectors = _shard(embedder, services, 0, SilentBar())
    return vectors.starts, vectors.words, vectors.weights


def sparse_rows(
    embedder: Embedder, services: Services, start: int, stop: int
) -> Iterator[dict[int, float]]:
    """Yield the sparse vectors of passages `start` up to `stop`.

    With a store, they are read from the shards of `sparse_index` or stored in them.
    """
    if services.corpus.store is None:
        yield from embed_passages(embedder, range(start, stop), services, SilentBar())
        return
    first = start - start % SHARD
    places = range(first, stop, SHARD)
    shards = [_shard(embedder, services, place, SilentBar()) for place in places]
    yield from _joined(shards).rows(start - first, stop - first)


def _shard(embedder: Embedder, services: Services, start: int, bar: Bar) -> SparseVectors:
    """Return the vectors of the shard that begins at passage `start`."""
    corpus = services.corpus
    places = range(start, min(start + SHARD, len(corpus)))

    def compute() -> SparseVectors:
        return SparseVectors.from_rows(embed_passages(embedder, places, services, bar))

    if corpus.store is None:
        return compute()
    folder = corpus.store.kept_files("weigh", _made_of(embedder, corpus, start))
    if folder is not None:
        bar.advance(len(places))
    else:
        folder = _kept(embedder, corpus, start, compute)
    arrays = [np.load(folder / f"{n}.npy", allow_pickle=False) for n in SparseVectors.__slots__]
    return SparseVectors(*arrays)


def _made_of(embedder: Embedder, corpus: Corpus, start: int) -> dict[str, Any]:
    """Return what the shard that begins at passage `start` depends on."""
    texts = fingerprint(corpus.full_texts(start, start + SHARD))
    return {"encoder": embedder, "texts": texts, "source": source_digest(_shard)}


def _kept(
    embedder: Embedder, corpus: Corpus, start: int, compute: Callable[[], SparseVectors]
) -> Path:
    """Return the folder of a shard in the corpus's store, computed if it is missing."""
    store: Any = corpus.store

    def write(folder: Path) -> None:
        _require_disk(corpus, start, folder)
        vectors = compute()
        for name in SparseVectors.__slots__:
            np.save(folder / f"{name}.npy", getattr(vectors, name), allow_pickle=False)

    found: Path = store.files("weigh", _made_of(embedder, corpus, start), write)
    return found


def _require_disk(corpus: Corpus, start: int, folder: Path) -> None:
    """Raise `RagstoneError` if the vectors from passage `start` on will not fit on the disk."""
    # Called for new shards only: a corpus whose vectors are all stored needs no space.
    left = len(corpus) - start
    need = left * _TERMS_PER_PASSAGE * _STORED_BYTES_PER_TERM
    require_memory_and_disk(
        0, need, f"storing the sparse vectors of {left:,} passages", folder=folder.parent
    )


def _joined(parts: Iterable[SparseVectors]) -> SparseVectors:
    held = [SparseVectors.from_rows([]), *parts]
    lengths = [np.diff(part.starts) for part in held]
    return SparseVectors(
        np.concatenate([np.zeros(1, dtype=np.int64), *lengths]).cumsum(),
        np.concatenate([part.words for part in held]),
        np.concatenate([part.weights for part in held]),
    )
