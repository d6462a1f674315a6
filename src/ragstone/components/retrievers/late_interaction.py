"""Late interaction over a whole corpus: the token vectors of every passage, compared exactly.

The index grows with the number of tokens: it takes a hundred times the space of dense vectors, and
suits corpora of up to some ten thousand passages. For a larger corpus, rerank the candidates of
another retriever with `maxsim`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from ragstone.components.embedders.nested import UsesEmbedder
from ragstone.core import limits
from ragstone.core.component import Outcome
from ragstone.core.progress import Bar, progress
from ragstone.core.resources import require_memory_and_disk
from ragstone.core.spec import ComponentSpec
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError
from ragstone.indexes.embed import rank_embedded
from ragstone.indexes.quantisation import Precision, decode
from ragstone.indexes.token_vectors import SHARD, TokenIndex, TokenShard, maxsim
from ragstone.indexes.top_k import top_places
from ragstone.protocols import Retriever, Services
from ragstone.types import Ranking, Search

Matrix: TypeAlias = npt.NDArray[np.float32]
_ROUNDING: Final = 2.0**-24
"""Maximum relative error of one operation in 32 bits."""


@dataclass(frozen=True)
class LateInteraction(UsesEmbedder, Retriever):
    """Ranks all passages by the sum, over the query's tokens, of the best match in the passage.

    Args:
        top_k: maximum length of a ranking.
        embedder: an embedder with one vector per token.
        precision: storage of the passages' vectors, rounded to `float32`, `float16` or `int8`.
    """

    top_k: int = 100
    embedder: ComponentSpec = "minilm-tokens"
    precision: Precision = "int8"
    embedder_output = "tokens"

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking]]:
        """Return one ranking per search, in order.

        Raises:
            RagstoneError: the vectors of the corpus will not fit on the disk or in memory.
        """
        return rank_embedded(self._embedder, searches, services, self._rank)

    def _rank(self, queries: list[Matrix], services: Services) -> Iterator[Ranking]:
        corpus = services.corpus
        shards = list(self._shards(TokenIndex(self._embedder, self.precision, services)))
        search = _Search(shards, corpus)
        at_once = max(1, limits.MAXSIM_SCORES // len(corpus))
        with progress("Searching token vectors", len(queries) * len(shards)) as bar:
            for start in range(0, len(queries), at_once):
                part = queries[start : start + at_once]
                for query, scores in zip(part, search.rough(part, bar), strict=True):
                    yield search.ranking(query, scores, self.top_k)

    def _shards(self, index: TokenIndex) -> Iterator[TokenShard]:
        """Yield the vectors of all passages; the first new ones give the size of the others."""
        corpus, checked, sent = index.services.corpus, False, index.sent()
        with progress("Embedding tokens of passages", len(corpus)) as bar:
            for start in range(0, len(corpus), SHARD):
                shard = index.stored(start)
                if shard is not None:
                    bar.advance(len(shard.starts) - 1)
                else:
                    sent.wait_for(start)
                    shard = index.computed(start, bar)
                    if not checked:
                        _require_space(shard, corpus, start)
                        checked = True
                yield shard


def _require_space(shard: TokenShard, corpus: Corpus, start: int) -> None:
    """Raise `RagstoneError` if the passages after a shard, estimated from it, will not fit."""
    known = sum(map(len, corpus.full_texts(start, start + SHARD)))
    behind = range(start + SHARD, len(corpus), SHARD)
    rest = sum(len(text) for first in behind for text in corpus.full_texts(first, first + SHARD))
    need = shard.rows.nbytes * rest // max(known, 1)
    kept = corpus.store is not None
    require_memory_and_disk(
        limits.MAXSIM_SCORES * 4 + (0 if kept else need),
        need if kept else 0,
        f"storing the token vectors of {len(corpus):,} passages",
        folder=None if corpus.store is None else corpus.store.root,
        way_out="let another retriever find candidates and rerank them: reranker: maxsim",
    )


@dataclass(frozen=True)
class _Search:
    """A search in the token vectors of all passages."""

    shards: Sequence[TokenShard]
    corpus: Corpus

    @cached_property
    def longest(self) -> float:
        """The length of the longest vector."""
        vectors = (decode(shard.rows, np.float32) for shard in self.shards)
        return max((float(np.sqrt(np.vecdot(v, v).max(initial=0))) for v in vectors), default=0.0)

    def rough(self, queries: Sequence[Matrix], bar: Bar) -> Matrix:
        """Return the scores of some queries for all passages, computed together in 32 bits."""
        scores = np.zeros((len(queries), len(self.corpus)), dtype=np.float32)
        asked = [place for place, query in enumerate(queries) if len(query)]
        most_tokens = max(map(len, queries), default=0)
        for number, shard in enumerate(self.shards):
            vectors = decode(shard.rows, np.float32)
            held = scores[:, number * SHARD : (number + 1) * SHARD]
            size = max(1, limits.MAXSIM_TOKEN_PRODUCTS // max(len(vectors) * most_tokens, 1))
            for start in range(0, len(asked), size):
                group = asked[start : start + size]
                held[group] = _scores([queries[n] for n in group], vectors, shard.starts)
            bar.advance(len(queries))
        return scores

    def ranking(self, query: Matrix, rough: Matrix, top_k: int) -> Ranking:
        """Return the ranking of one query, equal scores in the order of the corpus.

        The last digits of a rough score depend on the texts computed with it. Rough scores
        therefore only select passages; their final scores are computed one by one in 64 bits.
        """
        places = np.arange(len(rough))
        if not len(query):
            return Ranking()
        if len(rough) > top_k:
            lengths = float(np.linalg.norm(query.astype(np.float64), axis=1).sum())
            slack = lengths * self.longest * 2 * (sum(query.shape) + 4) * _ROUNDING
            places = np.flatnonzero(rough >= np.partition(rough, -top_k)[-top_k] - slack)
        found = (divmod(place, SHARD) for place in places.tolist())
        exact = [maxsim(query, self.shards[shard].passage(place)) for shard, place in found]
        scores = np.array(exact, dtype=np.float32)
        order = top_places(scores, top_k)
        ids = [self.corpus.passage_ids[place] for place in places[order]]
        return Ranking(ids, scores[order].tolist())


def _scores(queries: Sequence[Matrix], vectors: Matrix, starts: npt.NDArray[np.int64]) -> Matrix:
    """Return the scores of queries that have tokens, of shape (queries, passages of a shard)."""
    tokens = np.concatenate(queries)
    if tokens.shape[1] != vectors.shape[1]:
        raise ConfigError(
            f"the embedder returned vectors of {tokens.shape[1]} dimensions for queries, and of "
            f"{vectors.shape[1]} for passages"
        )
    products = vectors @ tokens.T
    begins = np.cumsum([0, *map(len, queries)])[:-1]
    scores = np.zeros((len(queries), len(starts) - 1), dtype=np.float32)
    for place, (first, last) in enumerate(pairwise(starts)):
        if first < last:
            scores[:, place] = np.add.reduceat(products[first:last].max(axis=0), begins)
    return scores
