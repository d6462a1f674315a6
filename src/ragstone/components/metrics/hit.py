"""hit@k: whether any relevant passage is among the first k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class Hit(BinaryMetric):
    """Hit at k. Equals trec_eval's success_k.

    Formula: 1 if one of the first k passages is relevant, else 0.

    Source: Tomlinson, as success_k in trec_eval, m_success.c, 2008.

    Trap: more relevant passages do not raise it.
    """

    name: ClassVar[str] = "hit"
    graded: ClassVar[bool] = False
    description: ClassVar[str] = "1 if any relevant passage is among the first k, else 0."

    def values(self, ranks: RankingBatch) -> Values:
        """Return 1 or 0 per query."""
        return (ranks.count(self.rel, self.depth) > 0).astype(np.float64)
