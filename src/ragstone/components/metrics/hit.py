"""hit@k: whether any relevant passage stands among the first k."""

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
class Hit(RankingMetric):
    """1 where a passage of grade `rel` or above stands among the first k, else 0."""

    rel: int = 1

    name: ClassVar[str] = "hit"
    description: ClassVar[str] = "1 if any relevant passage is among the first k, else 0."

    def values(self, ranks: RankingBatch) -> Values:
        """Return 1 or 0 per query."""
        return (ranks.count(self.rel, self.depth) > 0).astype("float64")


def hit(passage_ids: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Return 1 where a relevant passage stands among the first k, else 0.

    Agrees with trec_eval's success_k.

    >>> hit(["a", "b"], {"b": 1}, k=1), hit(["a", "b"], {"b": 1}, k=2)
    (0.0, 1.0)
    """
    return float(Hit(k).values(one_ranking(passage_ids, relevance))[0])
