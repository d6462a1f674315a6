"""Late interaction over a whole corpus: every passage's token vectors, compared exactly.

What is kept grows with the number of tokens, a hundred times the room of dense vectors: a first
stage for corpora of up to some ten thousand passages. For larger ones let another retriever find
candidates, and `maxsim` rerank them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import numpy as np

from ragstone.components.embedders.nested import Written, check_part, token_embedder
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import progress
from ragstone.core.resources import require_memory_and_disk
from ragstone.errors import ConfigError
from ragstone.indexes.quantisation import Precision, decode
from ragstone.indexes.token_vectors import (
    SHARD,
    TokenShard,
    checked,
    kept_shard,
    maxsim,
    token_shard,
)
from ragstone.indexes.top_k import check_top_k, top_places
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls.client import Calls
    from ragstone.core.progress import Bar
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import TokenEmbedder

    Matrix: TypeAlias = npt.NDArray[np.float32]

_SCORES: Final = 64_000_000
"""Scores of queries and passages in memory at a time: 256 MB."""
_PRODUCT: Final = 16_000_000
"""Products of tokens in memory at a time: 64 MB."""
_ROUNDING: Final = 2.0**-24
"""How far one operation in 32 bits is off, relative to its result."""


@dataclass(frozen=True)
class LateInteraction:
    """Ranks all passages by the sum, over the query's tokens, of the best match in the passage.

    Args:
        top_k: length of a ranking at most.
        embedder: what makes the vectors: a name, with its parameters in brackets or as a mapping,
            or `module:Class`.
        precision: to what the passages' vectors are rounded, and so how they are kept.
    """

    top_k: int = 100
    embedder: Written = "minilm-tokens"
    precision: Precision = "int8"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the range, and that the embedder exists."""
        check_top_k(self.top_k)
        _ = self._embedder

    @cached_property
    def revision(self) -> dict[str, Any]:
        """The recipe of the embedder."""
        return cache_key_parts(self._embedder)

    @cached_property
    def _embedder(self) -> TokenEmbedder:
        return token_embedder(self.embedder, where="retriever 'late-interaction', embedder")

    def check(self, calls: Calls) -> None:
        """Let the embedder say what it lacks."""
        check_part(self._embedder, calls)

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order.

        Raises:
            RagstoneError: the vectors of the corpus would not fit on the disk or in memory.
        """
        if not searches or not len(corpus):
            return [Ranking() for _ in searches]
        index = _Index(list(self._shards(corpus)), corpus)
        texts = [search.text for search in searches]
        made = checked(self._embedder.query_tokens(texts), texts, self._embedder)
        queries = [made.of_text(place) for place in range(len(texts))]
        at_once = max(1, _SCORES // len(corpus))
        found: list[Ranking] = []
        with progress("Searching token vectors", len(texts) * len(index.shards)) as bar:
            for start in range(0, len(texts), at_once):
                part = queries[start : start + at_once]
                rough = index.rough(part, bar)
                found += [
                    index.ranking(query, scores, self.top_k)
                    for query, scores in zip(part, rough, strict=True)
                ]
        return found

    def _shards(self, corpus: Corpus) -> Iterator[TokenShard]:
        """Yield the vectors of all passages; what the rest takes is told by the first new ones."""
        checked_room = False
        with progress("Embedding tokens of passages", len(corpus)) as bar:
            for start in range(0, len(corpus), SHARD):
                shard = kept_shard(corpus, self._embedder, self.precision, start)
                if shard is None:
                    shard = token_shard(corpus, self._embedder, self.precision, start)
                    if not checked_room:
                        _check_room(shard, corpus, start)
                        checked_room = True
                bar.advance(min(SHARD, len(corpus) - start))
                yield shard


def _check_room(shard: TokenShard, corpus: Corpus, start: int) -> None:
    """Refuse to embed what comes behind a shard if it will not fit."""
    known = sum(map(len, corpus.full_texts(start, start + SHARD)))
    behind = range(start + SHARD, len(corpus), SHARD)
    rest = sum(len(text) for first in behind for text in corpus.full_texts(first, first + SHARD))
    need = shard.rows.nbytes * rest // max(known, 1)
    kept = corpus.store is not None
    require_memory_and_disk(
        _SCORES * 4 + (0 if kept else need),
        need if kept else 0,
        f"keeping the token vectors of {len(corpus):,} passages",
        folder=None if corpus.store is None else corpus.store.root,
        way_out="let another retriever find candidates and rerank them: reranker: maxsim",
    )


@dataclass(frozen=True)
class _Index:
    """The token vectors of all passages."""

    shards: Sequence[TokenShard]
    corpus: Corpus

    @cached_property
    def longest(self) -> float:
        """No vector is longer than this."""
        lengths = [_length(decode(shard.rows, np.float32)) for shard in self.shards]
        return max(lengths, default=0.0)

    def rough(self, queries: Sequence[Matrix], bar: Bar) -> Matrix:
        """Return the scores of some queries for all passages, computed together in 32 bits."""
        scores = np.zeros((len(queries), len(self.corpus)), dtype=np.float32)
        for number, shard in enumerate(self.shards):
            vectors = decode(shard.rows, np.float32)
            held = scores[:, number * SHARD : (number + 1) * SHARD]
            for group in _groups(queries, max(1, _PRODUCT // max(len(vectors), 1))):
                held[group] = _scores([queries[n] for n in group], vectors, shard.starts)
            bar.advance(len(queries))
        return scores

    def ranking(self, query: Matrix, rough: Matrix, top_k: int) -> Ranking:
        """Rank one query's passages, equal scores in the order of the corpus.

        Sums over many texts at once depend in their last digits on the other texts: they decide
        only which passages are computed again, each alone and in 64 bits.
        """
        places = np.arange(len(rough))
        if not len(query):
            return Ranking()
        if len(rough) > top_k:
            lengths = float(np.linalg.norm(query.astype(np.float64), axis=1).sum())
            slack = lengths * self.longest * 2 * (sum(query.shape) + 4) * _ROUNDING
            places = np.flatnonzero(rough >= np.partition(rough, -top_k)[-top_k] - slack)
        exact = [maxsim(query, self._passage(place)) for place in places.tolist()]
        scores = np.array(exact, dtype=np.float32)
        order = top_places(scores, top_k)
        ids = [self.corpus.passage_ids[place] for place in places[order]]
        return Ranking(ids, scores[order].tolist())

    def _passage(self, position: int) -> npt.NDArray[np.float64]:
        return self.shards[position // SHARD].passage(position % SHARD)


def _scores(queries: Sequence[Matrix], vectors: Matrix, starts: npt.NDArray[np.int64]) -> Matrix:
    """Return the scores of queries that have tokens, of shape (queries, passages of a shard)."""
    tokens = np.concatenate(queries)
    if tokens.shape[1] != vectors.shape[1]:
        raise ConfigError(
            f"the embedder gives queries {tokens.shape[1]} dimensions, passages {vectors.shape[1]}"
        )
    products = vectors @ tokens.T
    begins = np.cumsum([0, *map(len, queries)])[:-1]
    scores = np.zeros((len(queries), len(starts) - 1), dtype=np.float32)
    for place, (first, last) in enumerate(pairwise(starts)):
        if first < last:
            scores[:, place] = np.add.reduceat(products[first:last].max(axis=0), begins)
    return scores


def _groups(queries: Sequence[Matrix], most: int) -> Iterator[list[int]]:
    """Yield the numbers of queries with tokens, together at most `most` tokens or one query."""
    group: list[int] = []
    held = 0
    for number, query in enumerate(queries):
        if group and held + len(query) > most:
            yield group
            group, held = [], 0
        if len(query):
            group.append(number)
            held += len(query)
    if group:
        yield group


def _length(vectors: Matrix) -> float:
    return float(np.sqrt(np.vecdot(vectors, vectors).max(initial=0)))
