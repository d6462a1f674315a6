"""Dense retrieval: the passages whose vectors are nearest to the query's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from threading import Lock
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ragstone.components.embedders.nested import UsesEmbedder
from ragstone.components.retrievers.target_recall import measure, together
from ragstone.core import limits
from ragstone.core.component import KEY_BY_CONTENT, Outcome
from ragstone.core.progress import progress
from ragstone.core.spec import ComponentSpec
from ragstone.core.step_notes import add_note, step_facts
from ragstone.errors import ConfigError
from ragstone.indexes.corpus_vectors import embed_corpus, missing_bytes
from ragstone.indexes.embed import rank_embedded
from ragstone.indexes.exact_knn import Near, nearest
from ragstone.indexes.ivf_index import IvfIndex
from ragstone.indexes.quantisation import Precision, Vectors
from ragstone.protocols import Retriever, Services
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class Dense(UsesEmbedder, Retriever):
    """Ranks all passages by the inner product of their vectors with the query's.

    A score is computed in 64 bits from the query's vector and the passage's stored vector. Equal
    scores are ranked in the order of the corpus. The search is exact unless `ann` is set.

    Args:
        top_k: maximum length of a ranking.
        embedder: an embedder with one vector per text.
        precision: storage of the numbers of a vector: 4 bytes each (`float32`), 2 (`float16`) or 1
            (`int8`, in steps of 1/127 of the vector's largest number).
        ann: `ivf` compares a query with the passages of the nearest lists only, from
            50,000 passages on.
        recall: the share of the exact ranking that `ann` has to find, above 0. Up to 500 of the
            queries are searched exactly as well, and the number of lists falls as long as the
            lower bound of the recall at 95 % reaches this share.
    """

    top_k: int = 100
    embedder: ComponentSpec = "minilm"
    precision: Precision = "float32"
    ann: Literal["ivf"] | None = field(default=None, metadata=KEY_BY_CONTENT)
    recall: float = field(default=0.95, metadata=KEY_BY_CONTENT)
    embedder_output = "dense"

    def __post_init__(self) -> None:
        """Check the target recall."""
        super().__post_init__()
        if not 0 < self.recall <= 1:
            raise ConfigError(
                f"recall must be above 0 and at most 1, found {self.recall}", value=self.recall
            )

    @property
    def key_values(self) -> Mapping[str, Any]:
        """The approximate search, if there is one: keys of exact searches are as before."""
        return {"ann": self.ann, "recall": self.recall} if self.ann else {}

    @property
    def takes_all_items(self) -> bool:
        """Whether all searches are needed at once: the recall of `ann` is measured on them."""
        return bool(self.ann)

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
        found = self._near(np.stack(queries), vectors, services)
        return [Ranking([ids[p] for p in n.places.tolist()], n.scores.tolist()) for n in found]

    def _near(
        self, queries: npt.NDArray[np.float32], vectors: Vectors, services: Services
    ) -> list[Near]:
        if not self.ann:
            return self._exact(queries, vectors)
        if len(vectors) < limits.APPROXIMATE_FROM or self.recall == 1:
            few = f"fewer than {limits.APPROXIMATE_FROM:,} need no index"
            why = "a recall of 1 needs all of them" if self.recall == 1 else few
            add_note(f"passages searched exactly: {why}", len(vectors))
            return self._exact(queries, vectors)
        index = IvfIndex.of(services.corpus, vectors, self._embedder, self.precision)
        reached, missed = measure(queries, index, self.top_k, self.recall)
        facts = step_facts()
        parts = ([facts["ann"]] if "ann" in facts else []) + [asdict(reached)]
        facts["ann"] = together(parts)
        if reached.nprobe == len(index):
            if missed:
                add_note(
                    f"queries searched exactly: {missed.nprobe:,} of {len(index):,} lists reach a "
                    f"recall of {missed.recall:.3f}, at least {missed.lower_bound:.3f} of "
                    f"{missed.n} measured queries, below the target {self.recall:g}",
                    len(queries),
                )
            return self._exact(queries, vectors)
        with progress("Searching lists of vectors", len(queries)) as bar:
            return list(index.nearest(queries, self.top_k, reached.nprobe, bar.advance))

    def _exact(self, queries: npt.NDArray[np.float32], vectors: Vectors) -> list[Near]:
        one_at_a_time = Lock()
        with progress("Searching vectors", len(queries) * len(vectors)) as bar:

            def advance(count: int) -> None:
                with one_at_a_time:
                    bar.advance(count)

            return list(nearest(queries, vectors, self.top_k, advance=advance))
