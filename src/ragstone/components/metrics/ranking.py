"""Ranking metrics that ask only whether a passage is relevant, not how relevant it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.arrays import ratio, within
from ragstone.components.metrics.base import Direction, RankingMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class BinaryMetric(RankingMetric):
    """A metric for which passages of grade `rel` and above are relevant."""

    rel: int = 1


@dataclass(frozen=True)
class RecallAt(BinaryMetric):
    """Recall at k; 0 without relevant passages. Equals trec_eval's recall_k."""

    name: ClassVar[str] = "R"
    description: ClassVar[str] = (
        "Recall: the share of all relevant passages that are among the first k."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first k over all relevant ones."""
        return ratio(ranks.count(self.rel, self.depth), ranks.relevant(self.rel))


@dataclass(frozen=True)
class PrecisionAt(BinaryMetric):
    """Precision at k. The divisor is k even for shorter rankings, as in trec_eval's P_k."""

    name: ClassVar[str] = "P"
    description: ClassVar[str] = (
        "Precision: the share of the first k ranks that have a relevant passage. It cannot reach "
        "1 if fewer than k passages are relevant."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first k, over k."""
        return ranks.count(self.rel, self.depth) / self.depth


@dataclass(frozen=True)
class F1At(BinaryMetric):
    """F1 at k: the harmonic mean of P@k and R@k, query by query, as MIRAGE reports it."""

    name: ClassVar[str] = "F1"
    description: ClassVar[str] = "The harmonic mean of ranking precision and recall at k."

    def values(self, ranks: RankingBatch) -> Values:
        """Return 2 hits / (k + relevant passages), which is the harmonic mean of P@k and R@k."""
        return 2.0 * ranks.count(self.rel, self.depth) / (self.depth + ranks.relevant(self.rel))


@dataclass(frozen=True)
class Hit(BinaryMetric):
    """Hit at k. Equals trec_eval's success_k."""

    name: ClassVar[str] = "hit"
    description: ClassVar[str] = "1 if any relevant passage is among the first k, else 0."

    def values(self, ranks: RankingBatch) -> Values:
        """Return 1 or 0 per query."""
        return (ranks.count(self.rel, self.depth) > 0).astype(np.float64)


@dataclass(frozen=True)
class Success(Hit):
    """Hit at k under the name that trec_eval and KILT use."""

    name: ClassVar[str] = "success"


@dataclass(frozen=True)
class RPrec(BinaryMetric):
    """Precision at R, for R relevant passages. Equals trec_eval's Rprec."""

    name: ClassVar[str] = "Rprec"
    description: ClassVar[str] = (
        "Precision among the first R ranks, R being the number of relevant passages."
    )
    cutoff: ClassVar[str] = "none"

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first R, over R."""
        total = ranks.relevant(self.rel)
        return ratio(ranks.count(self.rel, total.astype(np.int64)), total)


@dataclass(frozen=True)
class MRR(BinaryMetric):
    """Reciprocal rank. Equals trec_eval's recip_rank; TREC DL uses `rel=2`."""

    name: ClassVar[str] = "MRR"
    description: ClassVar[str] = (
        "Reciprocal rank: one over the rank of the first relevant passage, 0 if there is none; "
        "averaged over queries."
    )
    cutoff: ClassVar[str] = "optional"

    def values(self, ranks: RankingBatch) -> Values:
        """Return 1 / rank of the first relevant passage; 0 if there is none among the first k."""
        query, rank = ranks.hits(self.rel, self.depth)
        found, first = np.unique(query, return_index=True)
        value = np.zeros(ranks.size)
        value[found] = 1.0 / rank[first]
        return value


@dataclass(frozen=True)
class MAP(BinaryMetric):
    """Average precision. Equals trec_eval's map, and map_cut at k."""

    name: ClassVar[str] = "MAP"
    description: ClassVar[str] = (
        "Average precision: the mean of the precision at the rank of each relevant passage; a "
        "passage that was not retrieved counts 0."
    )
    cutoff: ClassVar[str] = "optional"

    def values(self, ranks: RankingBatch) -> Values:
        """Return the sum of precisions at relevant passages over the number of relevant ones."""
        query, rank = ranks.hits(self.rel, self.depth)
        seen = within(query, np.bincount(query, minlength=ranks.size)) + 1
        gained = np.bincount(query, weights=seen / rank, minlength=ranks.size)
        return ratio(gained, ranks.relevant(self.rel))


@dataclass(frozen=True)
class Judged(RankingMetric):
    """The share of judged passages; rankings shorter than k are measured over their own length."""

    name: ClassVar[str] = "judged"
    direction: ClassVar[Direction] = "neutral"
    description: ClassVar[str] = (
        "The share of the first k passages that the qrels judge. If it is low, the other ranking "
        "metrics are lower bounds."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return judged passages among the first k over the passages there; 0 for none."""
        known = ranks.count(np.iinfo(np.int64).min, self.depth)
        return ratio(known, np.minimum(ranks.retrieved, self.depth))
