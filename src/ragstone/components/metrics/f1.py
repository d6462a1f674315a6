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
    """F1 at k: the harmonic mean of P@k and R@k, query by query, as MIRAGE reports it.

    Formula: 2 P R / (P + R), of P@k and R@k of the query.

    Source: van Rijsbergen, Information Retrieval, 1979; Park et al., MIRAGE, 2025.

    Trap: it is not the F1 of the mean precision and the mean recall.
    """

    name: ClassVar[str] = "F1"
    description: ClassVar[str] = "The harmonic mean of ranking precision and recall at k."

    def values(self, ranks: RankingBatch) -> Values:
        """Return 2 hits / (k + relevant passages), which is the harmonic mean of P@k and R@k."""
        return 2.0 * ranks.count(self.rel, self.depth) / (self.depth + ranks.relevant(self.rel))
