"""Learned sparse retrieval: an encoder weighs terms, an inverted index finds shared terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragstone.components.embedders.nested import UsesEmbedder
from ragstone.core.component import Outcome
from ragstone.core.progress import track
from ragstone.core.spec import ComponentSpec
from ragstone.indexes.embed import rank_embedded
from ragstone.indexes.sparse_vectors import sparse_index
from ragstone.protocols import Retriever, Services
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class Sparse(UsesEmbedder, Retriever):
    """Ranks passages by the terms that they share with the query, weighted by an encoder.

    The score is the sum over shared terms of the products of their weights. A passage that shares
    no term is not ranked. Equal scores are ranked in the order of the corpus.

    Args:
        top_k: maximum length of a ranking.
        encoder: an embedder with sparse vectors.
    """

    top_k: int = 100
    encoder: ComponentSpec = "splade"
    embedder_field = "encoder"
    embedder_output = "sparse"

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking]]:
        """Return one ranking per search, in order; empty if no passage has one of its terms."""
        return rank_embedded(self._embedder, searches, services, self._rank)

    def _rank(self, queries: list[Mapping[int, float]], services: Services) -> list[Ranking]:
        index = sparse_index(self._embedder, services)
        ids, rankings = services.corpus.passage_ids, []
        for query in track(queries, "Searching words", len(queries)):
            # A term that is in no passage may be beyond the end of the index.
            known = {term: weight for term, weight in query.items() if term < len(index.highest)}
            places, scores = index.search(list(known), list(known.values()), self.top_k)
            rankings.append(Ranking([ids[place] for place in places], scores.tolist()))
        return rankings
