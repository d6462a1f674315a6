"""judged@k: the share of the first k passages that the qrels say anything about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import Direction, RankingMetric
from ragstone.components.metrics.ranking_batch import one_ranking

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class Judged(RankingMetric):
    """The share of judged passages; where it is low, the other metrics are lower bounds."""

    name: ClassVar[str] = "judged"
    direction: ClassVar[Direction] = "neutral"
    description: ClassVar[str] = (
        "The share of the first k passages that the qrels judge. If it is low, the other ranking "
        "metrics are lower bounds."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return judged passages among the first k over the passages there; 0 for none."""
        shown = np.minimum(ranks.retrieved, self.depth).astype(np.float64)
        known = ranks.count(np.iinfo(np.int64).min, self.depth)
        return np.divide(known, shown, out=np.zeros(ranks.size), where=shown > 0)


def judged(passage_ids: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Return the share of the first k passages that have a grade, relevant or not.

    A ranking shorter than k is measured over its own length; an empty one gives 0.

    >>> judged(["a", "b", "c", "d"], {"a": 1, "c": 0}, k=3)
    0.6666666666666666
    """
    return float(Judged(k).values(one_ranking(passage_ids, relevance))[0])
