"""P@k: the share of the first k ranks with relevant passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class PrecisionAt(BinaryMetric):
    """Precision at k. The divisor is k even for shorter rankings, as in trec_eval's P_k.

    Formula: relevant passages among the first k / k.

    Source: Buckley, trec_eval, m_P.c, 2008.

    Trap: with fewer than k relevant passages it cannot reach 1.
    """

    name: ClassVar[str] = "P"
    description: ClassVar[str] = (
        "Precision: the share of the first k ranks that have a relevant passage. It cannot reach "
        "1 if fewer than k passages are relevant."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first k, over k."""
        return ranks.count(self.rel, self.depth) / self.depth
