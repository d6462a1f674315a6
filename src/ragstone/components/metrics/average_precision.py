"""MAP: the mean, over the relevant passages, of the precision at their ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.ranking_batch import one_ranking, within

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class MAP(RankingMetric):
    """Average precision; passages of grade `rel` and above are relevant."""

    rel: int = 1

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
        total = ranks.relevant(self.rel)
        return np.divide(gained, total, out=np.zeros(ranks.size), where=total > 0)


def average_precision(
    passage_ids: Sequence[str], relevance: Mapping[str, int], k: int | None = None
) -> float:
    """Return the average precision of one ranking; relevant passages not retrieved count 0.

    Agrees with trec_eval's map, and with map_cut at k.

    >>> average_precision(["a", "b", "c"], {"a": 1, "c": 1})
    0.8333333333333333
    """
    return float(MAP(k).values(one_ranking(passage_ids, relevance))[0])
