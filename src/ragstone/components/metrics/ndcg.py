"""nDCG@k: how much of the best attainable gain a ranking collects, early places counting more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.arrays import ratio, within
from ragstone.components.metrics.base import RankingMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class NDCG(RankingMetric):
    """Normalised discounted cumulative gain, with the discount log2(rank + 1).

    Järvelin and Kekäläinen, ACM TOIS 20(4), 2002; equals trec_eval's ndcg_cut. Grades of 0 and
    below gain nothing.

    Formula: sum of gain / log2(rank + 1) over the first k, divided by that of the best order.

    Source: Järvelin and Kekäläinen, ACM TOIS 20(4), 2002. Their discount leaves the first ranks as
    they are; this one is that of trec_eval, m_ndcg_cut.c.

    Trap: other tools take gains of 2^grade - 1, which give other values for the same ranking.
    MIRAGE's form rewards short lists.

    Args:
        k: the cutoff, or None.
        gains: "linear" (the grade, as in trec_eval) or "exponential" (2^grade - 1, as in Burges et
            al., ICML 2005) or "binary" (1 for a grade of 1 or more).
        variant: "mirage" is the form of MIRAGE's released scorer. Every relevant passage gains 1,
            and the ideal is the retrieved list, sorted. Relevant passages that were not retrieved
            therefore cost nothing, and the value depends on the length of the list.
    """

    gains: Literal["linear", "exponential", "binary"] = "linear"
    variant: Literal["corrected", "mirage"] = "corrected"

    name: ClassVar[str] = "nDCG"
    description: ClassVar[str] = (
        "The gain of the relevant passages among the first k, early ranks counting more, divided "
        "by the gain of the best possible order. 1 is a perfect order."
    )
    cutoff: ClassVar[str] = "optional"
    synonyms: ClassVar[dict[str, str]] = {"paper": "mirage"}

    def values(self, ranks: RankingBatch) -> Values:
        """Return gain over ideal gain; 0 if no relevant passage was retrieved."""
        ideal = _ideal_of_retrieved(ranks) if self.variant == "mirage" else ranks.perfect
        return ratio(self._dcg(ranks), self._dcg(ideal))

    def _dcg(self, ranks: RankingBatch) -> Values:
        near = (ranks.rank <= self.depth) & (ranks.grade > 0)
        gain = self._gain(ranks.grade[near].astype(np.float64)) / np.log2(ranks.rank[near] + 1.0)
        return np.bincount(ranks.query[near], weights=gain, minlength=ranks.size).astype(np.float64)

    def _gain(self, grade: Values) -> Values:
        if self.variant == "mirage" or self.gains == "binary":
            return np.ones_like(grade)
        return grade if self.gains == "linear" else np.exp2(grade) - 1.0


def _ideal_of_retrieved(ranks: RankingBatch) -> RankingBatch:
    kept = ranks.grade > 0
    query = ranks.query[kept]
    rank = within(query, np.bincount(query, minlength=ranks.size)) + 1
    return replace(ranks, query=query, rank=rank, grade=ranks.grade[kept])
