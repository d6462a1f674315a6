"""R@k: the share of the relevant passages that are among the first k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.components.metrics.arrays import ratio
from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class RecallAt(BinaryMetric):
    """Recall at k; 0 without relevant passages. Equals trec_eval's recall_k.

    Formula: relevant passages among the first k / all relevant passages.

    Source: Buckley, trec_eval, m_recall.c, 2008.

    Trap: with more than k relevant passages it cannot reach 1. Many papers on question answering
    call `hit@k` recall.
    """

    name: ClassVar[str] = "R"
    description: ClassVar[str] = (
        "Recall: the share of all relevant passages that are among the first k."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first k over all relevant ones."""
        return ratio(ranks.count(self.rel, self.depth), ranks.relevant(self.rel))
