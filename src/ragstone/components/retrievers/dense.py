"""Dense retrieval: the passages whose vectors are nearest to the query's, searched exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from ragstone.components.embedders.nested import UsesEmbedder
from ragstone.core.component import Outcome
from ragstone.core.progress import progress
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError
from ragstone.indexes.corpus_vectors import embed_corpus, missing_bytes
from ragstone.indexes.embed import rank_embedded
from ragstone.indexes.exact_knn import nearest
from ragstone.indexes.quantisation import Precision
from ragstone.protocols import Retriever, Services
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class Dense(UsesEmbedder, Retriever):
    """Ranks all passages by the inner product of their vectors with the query's.

    A score is computed in 64 bits from the query's vector and the passage's stored vector. Equal
    scores are ranked in the order of the corpus.

    Args:
        top_k: maximum length of a ranking.
        embedder: an embedder with one vector per text.
        precision: storage of the numbers of a vector: 4 bytes each (`float32`), 2 (`float16`) or 1
            (`int8`, in steps of 1/127 of the vector's largest number).
    """

    top_k: int = 100
    embedder: ComponentSpec = "minilm"
    precision: Precision = "float32"
    embedder_output = "dense"

    def index_bytes(self, services: Services) -> Mapping[str, int]:
        """Return the bytes of the vectors that the store does not have yet.

        Empty if none is missing, or if the embedder's `dimension` is unknown.
        """
        return missing_bytes(services.corpus, self._embedder, self.precision)

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking]]:
        """Return one ranking per search, in order."""
        return rank_embedded(self._embedder, searches, services, self._rank)

    def _rank(self, queries: list[npt.NDArray[np.float32]], services: Services) -> list[Ranking]:
        vectors = embed_corpus(self._embedder, services, self.precision)
        if len(queries[0]) != vectors.dimension:
            raise ConfigError(
                f"the embedder {self.embedder!r} returned vectors of {len(queries[0])} dimensions "
                f"for queries, and of {vectors.dimension} for passages"
            )
        ids = services.corpus.passage_ids
        one_at_a_time = Lock()
        with progress("Searching vectors", len(queries) * len(vectors)) as bar:

            def advance(count: int) -> None:
                with one_at_a_time:
                    bar.advance(count)

            return [
                Ranking([ids[place] for place in near.places.tolist()], near.scores.tolist())
                for near in nearest(np.stack(queries), vectors, self.top_k, advance=advance)
            ]
