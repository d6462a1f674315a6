"""Dense retrieval: passages whose vectors lie nearest to the query's, searched exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from ragstone.embedders.vectors import checked, embed_corpus
from ragstone.errors import ConfigError
from ragstone.fingerprint import recipe
from ragstone.progress import progress
from ragstone.registry import create
from ragstone.retrievers.ranks import best, check_top_k
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls import Calls
    from ragstone.datasets.corpus import Corpus
    from ragstone.protocols import Embedder

_BLOCK_NUMBERS: Final = 16_000_000
"""Scores in memory at a time: 64 MB."""
_SLACK: Final = 1e-5
"""How far sums in float32 may be off, relative to the largest of them."""


@dataclass(frozen=True)
class Dense:
    """Ranks all passages by the inner product of their vectors with the query's.

    Args:
        top_k: length of a ranking at most.
        embedder: what makes the vectors: a name, with its parameters in brackets, or
            `module:Class`.
    """

    top_k: int = 100
    embedder: str = "minilm"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the range, and that the embedder exists."""
        check_top_k(self.top_k)
        _ = self._embedder

    @cached_property
    def revision(self) -> dict[str, Any]:
        """The recipe of the embedder."""
        return recipe(self._embedder)

    @cached_property
    def _embedder(self) -> Embedder:
        made: Embedder = create("embedders", self.embedder, where="retriever 'dense', embedder")
        return made

    def check(self, calls: Calls) -> None:
        """Let the embedder say what it lacks."""
        check = getattr(self._embedder, "check", None)
        if check is not None:
            check(calls)

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order."""
        if not searches or not len(corpus):
            return [Ranking() for _ in searches]
        vectors = embed_corpus(corpus, self._embedder)
        texts = [search.text for search in searches]
        queries = checked(self._embedder.embed_queries(texts), texts, self._embedder)
        if queries.shape[1] != vectors.shape[1]:
            raise ConfigError(
                f"the embedder {self.embedder!r} gives queries {queries.shape[1]} dimensions, "
                f"passages {vectors.shape[1]}"
            )
        block = max(1, _BLOCK_NUMBERS // len(vectors))
        rankings: list[Ranking] = []
        with progress("Searching vectors", len(queries)) as bar:
            for start in range(0, len(queries), block):
                part = queries[start : start + block]
                for query, scores in zip(part, part @ vectors.T, strict=True):
                    rankings.append(_ranking(query, scores, vectors, corpus, self.top_k))
                    bar.advance()
        return rankings


def _ranking(
    query: npt.NDArray[np.float32],
    rough: npt.NDArray[np.float32],
    vectors: npt.NDArray[np.float32],
    corpus: Corpus,
    top_k: int,
) -> Ranking:
    """Rank one query's passages, equal scores in the order of the corpus.

    A product over many queries at once adds up in an order that depends on how many they are, so
    its last digits decide only which passages are computed again, each alone and in float64.
    """
    places = np.arange(len(rough))
    if len(rough) > top_k:
        floor = np.partition(rough, -top_k)[-top_k] - _SLACK * np.abs(rough).max()
        places = np.flatnonzero(rough >= floor)
    near = vectors[places].astype(np.float64)
    scores = (near * query.astype(np.float64)).sum(axis=1).astype(np.float32)
    order = best(scores, top_k)
    return Ranking([corpus.passage_ids[place] for place in places[order]], scores[order].tolist())
