"""The vectors of a whole corpus, stored shard by shard as they are computed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.core.fingerprint import fingerprint
from ragstone.core.progress import progress
from ragstone.core.resources import require_memory_and_disk, size
from ragstone.core.step_notes import add_note, collect_notes
from ragstone.errors import ConfigError
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.quantisation import Precision, Vectors, encode, longest, row_type
from ragstone.indexes.vector_files import VectorFolder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from ragstone.core.progress import Bar
    from ragstone.core.store import Store
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Embedder

SHARD: Final = 256
"""Passages stored together: what a run that is killed has to compute again at most."""
_AT_ONCE: Final = 64
"""Passages between two signs of progress."""
_BASE: Final = 300_000_000
"""Bytes of memory that a search takes beside the vectors of a corpus without a store."""
_SURE: Final = 10_000
"""So few passages need no estimate."""


def embed_corpus(corpus: Corpus, embedder: Embedder, precision: Precision = "float32") -> Vectors:
    """Return the vectors of all passages.

    With a store, each shard is stored under the embedder's recipe, the precision and its own texts,
    and the vectors are mapped files: going on after a kill, and passages added at the end, cost
    only what is new. What the embedder notes about passages is noted whenever they are used.

    Raises:
        ConfigError: the embedder returns what cannot be searched.
        RagstoneError: memory or disk will not do.
        StoreError: a file is damaged, or cannot be written.
    """
    store = corpus.store
    if store is None:
        return _in_memory(corpus, embedder, precision)
    made_of = {"embedder": embedder, "precision": precision}
    key = fingerprint({**made_of, "store": str(store.root), "corpus": corpus.digest})
    vectors, notes = INDEXES.get(
        "vectors", key, lambda: _stored(corpus, store, embedder, precision)
    )
    for what, count in notes.items():
        add_note(what, count)
    return vectors


def index_room(
    corpus: Corpus, embedder: Embedder, precision: Precision, dimension: int
) -> dict[str, int]:
    """Return which index embedding a corpus adds to its store -> how many bytes; writes nothing."""
    if corpus.store is None:
        return {}
    made_of = {"embedder": embedder, "precision": precision}
    row = row_type(precision, dimension).itemsize
    digests = _known_digests(corpus, corpus.store)
    folder = corpus.store.kept_files("vectors", made_of)
    missing = len(corpus)
    if digests is not None and folder is not None:
        kept = VectorFolder.read(folder, precision).shards
        missing = min(missing, sum(d not in kept for d in set(digests)) * SHARD)
    return {fingerprint(made_of): missing * row} if missing else {}


def _stored(
    corpus: Corpus, store: Store, embedder: Embedder, precision: Precision
) -> tuple[Vectors, Mapping[str, int]]:
    """Embed what is not stored yet; return the vectors, and what was noted about the passages."""
    digests = _known_digests(corpus, store) or _digests(corpus, store)
    folder = _folder(store, embedder, precision)
    missing = sum(digest not in folder.shards for digest in set(digests))
    checked_room = not missing
    with progress("Embedding passages", len(corpus)) as bar, folder.writer() as writer:
        for number, digest in enumerate(digests):
            texts = corpus.full_texts(number * SHARD, (number + 1) * SHARD)
            if digest in folder.shards:
                bar.advance(len(texts))
                continue
            with collect_notes() as notes:
                vectors = _embed(texts, embedder, bar, folder.dimension)
            if not checked_room:
                _check_disk(missing * SHARD, vectors.shape[1], precision, store)
                checked_room = True
            writer.add(digest, vectors, notes)
    notes = Counter[str]()
    for digest in digests:
        notes.update(folder.shards[digest].notes)
    return folder.vectors(digests), notes


def _in_memory(corpus: Corpus, embedder: Embedder, precision: Precision) -> Vectors:
    parts: list[npt.NDArray[Any]] = []
    dimension = 0
    with progress("Embedding passages", len(corpus)) as bar:
        for start in range(0, len(corpus), SHARD):
            vectors = _embed(corpus.full_texts(start, start + SHARD), embedder, bar, dimension)
            if not dimension:
                dimension = vectors.shape[1]
                _check_memory(len(corpus), dimension, precision)
            parts.append(encode(vectors, precision))
    length = max(map(longest, parts), default=0.0)
    return Vectors((np.concatenate(parts),) if parts else (), dimension, length)


def _embed(
    texts: Sequence[str], embedder: Embedder, bar: Bar, dimension: int
) -> npt.NDArray[np.float32]:
    """Return the vectors of some texts, as long as those before (`dimension`, 0 for none)."""
    parts = []
    at_once: int = getattr(embedder, "at_once", _AT_ONCE)
    for place in range(0, len(texts), at_once):
        part = texts[place : place + at_once]
        vectors = checked(embedder.embed_passages(part), part, embedder)
        dimension = dimension or vectors.shape[1]
        if vectors.shape[1] != dimension:
            raise ConfigError(
                f"the embedder {embedder!r} returned vectors of {vectors.shape[1]} dimensions, and "
                f"of {dimension} before; if it was changed, give it another version"
            )
        parts.append(vectors)
        bar.advance(len(part))
    return np.concatenate(parts)


def _folder(store: Store, embedder: Embedder, precision: Precision) -> VectorFolder:
    made_of = {"embedder": embedder, "precision": precision}
    return VectorFolder.read(store.files("vectors", made_of, lambda _: None), precision)


def _digests(corpus: Corpus, store: Store) -> list[str]:
    """Return the digest of each shard's texts, and keep them: reading a corpus takes its time."""
    digests = [
        fingerprint(corpus.full_texts(start, start + SHARD))
        for start in range(0, len(corpus), SHARD)
    ]
    store.write_json("shards", corpus.digest, {"passages": SHARD, "texts": digests})
    return digests


def _known_digests(corpus: Corpus, store: Store) -> list[str] | None:
    found = store.read_json("shards", corpus.digest)
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
        way_out=f"{f'use {lower}, ' if lower else ''}make room, or give another folder with "
        f"store=PATH; what is embedded already is kept",
    )


def _check_memory(count: int, dimension: int, precision: Precision) -> None:
    if count > _SURE:
        # Twice: the parts, and what they are joined to.
        require_memory_and_disk(
            _BASE + 2 * count * row_type(precision, dimension).itemsize,
            0,
            f"holding {count:,} vectors of {dimension} numbers in {precision}",
            way_out="give the corpus a store, which maps them from files, or a lower precision",
        )


def checked(vectors: Any, texts: Sequence[str], embedder: Embedder) -> npt.NDArray[np.float32]:
    """Return an embedder's vectors; raise `ConfigError` unless they can be searched."""
    array = np.asarray(vectors, dtype=np.float32)
    if array.ndim != 2 or len(array) != len(texts):  # noqa: PLR2004 -- rows and columns
        raise ConfigError(
            f"the embedder {embedder!r} must return an array of shape ({len(texts)}, dimension) "
            f"for {len(texts)} texts, found shape {array.shape}"
        )
    if not np.isfinite(array).all():
        place = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise ConfigError(
            f"the embedder {embedder!r} returned a vector with numbers that are not finite, "
            f"for the text {texts[place][:60]!r}"
        )
    return array
