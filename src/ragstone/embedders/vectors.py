"""The vectors of a whole corpus, kept part by part as they are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ragstone.errors import ConfigError
from ragstone.fingerprint import fingerprint
from ragstone.progress import progress

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ragstone.datasets.corpus import Corpus
    from ragstone.progress import Bar
    from ragstone.protocols import Embedder

SHARD: Final = 256
"""Passages kept together: what a run that is killed has to compute again at most."""
_AT_ONCE: Final = 64
"""Passages between two signs of progress."""


def embed_corpus(corpus: Corpus, embedder: Embedder) -> npt.NDArray[np.float32]:
    """Return the vectors of all passages, of shape (len(corpus), dimension).

    With a store, each shard is kept under the embedder's recipe and its own texts: going on after a
    kill, and passages added at the end, cost only the shards that are new.
    """
    with progress("Embedding passages", len(corpus)) as bar:
        shards = [_shard(corpus, embedder, start, bar) for start in range(0, len(corpus), SHARD)]
    return np.concatenate(shards) if shards else np.zeros((0, 0), dtype=np.float32)


def _shard(corpus: Corpus, embedder: Embedder, start: int, bar: Bar) -> npt.NDArray[np.float32]:
    texts = corpus.full_texts(start, start + SHARD)
    done = 0

    def compute() -> npt.NDArray[np.float32]:
        nonlocal done
        parts = []
        for place in range(0, len(texts), _AT_ONCE):
            part = texts[place : place + _AT_ONCE]
            parts.append(checked(embedder.embed_passages(part), part, embedder))
            bar.advance(len(part))
            done += len(part)
        return np.concatenate(parts)

    if corpus.store is None:
        return compute()
    made_of: dict[str, Any] = {"embedder": embedder, "texts": fingerprint(texts)}
    vectors = corpus.store.array("embed", made_of, compute)
    bar.advance(len(texts) - done)
    return vectors


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
