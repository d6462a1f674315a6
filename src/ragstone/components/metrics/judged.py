"""judged@k: the share of the first k passages that the qrels judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.arrays import ratio
from ragstone.components.metrics.base import Direction, RankingMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class Judged(RankingMetric):
    """The share of judged passages; rankings shorter than k are measured over their own length.

    Formula: judged passages among the first k / the passages ranked there.

    Source: the measure Judged of ir_measures (judged_provider.py), MacAvaney et al., ECIR 2022.

    Trap: it does not depend on relevance, so read it beside the other metrics.
    """

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
