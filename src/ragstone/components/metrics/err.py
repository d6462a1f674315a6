"""ERR: the expected reciprocal rank at which a reader is satisfied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import RankingMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class ERR(RankingMetric):
    """Expected reciprocal rank: a passage of grade g satisfies with (2^g - 1) / 2^top.

    Chapelle et al., CIKM 2009. A reader who is satisfied by a passage stops there.

    Formula: sum over ranks of 1/rank times the probability that the reader stops there.

    Source: Chapelle et al., CIKM 2009.

    Trap: values are comparable under the same highest grade only; TREC's gdeval takes 4.

    Args:
        k: the cutoff, or None.
        top: the highest grade of the scale; 0 takes the highest one in the qrels.
    """

    top: int = 0

    name: ClassVar[str] = "ERR"
    description: ClassVar[str] = (
        "Expected reciprocal rank: one over the rank at which a reader is satisfied, who is more "
        "likely to be satisfied by higher grades."
    )
    cutoff: ClassVar[str] = "optional"

    def values(self, ranks: RankingBatch) -> Values:
        """Return the sum over ranks of the probability to be satisfied there, over the rank."""
        top = self.top or int(ranks.judged_grade.max(initial=1))
        stop = (np.exp2(np.clip(ranks.grade, 0, top)) - 1.0) / np.exp2(top)
        reached = np.exp(ranks.before(np.log1p(-stop)))
        near = ranks.rank <= self.depth
        gain = (stop * reached / ranks.rank)[near]
        return np.bincount(ranks.query[near], weights=gain, minlength=ranks.size).astype(np.float64)
