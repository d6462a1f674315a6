"""P@k: the share of the first k places that hold relevant passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.ranking_batch import one_ranking

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class PrecisionAt(RankingMetric):
    """Precision at k; passages of grade `rel` and above are relevant."""

    rel: int = 1

    name: ClassVar[str] = "P"
    description: ClassVar[str] = (
        "Precision: the share of the first k ranks that have a relevant passage. It cannot reach "
        "1 if fewer than k passages are relevant."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first k, over k."""
        return ranks.count(self.rel, self.depth) / self.depth


def precision(passage_ids: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Return the share of the first k places that hold relevant passages.

    The divisor is k even where the ranking is shorter, as in trec_eval's P_k.

    >>> precision(["a", "b"], {"b": 1}, k=4)
    0.25
    """
    return float(PrecisionAt(k).values(one_ranking(passage_ids, relevance))[0])
