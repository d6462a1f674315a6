"""MRR: one over the rank of the first relevant passage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class MRR(BinaryMetric):
    """Reciprocal rank. Equals trec_eval's recip_rank; TREC DL uses `rel=2`.

    Formula: 1 / rank of the first relevant passage, 0 if there is none.

    Source: Voorhees, TREC-8 question answering track, 1999.

    Trap: it looks at one passage only, and the first ranks decide.
    """

    name: ClassVar[str] = "MRR"
    description: ClassVar[str] = (
        "Reciprocal rank: one over the rank of the first relevant passage, 0 if there is none; "
        "averaged over queries."
    )
    cutoff: ClassVar[str] = "optional"

    def values(self, ranks: RankingBatch) -> Values:
        """Return 1 / rank of the first relevant passage; 0 if there is none among the first k."""
        query, rank = ranks.hits(self.rel, self.depth)
        first = np.flatnonzero(np.diff(query, prepend=-1))
        value = np.zeros(ranks.size)
        value[query[first]] = 1.0 / rank[first]
        return value
