"""nDCG@k: how much of the best attainable gain a ranking collects, early places counting more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.ranking_batch import one_ranking, within

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class NDCG(RankingMetric):
    """Normalised discounted cumulative gain.

    `gains` is "linear" (the grade, as trec_eval) or "exponential" (2^grade - 1, as Burges et al.,
    ICML 2005). The variant "mirage" is that of MIRAGE's released scorer: every relevant passage
    gains 1, and the ideal is the retrieved list sorted anew, so that relevant passages which were
    not retrieved cost nothing and the value depends on how deep the list is.
    """

    gains: Literal["linear", "exponential"] = "linear"
    variant: Literal["corrected", "mirage"] = "corrected"

    name: ClassVar[str] = "nDCG"
    description: ClassVar[str] = (
        "The gain of the relevant passages among the first k, early ranks counting more, divided "
        "by the gain of the best possible order. 1 is a perfect order."
    )
    cutoff: ClassVar[str] = "optional"
    synonyms: ClassVar[dict[str, str]] = {"paper": "mirage"}

    def values(self, ranks: RankingBatch) -> Values:
        """Return gain over ideal gain; 0 where no relevant passage was retrieved."""
        ideal = self._ideal_of_retrieved(ranks) if self.variant == "mirage" else ranks.perfect
        best = self._dcg(ideal)
        return np.divide(self._dcg(ranks), best, out=np.zeros(ranks.size), where=best > 0)

    def _dcg(self, ranks: RankingBatch) -> Values:
        near = (ranks.rank <= self.depth) & (ranks.grade > 0)
        gain = self._gain(ranks.grade[near].astype(np.float64)) / np.log2(ranks.rank[near] + 1.0)
        return np.bincount(ranks.query[near], weights=gain, minlength=ranks.size).astype(np.float64)

    def _gain(self, grade: Values) -> Values:
        if self.variant == "mirage":
            return np.ones_like(grade)
        return grade if self.gains == "linear" else np.exp2(grade) - 1.0

    def _ideal_of_retrieved(self, ranks: RankingBatch) -> RankingBatch:
        kept = ranks.grade > 0
        query = ranks.query[kept]
        place = within(query, np.bincount(query, minlength=ranks.size)) + 1
        return type(ranks)(
            size=ranks.size,
            retrieved=ranks.retrieved,
            query=query,
            rank=place,
            grade=ranks.grade[kept],
            judged_query=ranks.judged_query,
            judged_grade=ranks.judged_grade,
        )


def ndcg(
    passage_ids: Sequence[str],
    relevance: Mapping[str, int],
    k: int,
    *,
    gains: Literal["linear", "exponential"] = "linear",
) -> float:
    """Return the normalised discounted cumulative gain of one ranking, best passage first.

    Järvelin and Kekäläinen, ACM TOIS 20(4), 2002, with the discount log2(rank + 1); agrees with
    trec_eval's ndcg_cut. Grades of 0 and below gain nothing; without any relevant passage it is 0.

    >>> ndcg(["a", "b"], {"b": 1}, k=10)
    0.6309297535714575
    """
    return float(NDCG(k, gains=gains).values(one_ranking(passage_ids, relevance))[0])
