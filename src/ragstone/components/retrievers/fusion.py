"""Fusion: what several retrievers found for a query, joined into one ranking."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ragstone.components.retrievers.bm25 import BM25
from ragstone.core.registry import beside, create
from ragstone.core.step_notes import add_note
from ragstone.errors import ConfigError, RagstoneError
from ragstone.indexes.top_k import check_top_k, top_places
from ragstone.protocols import CallingRetriever, JudgedRetriever
from ragstone.statistics.score_scaling import Normalisation, on_scale
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.data.corpus import Corpus
    from ragstone.protocols import Retriever
    from ragstone.statistics.score_scaling import Floats


@dataclass(frozen=True)
class Fusion:
    """Joins the rankings of two or more retrievers, query by query.

    `rrf` gives a passage 1 / (rrf_k + rank) for every ranking that holds it (reciprocal rank
    fusion; Cormack, Clarke and Buettcher, SIGIR 2009). `weighted` adds up weight times score, the
    scores of each ranking being put on one scale first (`on_scale` says how, and what a passage
    gets that a ranking lacks).

    A retriever of weight 0 takes no part: at `text_weight` 1 the ranking is the first retriever's,
    at 0 the second's. Of equal passages the one that stands higher with the first retriever goes
    first; those that it lacks follow in the order of the next.

    Args:
        retrievers: two or more, each written as in an experiment file, or made.
        method: `rrf`, or `weighted`; where it is left out, `weighted` if there are weights.
        weights: one for each retriever, none negative; only their ratio counts.
        text_weight: of the first of two retrievers, the one of words, between 0 and 1; the second
            weighs the rest. In place of `weights`.
        normalisation: of a weighted sum: `min-max` (the default), `z-score` or `none`.
        rrf_k: how little the first ranks stand out.
        top_k: length of a ranking at most.
    """

    retrievers: tuple[Any, ...]
    method: Literal["rrf", "weighted"] | None = None
    weights: tuple[float, ...] = ()
    text_weight: float | None = None
    normalisation: Normalisation | None = None
    rrf_k: int = 60
    top_k: int = 100
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Make the retrievers, fill in what is left out, and check that it all fits."""
        check_top_k(self.top_k)
        if len(self.retrievers) < 2:  # noqa: PLR2004 - one ranking needs no fusion
            raise ConfigError(
                f"fusion takes two or more retrievers, found {len(self.retrievers)}; "
                f"for example: retrievers: [bm25, dense]"
            )
        object.__setattr__(self, "retrievers", tuple(map(_made, self.retrievers)))
        weighs = bool(self.weights) or self.text_weight is not None
        if self.method is None:
            object.__setattr__(self, "method", "weighted" if weighs else "rrf")
        if self.method == "rrf":
            self._check_rrf()
        else:
            self._check_weighted()
        handed_on = sum(part.top_k for part in self.retrievers)
        if self.top_k > handed_on:
            raise ConfigError(
                f"top_k is {self.top_k}, but the retrievers hand on {handed_on} passages at most; "
                f"raise their top_k or lower that of the fusion"
            )

    def _check_rrf(self) -> None:
        if self.rrf_k < 1:
            raise ConfigError(f"rrf_k must be 1 or more, found {self.rrf_k}")
        for name in ("weights", "text_weight", "normalisation"):
            if getattr(self, name) not in (None, ()):
                raise ConfigError(
                    f"{name} goes with the method 'weighted'; 'rrf' reads ranks alone"
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
            raise ConfigError("text_weight is that of the first retriever; put bm25 first")

    @property
    def _weights(self) -> tuple[float, ...]:
        if self.text_weight is not None:
            return self.text_weight, 1 - self.text_weight
        return self.weights or (1.0,) * len(self.retrievers)

    def with_qrels(self, qrels: Mapping[str, Mapping[str, int]]) -> Fusion:
        """Return the fusion with the judgements handed to those of its retrievers that want them.

        An experiment hands them to each by itself.
        """
        held = [p.with_qrels(qrels) if isinstance(p, JudgedRetriever) else p for p in self._parts]
        return replace(self, retrievers=tuple(held))

    def with_calls(self, calls: Calls) -> Fusion:
        """Return the fusion with a way to servers for those of its retrievers that need one."""
        held = [p.with_calls(calls) if isinstance(p, CallingRetriever) else p for p in self._parts]
        return replace(self, retrievers=tuple(held))

    @property
    def _parts(self) -> tuple[Retriever, ...]:
        return self.retrievers

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order."""
        return self.fuse([list(part.retrieve(searches, corpus)) for part in self._parts])

    def fuse(self, rankings: Sequence[Sequence[Ranking]]) -> list[Ranking]:
        """Return one ranking per search.

        Args:
            rankings: of each retriever, one per search; scores are of any scale, best first.

        Raises:
            RagstoneError: not a ranking per retriever and search, or a score is not finite.

        >>> words, vectors = Ranking(["a", "b"], [9.0, 3.0]), Ranking(["b", "c"], [0.8, 0.7])
        >>> Fusion(("bm25", "dense"), text_weight=0.5).fuse([[words], [vectors]])[0]
        Ranking(passage_ids=['a', 'b', 'c'], scores=[0.5, 0.5, 0.0])
        """
        if len(rankings) != len(self.retrievers) or len(set(map(len, rankings))) > 1:
            raise RagstoneError(
                f"fusion of {len(self.retrievers)} retrievers: found lists of "
                f"{[len(held) for held in rankings]} rankings"
            )
        for place, held in enumerate(rankings, start=1):
            add_note(f"queries without a hit of retriever {place}", sum(not len(r) for r in held))
        return [self._joined(held) for held in zip(*rankings, strict=True)]

    def _joined(self, rankings: Sequence[Ranking]) -> Ranking:
        counted = [(w, r) for w, r in zip(self._weights, rankings, strict=True) if w and len(r)]
        # In this order the earlier of two equal passages is the one that goes first.
        places: dict[str, int] = {}
        for _, ranking in counted:
            for passage_id in ranking.passage_ids:
                places.setdefault(passage_id, len(places))
        total = np.zeros(len(places))
        for weight, ranking in counted:
            own, absent = self._worth(ranking)
            column = np.full(len(places), absent)
            column[[places[passage_id] for passage_id in ranking.passage_ids]] = own
            total += weight * column
        ids, order = list(places), top_places(total, self.top_k)
        return Ranking([ids[place] for place in order], total[order].tolist())

    def _worth(self, ranking: Ranking) -> tuple[Floats, float]:
        """Return what the places of a ranking are worth, and what one that it lacks is."""
        if self.normalisation is None:
            return 1.0 / (self.rrf_k + np.arange(1, len(ranking) + 1)), 0.0
        return on_scale(np.asarray(ranking.scores, np.float64), self.normalisation)


def _made(written: object) -> Retriever:
    """Return a retriever of what stands in the list: a component, or how one is written."""
    if isinstance(written, str | Mapping):
        made = create("retrievers", written, where="a retriever of fusion", folder=beside())
    else:
        made = written
    if not (hasattr(made, "retrieve") and hasattr(made, "top_k")):
        raise ConfigError(f"fusion joins retrievers, found {written!r}")
    retriever: Retriever = made
    return retriever
