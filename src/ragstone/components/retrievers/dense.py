"""Dense retrieval: passages whose vectors lie nearest to the query's, searched exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, ClassVar

from ragstone.components.embedders.nested import (
    Written,
    check_part,
    dense_embedder,
    with_calling_part,
)
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import progress
from ragstone.errors import ConfigError
from ragstone.indexes.corpus_vectors import checked, embed_corpus, index_room
from ragstone.indexes.exact_knn import nearest
from ragstone.indexes.quantisation import Precision
from ragstone.indexes.top_k import check_top_k
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Embedder


@dataclass(frozen=True)
class Dense:
    """Ranks all passages by the inner product of their vectors with the query's.

    A score is computed in 64 bits from the query's vector and the stored one of the passage; equal
    scores stand in the order of the corpus.

    Args:
        top_k: length of a ranking at most.
        embedder: what makes the vectors: a name, with its parameters in brackets or as a mapping,
            or `module:Class`.
        precision: how the numbers of a vector are stored: in 4 bytes (`float32`), 2 (`float16`) or
            1 (`int8`, in steps of a 127th of the vector's largest number).
    """

    top_k: int = 100
    embedder: Written = "minilm"
    precision: Precision = "float32"
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
    def _embedder(self) -> Embedder:
        return dense_embedder(self.embedder, where="retriever 'dense', embedder")

    def check(self, calls: Calls) -> None:
        """Let the embedder say what it lacks."""
        check_part(self._embedder, calls)

    def with_calls(self, calls: Calls) -> Dense:
        """Return the retriever with the way to its embedder's server, where it has one."""
        return with_calling_part(self, "_embedder", calls)

    def index_room(self, corpus: Corpus) -> Mapping[str, int]:
        """Return what ranking adds to the corpus's store: a name of the index -> bytes.

        Empty where nothing is missing, or where the embedder has no attribute `dimension`.
        """
        dimension = getattr(self._embedder, "dimension", None)
        if dimension is None:
            return {}
        return index_room(corpus, self._embedder, self.precision, dimension)

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order."""
        if not searches or not len(corpus):
            return [Ranking() for _ in searches]
        vectors = embed_corpus(corpus, self._embedder, self.precision)
        texts = [search.text for search in searches]
        queries = checked(self._embedder.embed_queries(texts), texts, self._embedder)
        if queries.shape[1] != vectors.dimension:
            raise ConfigError(
                f"the embedder {self.embedder!r} gives queries {queries.shape[1]} dimensions, "
                f"passages {vectors.dimension}"
            )
        ids = corpus.passage_ids
        one_at_a_time = Lock()
        with progress("Searching vectors", len(queries) * len(vectors)) as bar:

            def advance(count: int) -> None:
                with one_at_a_time:
                    bar.advance(count)

            return [
                Ranking([ids[place] for place in near.places.tolist()], near.scores.tolist())
                for near in nearest(queries, vectors, self.top_k, advance=advance)
            ]
