"""Late interaction: each token of the query looks for its like among the passage's tokens."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from ragstone.components.embedders.nested import Written, check_part, token_embedder
from ragstone.components.rerankers.depth import check_places, heads, reordered
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import progress
from ragstone.indexes.quantisation import Precision
from ragstone.indexes.token_vectors import SHARD, checked, kept_shard, maxsim, rounded
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ragstone.calls.client import Calls
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import TokenEmbedder

_Stands: TypeAlias = dict[int, list[tuple[int, int]]]


@dataclass(frozen=True)
class MaxSim:
    """Orders passages by the sum, over the query's tokens, of the best match in the passage.

    Each passage is embedded once, whichever queries it is ranked for, and only its scores are kept:
    token vectors take a hundred times the room of dense ones. Where the retriever
    `late-interaction` keeps those of the corpus already, they are read instead.

    Args:
        top_k: places returned at most.
        depth: passages of a ranking that are looked at.
        embedder: what makes the vectors: a name, with its parameters in brackets or as a mapping,
            or `module:Class`.
        precision: to what the passages' vectors are rounded.
    """

    top_k: int = 10
    depth: int = 100
    embedder: Written = "minilm-tokens"
    precision: Precision = "int8"
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges, and that the embedder exists."""
        check_places(self.top_k, self.depth)
        _ = self._embedder

    @cached_property
    def revision(self) -> dict[str, Any]:
        """The recipe of the embedder."""
        return cache_key_parts(self._embedder)

    @cached_property
    def _embedder(self) -> TokenEmbedder:
        return token_embedder(self.embedder, where="reranker 'maxsim', embedder")

    def check(self, calls: Calls) -> None:
        """Let the embedder say what it lacks."""
        check_part(self._embedder, calls)

    def rerank(
        self, searches: Sequence[Search], rankings: Sequence[Ranking], corpus: Corpus
    ) -> list[Ranking]:
        """Return one ranking per search, in order."""
        shown = heads(rankings, self.depth)
        if not any(shown):
            return [Ranking() for _ in searches]
        texts = [search.text for search in searches]
        queries = checked(self._embedder.query_tokens(texts), texts, self._embedder)
        scores: list[list[float | None]] = [[None] * len(ids) for ids in shown]
        by_shard = _by_shard(shown, corpus)
        with progress("Reranking by token vectors", sum(map(len, by_shard.values()))) as bar:
            for start, stands in sorted(by_shard.items()):
                for place, passage in self._passages(start, sorted(stands), corpus):
                    for query, rank in stands[place]:
                        scores[query][rank] = maxsim(queries.of_text(query), passage)
                    bar.advance()
        return [reordered(ids, found, self.top_k) for ids, found in zip(shown, scores, strict=True)]

    def _passages(
        self, start: int, places: Sequence[int], corpus: Corpus
    ) -> Iterator[tuple[int, npt.NDArray[np.float64]]]:
        """Yield the vectors of the passages at some places of a shard."""
        shard = kept_shard(corpus, self._embedder, self.precision, start)
        if shard is not None:
            yield from ((place, shard.passage(place)) for place in places)
            return
        texts = corpus.full_texts(start, start + SHARD)
        made = rounded(self._embedder, [texts[place] for place in places], self.precision)
        yield from ((place, made.passage(at)) for at, place in enumerate(places))


def _by_shard(shown: Sequence[Sequence[str]], corpus: Corpus) -> dict[int, _Stands]:
    """Return start of a shard -> place in it -> the (query, rank) pairs where it stands."""
    found: dict[int, _Stands] = {}
    for query, ids in enumerate(shown):
        for rank, passage_id in enumerate(ids):
            shard, place = divmod(corpus.position(passage_id), SHARD)
            found.setdefault(shard * SHARD, {}).setdefault(place, []).append((query, rank))
    return found
