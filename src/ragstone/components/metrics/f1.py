"""F1@k of a ranking: the harmonic mean of P@k and R@k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class F1At(BinaryMetric):
    """F1 at k: the harmonic mean of P@k and R@k, query by query, as MIRAGE reports it."""

    name: ClassVar[str] = "F1"
    description: ClassVar[str] = "The harmonic mean of ranking precision and recall at k."

    def values(self, ranks: RankingBatch) -> Values:
        """Return 2 hits / (k + relevant passages), which is the harmonic mean of P@k and R@k."""
        return 2.0 * ranks.count(self.rel, self.depth) / (self.depth + ranks.relevant(self.rel))
