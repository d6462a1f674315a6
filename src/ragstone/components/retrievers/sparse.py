"""Learned sparse retrieval: an encoder weighs words, an inverted index finds who shares them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ragstone.components.embedders.nested import Written, check_part, sparse_encoder
from ragstone.core.fingerprint import cache_key_parts, fingerprint
from ragstone.core.progress import SilentBar, progress, track
from ragstone.core.resources import require_memory_and_disk
from ragstone.core.vectors import SparseVectors
from ragstone.errors import ConfigError
from ragstone.indexes.inverted import Postings
from ragstone.indexes.top_k import check_top_k
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.core.progress import Bar
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import SparseEncoder

SHARD: Final = 256
"""Passages kept together: what a run that is killed has to encode again at most."""
_AT_ONCE: Final = 64
"""Passages between two signs of progress."""
_WORDS_PER_PASSAGE: Final = 300
"""Words that an encoder gives a passage, for the estimate of memory: more than most do."""
_BYTES_PER_WORD: Final = 40
"""At the peak of the building, sorting included."""
_KEPT_BYTES_PER_WORD: Final = 8


@dataclass(frozen=True)
class Sparse:
    """Ranks passages by the words they share with the query, as an encoder weighs them.

    The score is the sum over shared words of the products of their weights. A passage that shares
    no word is not in the ranking; equal scores stand in the order of the corpus.

    Args:
        top_k: length of a ranking at most.
        encoder: what weighs the words: a name, with its parameters in brackets or as a mapping, or
            `module:Class`.
    """

    top_k: int = 100
    encoder: Written = "splade"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the range, and that the encoder exists."""
        check_top_k(self.top_k)
        _ = self._encoder

    @cached_property
    def revision(self) -> dict[str, Any]:
        """The recipe of the encoder."""
        return cache_key_parts(self._encoder)

    @cached_property
    def _encoder(self) -> SparseEncoder:
        return sparse_encoder(self.encoder, where="retriever 'sparse', encoder")

    def check(self, calls: Calls) -> None:
        """Let the encoder say what it lacks."""
        check_part(self._encoder, calls)

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order; of no passages where it has no known word."""
        if not searches or not len(corpus):
            return [Ranking() for _ in searches]
        check_index_room(corpus)
        index = build_index(encode_corpus(corpus, self._encoder))
        queries = _checked(self._encoder.encode_queries([s.text for s in searches]), len(searches))
        found = track(queries.rows(), "Searching words", len(searches))
        return [self._ranking(row, index, corpus) for row in found]

    def _ranking(self, query: dict[int, float], index: Postings, corpus: Corpus) -> Ranking:
        # A word that no passage of the corpus holds may lie beyond the index.
        known = {word: weight for word, weight in query.items() if word < len(index.highest)}
        places, scores = index.search(list(known), list(known.values()), self.top_k)
        return Ranking([corpus.passage_ids[place] for place in places], scores.tolist())


def check_index_room(corpus: Corpus) -> None:
    """Raise `RagstoneError` where memory for the words of a corpus will not do."""
    require_memory_and_disk(
        len(corpus) * _WORDS_PER_PASSAGE * _BYTES_PER_WORD,
        0,
        f"a sparse index of {len(corpus):,} passages",
    )


def build_index(vectors: SparseVectors) -> Postings:
    """Return the inverted index of some passages."""
    size = int(vectors.words.max(initial=-1)) + 1
    return Postings.of_rows(vectors.starts, vectors.words, vectors.weights, vocabulary=size)


def encode_corpus(corpus: Corpus, encoder: SparseEncoder) -> SparseVectors:
    """Return the sparse vectors of all passages.

    With a store, each shard is kept under the encoder's recipe and its own texts: going on after a
    kill, and passages added at the end, cost only the shards that are new.
    """
    with progress("Weighing words", len(corpus)) as bar:
        shards = [_shard(corpus, encoder, start, bar) for start in range(0, len(corpus), SHARD)]
    return _joined(shards)


def encode_slice(corpus: Corpus, encoder: SparseEncoder, start: int, stop: int) -> SparseVectors:
    """Return the sparse vectors of passages `start` up to `stop`.

    With a store, from the shards that `encode_corpus` keeps, which need not fit memory at once.
    """
    if corpus.store is None:
        texts = corpus.full_texts(start, stop)
        return _checked(encoder.encode_passages(texts), len(texts))
    first = start - start % SHARD
    shards = [_shard(corpus, encoder, place, SilentBar()) for place in range(first, stop, SHARD)]
    return _joined(shards).slice(start - first, stop - first)


def _shard(corpus: Corpus, encoder: SparseEncoder, start: int, bar: Bar) -> SparseVectors:
    texts = corpus.full_texts(start, start + SHARD)
    told = 0

    def compute() -> SparseVectors:
        nonlocal told
        parts = []
        for place in range(0, len(texts), _AT_ONCE):
            part = texts[place : place + _AT_ONCE]
            parts.append(_checked(encoder.encode_passages(part), len(part)))
            bar.advance(len(part))
            told += len(part)
        return _joined(parts)

    def write(folder: Path) -> None:
        # What is kept already needs no room: only where something is new, the rest may be too.
        left = len(corpus) - start
        room = left * _WORDS_PER_PASSAGE * _KEPT_BYTES_PER_WORD
        require_memory_and_disk(
            0, room, f"keeping the words of {left:,} passages", folder=folder.parent
        )
        computed = compute()
        for name in SparseVectors.__slots__:
            np.save(folder / f"{name}.npy", getattr(computed, name), allow_pickle=False)

    if corpus.store is None:
        return compute()
    made_of: dict[str, Any] = {"encoder": encoder, "texts": fingerprint(texts)}
    folder = corpus.store.files("weigh", made_of, write)
    bar.advance(len(texts) - told)
    arrays = [np.load(folder / f"{n}.npy", allow_pickle=False) for n in SparseVectors.__slots__]
    return SparseVectors(*arrays)


def _joined(parts: Sequence[SparseVectors]) -> SparseVectors:
    lengths = [np.diff(part.starts) for part in parts]
    starts = np.concatenate([np.zeros(1, dtype=np.int64), *lengths]).cumsum()
    words = np.concatenate([np.zeros(0, dtype=np.int32), *(part.words for part in parts)])
    weights = np.concatenate([np.zeros(0, dtype=np.float32), *(part.weights for part in parts)])
    return SparseVectors(starts, words, weights)


def _checked(vectors: SparseVectors, texts: int) -> SparseVectors:
    """Return an encoder's vectors; raise `ConfigError` unless they can be searched."""
    if len(vectors) != texts:
        raise ConfigError(f"the encoder returned {len(vectors)} rows for {texts} texts")
    if not (np.isfinite(vectors.weights) & (vectors.weights > 0)).all():
        raise ConfigError("the encoder returned a weight that is not a number above 0")
    if len(vectors.words) and vectors.words.min() < 0:
        raise ConfigError("the encoder returned a word with a number below 0")
    return vectors
