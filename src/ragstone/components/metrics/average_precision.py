"""MAP: the mean precision at the ranks of the relevant passages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.arrays import ratio, within
from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class MAP(BinaryMetric):
    """Average precision. Equals trec_eval's map, and map_cut at k.

    Formula: sum of P@rank at the relevant passages found / all relevant passages.

    Source: Buckley and Voorhees, Retrieval System Evaluation, chapter 3 of TREC: Experiment and
    Evaluation in Information Retrieval, MIT Press, 2005; trec_eval, m_map.c.

    Trap: unjudged passages count as not relevant.
    """

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
