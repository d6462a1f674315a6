"""The vectors of a whole corpus, stored shard by shard as they are computed."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import SilentBar, progress
from ragstone.core.resources import require_memory_and_disk, size
from ragstone.core.step_notes import add_note, collect_notes
from ragstone.core.user_code import source_digest
from ragstone.errors import DamagedFile
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.embed import embed_passages
from ragstone.indexes.quantisation import Precision, Vectors, encode, longest, row_type
from ragstone.indexes.sent_shards import ShardJob, texts_of
from ragstone.indexes.vector_files import ShardWriter, VectorFolder, set_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ragstone.core.progress import Bar
    from ragstone.core.store import Store
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Embedder, Services

_LOG: Final = logging.getLogger(__name__)
SHARD: Final = 256
"""Passages stored together: the most that a killed run has to compute again."""
_BASE: Final = 300_000_000
"""Memory of a search besides the vectors of a corpus without a store, in bytes."""
_SURE: Final = 10_000
"""Maximum number of passages that need no estimate."""


def embed_corpus(
    embedder: Embedder, services: Services, precision: Precision = "float32"
) -> Vectors:
    """Return the vectors of all passages.

    The vectors of joined collections are those of their parts, which are computed once. With a
    store, the vectors are mapped files. Each shard is stored under the embedder's key, the
    precision and its own texts. A run after a kill, or after passages were added at the end,
    computes only the shards that are new, on the workers of the executor if it is not this process.
    The embedder's notes about the passages are stored too and added again by each run.

    Raises:
        ConfigError: the vectors cannot be searched.
        RagstoneError: memory or disk is too small, or a passage could not be embedded.
        StoreError: a file cannot be written.
    """
    corpus = services.corpus
    if corpus.parts:
        every = [services.of_step(services.qrels, part) for part in corpus.parts]
        return _together([embed_corpus(embedder, one, precision) for one in every])
    store = corpus.store
    if store is None:
        return _in_memory(embedder, services, precision)
    made_of = vectors_made_of(embedder, precision)
    key = fingerprint({**made_of, "store": str(store.root), "corpus": corpus.content_digest})
    vectors, notes = INDEXES.get(
        "vectors", key, lambda: _stored(store, embedder, services, precision)
    )
    for what, count in notes.items():
        add_note(what, count)
    return vectors


def _together(parts: Sequence[Vectors]) -> Vectors:
    """Return the vectors of the parts of a corpus, one part after the other."""
    arrays = [array for part in parts for array in part.parts]
    longest_of_all = max(part.longest for part in parts)
    return Vectors(arrays, max(part.dimension for part in parts), longest_of_all)


def missing_bytes(corpus: Corpus, embedder: Embedder, precision: Precision) -> dict[str, int]:
    """Return the key of the vectors -> bytes that embedding a corpus would add to its store.

    Empty without a store, if nothing is missing, or if the embedder's `dimension` is unknown.
    """
    if corpus.store is None or embedder.dimension is None:
        return {}
    made_of = vectors_made_of(embedder, precision)
    row = row_type(precision, embedder.dimension).itemsize
    digests = _known_digests(corpus, corpus.store)
    folder = corpus.store.kept_files("vectors", made_of)
    missing = len(corpus)
    if digests is not None and folder is not None:
        kept = _read(corpus.store, folder, precision).shards
        missing = min(missing, sum(d not in kept for d in set(digests)) * SHARD)
    return {fingerprint(made_of): missing * row} if missing else {}


def _stored(
    store: Store, embedder: Embedder, services: Services, precision: Precision
) -> tuple[Vectors, Mapping[str, int]]:
    """Compute the vectors that are not stored yet; return all of them, and the embedder's notes."""
    corpus = services.corpus
    digests = _known_digests(corpus, store) or _digests(corpus, store)
    folder = _folder(store, embedder, precision)
    missing = sum(digest not in folder.shards for digest in set(digests))
    checked_disk = not missing
    numbers = {d: number for number, d in reversed([*enumerate(digests)]) if d not in folder.shards}
    starts = [number * SHARD for number in sorted(numbers.values())]
    with (
        progress("Embedding passages", len(corpus)) as bar,
        closing(ShardWriter(folder)) as writer,
    ):
        made = _computed(starts, embedder, services, bar, lambda: folder.dimension)
        for digest in digests:
            if digest in folder.shards:
                bar.advance(folder.shards[digest].rows)
                continue
            vectors, notes = next(made)
            if not checked_disk:
                _check_disk(missing * SHARD, vectors.shape[1], precision, store)
                checked_disk = True
            writer.add(digest, vectors, notes)
    notes = Counter[str]()
    for digest in digests:
        notes.update(folder.shards[digest].notes)
    try:
        return folder.vectors(digests), notes
    except DamagedFile as error:
        _set_aside(store, error)
        return _stored(store, embedder, services, precision)


def _in_memory(embedder: Embedder, services: Services, precision: Precision) -> Vectors:
    count = len(services.corpus)
    parts: list[npt.NDArray[Any]] = []
    dimension = 0
    with progress("Embedding passages", count) as bar:
        starts = range(0, count, SHARD)
        made = _computed(starts, embedder, services, bar, lambda: dimension)
        for vectors, notes in made:
            for what, times in notes.items():
                add_note(what, times)
            if not dimension:
                dimension = vectors.shape[1]
                _check_memory(count, dimension, precision)
            parts.append(encode(vectors, precision))
    length = max(map(longest, parts), default=0.0)
    return Vectors((np.concatenate(parts),) if parts else (), dimension, length)


def _computed(
    starts: Sequence[int],
    embedder: Embedder,
    services: Services,
    bar: Bar,
    dimension: Callable[[], int],
) -> Iterator[tuple[npt.NDArray[np.float32], Mapping[str, int]]]:
    """Yield vectors and notes of the shards that begin at some passages, in order.

    The workers of the executor compute them, unless there is one shard only.
    """
    corpus = services.corpus
    job = ShardJob.of(embedder, services, _whole) if len(starts) > 1 else None
    if job is None:
        for start in starts:
            with collect_notes() as notes:
                vectors = _embed(start, embedder, services, bar, dimension())
            yield vectors, notes
        return
    ends = (min(start + SHARD, len(corpus)) for start in starts)
    texts = (texts_of(corpus, range(*of), dimension()) for of in zip(starts, ends, strict=True))
    for shard in services.executor.map(job, texts):
        (vectors,) = shard.arrays
        bar.advance(len(vectors))
        yield vectors, shard.notes


def _whole(
    embedder: Embedder, services: Services, dimension: int
) -> tuple[npt.NDArray[np.float32]]:
    """Return the vectors of a corpus that is one shard."""
    return (_embed(0, embedder, services, SilentBar(), dimension),)


def _embed(
    start: int, embedder: Embedder, services: Services, bar: Bar, dimension: int
) -> npt.NDArray[np.float32]:
    """Return the vectors of the shard that begins at passage `start`."""
    places = range(start, min(start + SHARD, len(services.corpus)))
    return np.stack(embed_passages(embedder, places, services, bar, dimension))


def _folder(store: Store, embedder: Embedder, precision: Precision) -> VectorFolder:
    made_of = vectors_made_of(embedder, precision)
    return _read(store, store.files("vectors", made_of, lambda _: None), precision)


def _read(store: Store, folder: Path, precision: Precision) -> VectorFolder:
    """Return the vectors of a folder, after every damaged list was set aside."""
    while True:
        try:
            return VectorFolder.read(folder, precision)
        except DamagedFile as error:
            _set_aside(store, error)


def _set_aside(store: Store, error: DamagedFile) -> None:
    _LOG.warning("%s is damaged: %s; its passages are embedded again", error.path, error.what)
    set_aside(store, error.path)


def vectors_made_of(embedder: Embedder, precision: Precision) -> dict[str, Any]:
    """Return what the vectors of a corpus depend on besides its texts."""
    source = [source_digest(_embed), source_digest(encode)]
    return {"embedder": embedder, "precision": precision, "source": source}


def _digests(corpus: Corpus, store: Store) -> list[str]:
    """Return the digest of each shard's texts, and store them: reading a corpus is slow."""
    digests = [
        fingerprint(corpus.full_texts(start, start + SHARD))
        for start in range(0, len(corpus), SHARD)
    ]
    store.write_json("shards", corpus.content_digest, {"passages": SHARD, "texts": digests})
    return digests


def _known_digests(corpus: Corpus, store: Store) -> list[str] | None:
    found = store.sound_json("shards", corpus.content_digest)
    return found["texts"] if found and found["passages"] == SHARD else None


def _check_disk(count: int, dimension: int, precision: Precision, store: Store) -> None:
    need = {p: count * row_type(p, dimension).itemsize for p in ("float32", "float16", "int8")}
    smaller = {p: n for p, n in need.items() if n < need[precision]}
    lower = " or ".join(f"precision: {p} ({size(n)})" for p, n in smaller.items())
    require_memory_and_disk(
        0 if count <= _SURE else _BASE,
        need[precision],
        f"storing {count:,} vectors of {dimension} numbers in {precision}",
        folder=store.root,
        way_out=f"{f'use {lower}, ' if lower else ''}free some space, or choose another "
        f"folder with store=PATH; vectors that are stored already are kept",
    )


def _check_memory(count: int, dimension: int, precision: Precision) -> None:
    if count > _SURE:
        # Twice: the parts and the array that they are joined into.
        require_memory_and_disk(
            _BASE + 2 * count * row_type(precision, dimension).itemsize,
            0,
            f"holding {count:,} vectors of {dimension} numbers in {precision}",
            way_out="give the corpus a store, so that files are mapped, or use a lower precision",
        )
