"""R@k: the share of the relevant passages that stand among the first k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.ranking_batch import one_ranking

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class RecallAt(RankingMetric):
    """Recall at k; passages of grade `rel` and above are relevant."""

    rel: int = 1

    name: ClassVar[str] = "R"
    description: ClassVar[str] = (
        "Recall: the share of all relevant passages that are among the first k."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first k over all relevant ones."""
        total = ranks.relevant(self.rel)
        found = ranks.count(self.rel, self.depth)
        return np.divide(found, total, out=np.zeros(ranks.size), where=total > 0)


def recall(passage_ids: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Return the share of the relevant passages among the first k; 0 without relevant ones.

    Agrees with trec_eval's recall_k.

    >>> recall(["a", "b", "c"], {"b": 1, "z": 2}, k=3)
    0.5
    """
    return float(RecallAt(k).values(one_ranking(passage_ids, relevance))[0])
