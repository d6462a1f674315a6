"""Learned sparse retrieval: an encoder weighs terms, an inverted index finds shared terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragstone.components.embedders.nested import nested_embedder
from ragstone.core.component import Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import track
from ragstone.core.spec import Written
from ragstone.indexes.embed import rank_embedded
from ragstone.indexes.sparse_vectors import sparse_index
from ragstone.indexes.top_k import check_top_k
from ragstone.protocols import Embedder, Retriever, Services
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.indexes.inverted import Postings


@dataclass(frozen=True)
class Sparse(Retriever):
    """Ranks passages by the terms that they share with the query, weighted by an encoder.

    The score is the sum over shared terms of the products of their weights. A passage that shares
    no term is not ranked. Equal scores are ranked in the order of the corpus.

    Args:
        top_k: maximum length of a ranking.
        encoder: an embedder with sparse vectors.
    """

    top_k: int = 100
    encoder: Written = "splade"
    needs_model = True

    def __post_init__(self) -> None:
        """Check the range, and create the encoder."""
        check_top_k(self.top_k)
        _ = self._encoder

    @cached_property
    def content_revision(self) -> dict[str, Any]:
        """The cache key of the encoder."""
        return cache_key_parts(self._encoder)

    @cached_property
    def _encoder(self) -> Embedder:
        return nested_embedder(self.encoder, "sparse", where="retriever 'sparse', encoder")

    def check(self, services: Services) -> None:
        """Raise if the encoder cannot work here."""
        self._encoder.check(services)

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking]]:
        """Return one ranking per search, in order; empty if it has no known term."""
        return rank_embedded(self._encoder, searches, services, self._rank)

    def _rank(self, queries: list[Mapping[int, float]], services: Services) -> list[Ranking]:
        index = sparse_index(self._encoder, services)
        found = track(queries, "Searching words", len(queries))
        return [self._ranking(query, index, services.corpus) for query in found]

    def _ranking(self, query: Mapping[int, float], index: Postings, corpus: Corpus) -> Ranking:
        # A term that no passage of the corpus has may be beyond the end of the index.
        known = {term: weight for term, weight in query.items() if term < len(index.highest)}
        places, scores = index.search(list(known), list(known.values()), self.top_k)
        return Ranking([corpus.passage_ids[place] for place in places], scores.tolist())
