"""Late interaction: the best match of each token of the query among the passage's tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ragstone.components.embedders.nested import UsesEmbedder
from ragstone.components.rerankers.depth import DepthReranker, heads, reordered
from ragstone.core.component import Outcome
from ragstone.core.progress import SilentBar, progress
from ragstone.core.spec import ComponentSpec
from ragstone.data.corpus import Corpus
from ragstone.indexes.embed import embed_texts
from ragstone.indexes.quantisation import Precision
from ragstone.indexes.token_vectors import SHARD, TokenIndex, maxsim
from ragstone.protocols import Services
from ragstone.types import Ranking, Search

_Ranks: TypeAlias = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class MaxSim(UsesEmbedder, DepthReranker):
    """Orders passages by the sum, over the query's tokens, of the best match in the passage.

    Each passage is embedded once for all queries, and only its scores are kept: token vectors take
    a hundred times the space of dense ones. Vectors that the retriever `late-interaction` has
    stored are read instead.

    Args:
        top_k: maximum length of a ranking.
        depth: number of passages of a ranking that are reranked.
        embedder: an embedder with one vector per token.
        precision: rounding of the passages' vectors, as in `late-interaction`.
    """

    top_k: int = 10
    depth: int = 100
    embedder: ComponentSpec = "minilm-tokens"
    precision: Precision = "int8"
    embedder_output = "tokens"

    def rerank(
        self, searches: Sequence[Search], rankings: Sequence[Ranking], services: Services
    ) -> Iterator[Outcome[Any]]:
        """Yield one ranking per search, in order; None if the query could not be embedded."""
        shown = heads(rankings, self.depth)
        if not any(shown):
            yield from (Outcome(Ranking()) for _ in searches)
            return
        queries = embed_texts(self._embedder, [s.text for s in searches], "query", services)
        asked = [ids if q.value is not None else [] for ids, q in zip(shown, queries, strict=True)]
        scores: list[list[float | None]] = [[None] * len(ids) for ids in asked]
        by_shard = _by_shard(asked, services.corpus)
        index = TokenIndex(self._embedder, self.precision, services)
        with progress("Reranking by token vectors", sum(map(len, by_shard.values()))) as bar:
            for start, ranks in sorted(by_shard.items()):
                for place, passage in _passages(index, start, sorted(ranks)):
                    for query, rank in ranks[place]:
                        scores[query][rank] = maxsim(queries[query].value, passage)
                    bar.advance()
        for ids, found, outcome in zip(shown, scores, queries, strict=True):
            ranking = None if outcome.value is None else reordered(ids, found, self.top_k)
            yield Outcome(ranking, outcome.reason, outcome.retry)


def _passages(
    index: TokenIndex, start: int, places: Sequence[int]
) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
    """Yield the vectors of the passages at some places of a shard, each after its place."""
    shard = index.stored(start)
    if shard is not None:
        yield from ((place, shard.passage(place)) for place in places)
    else:
        shard = index.embedded([start + place for place in places], SilentBar())
        yield from ((place, shard.passage(at)) for at, place in enumerate(places))


def _by_shard(shown: Sequence[Sequence[str]], corpus: Corpus) -> Mapping[int, _Ranks]:
    """Return start of a shard -> place in it -> the (query, rank) pairs of that passage."""
    found: dict[int, _Ranks] = {}
    for query, ids in enumerate(shown):
        for rank, passage_id in enumerate(ids):
            shard, place = divmod(corpus.position(passage_id), SHARD)
            found.setdefault(shard * SHARD, {}).setdefault(place, []).append((query, rank))
    return found
