"""The sparse vectors of a corpus, stored shard by shard as they are computed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import SilentBar, progress
from ragstone.core.resources import require_memory_and_disk
from ragstone.core.vectors import SparseVectors
from ragstone.indexes.embed import embed_passages
from ragstone.indexes.inverted import Postings

if TYPE_CHECKING:
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


def sparse_index(embedder: Embedder, services: Services) -> Postings:
    """Return the inverted index of a corpus.

    With a store, each shard is stored under the embedder's key and its own texts. A run after a
    kill, or after passages were added at the end, encodes only the shards that are new.

    Raises:
        RagstoneError: the index will not fit, or a passage could not be embedded.
    """
    corpus = services.corpus
    require_memory_and_disk(
        len(corpus) * _TERMS_PER_PASSAGE * _BYTES_PER_TERM,
        0,
        f"a sparse index of {len(corpus):,} passages",
    )
    with progress("Weighing words", len(corpus)) as bar:
        starts = range(0, len(corpus), SHARD)
        vectors = _joined([_shard(embedder, services, start, bar) for start in starts])
    size = int(vectors.words.max(initial=-1)) + 1
    return Postings.of_rows(vectors.starts, vectors.words, vectors.weights, vocabulary=size)


def sparse_slice(embedder: Embedder, services: Services, start: int, stop: int) -> SparseVectors:
    """Return the sparse vectors of passages `start` up to `stop`.

    With a store, they are read from the shards of `sparse_index` or stored in them.
    """
    if services.corpus.store is None:
        return _embedded(embedder, services, start, stop, SilentBar())
    first = start - start % SHARD
    places = range(first, stop, SHARD)
    shards = [_shard(embedder, services, place, SilentBar()) for place in places]
    return _joined(shards).slice(start - first, stop - first)


def _shard(embedder: Embedder, services: Services, start: int, bar: Bar) -> SparseVectors:
    """Return the vectors of the shard that begins at passage `start`."""
    corpus, stop = services.corpus, min(start + SHARD, len(services.corpus))

    def write(folder: Path) -> None:
        _require_disk(corpus, start, folder)
        vectors = _embedded(embedder, services, start, stop, bar)
        for name in SparseVectors.__slots__:
            np.save(folder / f"{name}.npy", getattr(vectors, name), allow_pickle=False)

    if corpus.store is None:
        return _embedded(embedder, services, start, stop, bar)
    made_of: dict[str, Any] = {
        "encoder": embedder,
        "texts": fingerprint(corpus.full_texts(start, stop)),
    }
    if (folder := corpus.store.kept_files("weigh", made_of)) is not None:
        bar.advance(stop - start)
    else:
        folder = corpus.store.files("weigh", made_of, write)
    arrays = [np.load(folder / f"{n}.npy", allow_pickle=False) for n in SparseVectors.__slots__]
    return SparseVectors(*arrays)


def _embedded(
    embedder: Embedder, services: Services, start: int, stop: int, bar: Bar
) -> SparseVectors:
    texts = services.corpus.full_texts(start, stop)
    ids = services.corpus.passage_ids[start:stop]
    return SparseVectors.from_rows(embed_passages(embedder, texts, ids, services, bar))


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
