"""Rprec: precision at the number of relevant passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.arrays import ratio
from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class RPrec(BinaryMetric):
    """Precision at R, for R relevant passages. Equals trec_eval's Rprec.

    Formula: relevant passages among the first R / R.

    Source: Buckley and Voorhees, Retrieval System Evaluation, chapter 3 of TREC: Experiment and
    Evaluation in Information Retrieval, MIT Press, 2005; trec_eval, m_Rprec.c.

    Trap: with one relevant passage it is P@1. KILT takes the best value of several evidence sets.
    """

    name: ClassVar[str] = "Rprec"
    description: ClassVar[str] = (
        "Precision among the first R ranks, R being the number of relevant passages."
    )
    cutoff: ClassVar[str] = "none"

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first R, over R."""
        total = ranks.relevant(self.rel)
        return ratio(ranks.count(self.rel, total.astype(np.int64)), total)
