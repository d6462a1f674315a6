"""F1@k of a ranking: the harmonic mean of P@k and R@k, query by query (MIRAGE reports it)."""

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
class F1At(RankingMetric):
    """Ranking F1 at k; passages of grade `rel` and above are relevant."""

    rel: int = 1

    name: ClassVar[str] = "F1"
    description: ClassVar[str] = "The harmonic mean of ranking precision and recall at k."

    def values(self, ranks: RankingBatch) -> Values:
        """Return 2 hits / (k + relevant passages), which is the harmonic mean of P@k and R@k."""
        total = ranks.relevant(self.rel)
        return 2.0 * ranks.count(self.rel, self.depth) / (self.depth + total)


def ranking_f1(passage_ids: Sequence[str], relevance: Mapping[str, int], k: int) -> float:
    """Return the harmonic mean of precision and recall at k; 0 where nothing relevant is found.

    >>> ranking_f1(["a", "b"], {"a": 1}, k=3)
    0.5
    """
    return float(F1At(k).values(one_ranking(passage_ids, relevance))[0])
