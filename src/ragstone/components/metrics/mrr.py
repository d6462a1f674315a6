"""MRR: one over the rank of the first relevant passage."""

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
class MRR(RankingMetric):
    """Reciprocal rank; passages of grade `rel` and above are relevant (TREC DL takes 2)."""

    rel: int = 1

    name: ClassVar[str] = "MRR"
    description: ClassVar[str] = (
        "Reciprocal rank: one over the rank of the first relevant passage, 0 if there is none; "
        "averaged over queries."
    )
    cutoff: ClassVar[str] = "optional"

    def values(self, ranks: RankingBatch) -> Values:
        """Return 1 / rank of the first relevant passage; 0 where none stands among the first k."""
        query, rank = ranks.hits(self.rel, self.depth)
        found, first = np.unique(query, return_index=True)
        value = np.zeros(ranks.size)
        value[found] = 1.0 / rank[first]
        return value


def reciprocal_rank(
    passage_ids: Sequence[str], relevance: Mapping[str, int], k: int | None = None
) -> float:
    """Return one over the rank of the first relevant passage, 0 where there is none.

    Agrees with trec_eval's recip_rank.

    >>> reciprocal_rank(["a", "b"], {"b": 1}), reciprocal_rank(["a", "b"], {"b": 1}, k=1)
    (0.5, 0.0)
    """
    return float(MRR(k).values(one_ranking(passage_ids, relevance))[0])
