"""Fusion: the rankings of several retrievers, joined into one ranking per query."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from ragstone.components.retrievers.bm25 import BM25
from ragstone.core.component import Outcome, run_component
from ragstone.core.registry import create
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError, RagstoneError
from ragstone.indexes.top_k import top_places
from ragstone.protocols import Retriever, Services
from ragstone.statistics.score_scaling import Normalisation, on_scale
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class Fusion(Retriever):
    """Joins the rankings of two or more retrievers, query by query.

    `rrf` adds up 1 / (rrf_k + rank) over the rankings that contain a passage (reciprocal rank
    fusion; Cormack, Clarke and Buettcher, SIGIR 2009). `weighted` adds up weight times score, after
    the scores of each ranking are put on one scale (see `on_scale`, also for a passage that a
    ranking does not contain).

    A retriever of weight 0 is ignored: with `text_weight` 1 the ranking is the first retriever's,
    with 0 the second's. Equal passages are in the order of the first retriever; passages outside
    its ranking follow in the order of the next retriever.

    Args:
        retrievers: two or more retrievers, as specs or as components.
        method: `rrf` or `weighted`; by default `weighted` if there are weights.
        weights: one per retriever, none negative; only their ratio counts.
        text_weight: weight of the first of two retrievers, the lexical one, between 0 and 1; the
            second has the rest. Replaces `weights`.
        normalisation: scaling for a weighted sum: `min-max` (the default), `z-score` or `none`.
        rrf_k: constant of reciprocal rank fusion; the higher, the less the first ranks dominate.
        top_k: maximum length of a ranking.
    """

    retrievers: tuple[Any, ...]
    method: Literal["rrf", "weighted"] | None = None
    weights: tuple[float, ...] = ()
    text_weight: float | None = None
    normalisation: Normalisation | None = None
    rrf_k: int = 60
    top_k: int = 100
    sizes = ("top_k", "rrf_k")

    def __post_init__(self) -> None:
        """Create the retrievers, fill in the defaults, and check the combination."""
        super().__post_init__()
        if len(self.retrievers) < 2:  # noqa: PLR2004 - one ranking needs no fusion
            raise ConfigError(
                f"fusion takes two or more retrievers, found {len(self.retrievers)}; "
                "for example: retrievers: [bm25, dense]"
            )
        where = "a retriever of fusion"
        parts = tuple(create("retrievers", part, where=where) for part in self.retrievers)
        object.__setattr__(self, "retrievers", parts)
        weighs = bool(self.weights) or self.text_weight is not None
        if self.method is None:
            object.__setattr__(self, "method", "weighted" if weighs else "rrf")
        if self.method == "rrf":
            self._check_rrf()
        else:
            self._check_weighted()
        longest = sum(part.top_k for part in self.retrievers)
        if self.top_k > longest:
            raise ConfigError(
                f"top_k is {self.top_k}, but the retrievers return {longest} passages at most; "
                f"raise their top_k or lower that of the fusion"
            )

    def _check_rrf(self) -> None:
        for name in ("weights", "text_weight", "normalisation"):
            if getattr(self, name) not in (None, ()):
                raise ConfigError(
                    f"{name} belongs to the method 'weighted'; 'rrf' reads ranks only"
                )

    def _check_weighted(self) -> None:
        if self.normalisation is None:
            object.__setattr__(self, "normalisation", "min-max")
        if self.text_weight is not None:
            self._check_text_weight(self.text_weight)
        elif len(self.weights) != len(self.retrievers):
            raise ConfigError(
                f"there are {len(self.retrievers)} retrievers and {len(self.weights)} weights; "
                f"give each retriever one"
            )
        wrong = [weight for weight in self.weights if not 0 <= weight < math.inf]
        if wrong:
            raise ConfigError(f"weights must be 0 or more, found {wrong[0]}")
        if not any(self._weights):
            raise ConfigError("all weights are 0; at least one retriever must count")

    def _check_text_weight(self, weight: float) -> None:
        if self.weights:
            raise ConfigError("give either text_weight or weights, not both")
        if len(self.retrievers) != 2:  # noqa: PLR2004 - words and vectors
            raise ConfigError(
                f"text_weight is for two retrievers, found {len(self.retrievers)}; use weights"
            )
        if not 0 <= weight <= 1:
            raise ConfigError(f"text_weight must be between 0 and 1, found {weight}")
        first, second = self.retrievers
        if isinstance(second, BM25) and not isinstance(first, BM25):
            raise ConfigError("text_weight is the weight of the first retriever; put bm25 first")

    @property
    def _weights(self) -> tuple[float, ...]:
        if self.text_weight is not None:
            return self.text_weight, 1 - self.text_weight
        return self.weights or (1.0,) * len(self.retrievers)

    @property
    def parts(self) -> tuple[Retriever, ...]:
        """The retrievers whose rankings are fused."""
        return self.retrievers

    @property
    def declared_release(self) -> str | None:
        """The releases of the parts; "" if a part has an index that others may change."""
        found = [part.declared_release for part in self.parts]
        known = [release for release in found if release is not None]
        return None if not known else " ".join(known) if all(known) else ""

    def of_run(self, run: str) -> Self:
        """Return the fusion with the parts' rankings of a run."""
        if self.declared_release is None:
            return self
        return replace(self, retrievers=tuple(part.of_run(run) for part in self.parts))

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterator[Outcome[Ranking]]:
        """Yield one ranking per search, in order, with the reasons of the parts that failed."""
        found = [run_component(part, services, searches) for part in self.parts]
        rankings = [[outcome.value or Ranking() for outcome in outcomes] for outcomes in found]
        for fused, outcomes in zip(self.fuse(rankings), zip(*found, strict=True), strict=True):
            reasons = dict.fromkeys(outcome.reason for outcome in outcomes if outcome.reason)
            yield Outcome(fused, "; ".join(reasons), any(outcome.retry for outcome in outcomes))

    def fuse(self, rankings: Sequence[Sequence[Ranking]]) -> list[Ranking]:
        """Return one ranking per search.

        Args:
            rankings: per retriever, one ranking per search, best first, with scores of any scale.

        Raises:
            RagstoneError: not one ranking per retriever and search, or a score is not finite.

        >>> words, vectors = Ranking(["a", "b"], [9.0, 3.0]), Ranking(["b", "c"], [0.8, 0.7])
        >>> Fusion(("bm25", "dense"), text_weight=0.5).fuse([[words], [vectors]])[0]
        Ranking(passage_ids=['a', 'b', 'c'], scores=[0.5, 0.5, 0.0])
        """
        if len(rankings) != len(self.parts) or len(set(map(len, rankings))) > 1:
            raise RagstoneError(
                f"fusion of {len(self.parts)} retrievers: found lists of "
                f"{[len(part) for part in rankings]} rankings"
            )
        for place, part in enumerate(rankings, start=1):
            add_note(f"queries without a hit of retriever {place}", sum(not len(r) for r in part))
        return [self._joined(lists) for lists in zip(*rankings, strict=True)]

    def _joined(self, rankings: Sequence[Ranking]) -> Ranking:
        counted = [(w, r) for w, r in zip(self._weights, rankings, strict=True) if w and len(r)]
        # `top_places` ranks the earlier of two equal passages first.
        places: dict[str, int] = {}
        for _, ranking in counted:
            for passage_id in ranking.passage_ids:
                places.setdefault(passage_id, len(places))
        total = np.zeros(len(places))
        for weight, ranking in counted:
            own, absent = self._contributions(ranking)
            column = np.full(len(places), absent)
            column[[places[passage_id] for passage_id in ranking.passage_ids]] = own
            total += weight * column
        ids, order = list(places), top_places(total, self.top_k)
        return Ranking([ids[place] for place in order], total[order].tolist())

    def _contributions(self, ranking: Ranking) -> tuple[npt.NDArray[np.float64], float]:
        """Return the contribution of each place of a ranking, and that of any other passage."""
        if self.normalisation is None:
            return 1.0 / (self.rrf_k + np.arange(1, len(ranking) + 1)), 0.0
        return on_scale(np.asarray(ranking.scores, np.float64), self.normalisation)
