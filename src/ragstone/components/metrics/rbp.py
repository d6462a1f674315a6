"""RBP: rank-biased precision, and the part of it that unjudged passages leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import BinaryMetric, Direction
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class RBP(BinaryMetric):
    """The expected gain of a reader who goes on to the next rank with probability p.

    Moffat and Zobel, ACM TOIS 27(1), 2008. Unjudged passages gain nothing, so the value is a lower
    bound; the upper bound is the value plus `RBP-residual`.

    Formula: (1 - p) times the sum of p^(rank - 1) over the relevant passages.

    Source: Moffat and Zobel, ACM TOIS 27(1), 2008.

    Trap: the value of a short ranking is a lower bound.

    Args:
        p: probability of going on; a reader sees 1 / (1 - p) passages on average.
        rel: lowest grade of a relevant passage.
    """

    p: float = 0.8

    name: ClassVar[str] = "RBP"
    description: ClassVar[str] = (
        "Rank-biased precision: the gain of a reader who goes on from each rank to the next with "
        "probability p. Unjudged passages gain nothing."
    )
    cutoff: ClassVar[str] = "optional"

    def __post_init__(self) -> None:
        """Check the cutoff, and that p is between 0 and 1."""
        super().__post_init__()
        if not 0 < self.p < 1:
            raise ConfigError(f"p of {self.name} must be above 0 and below 1, found {self.p}")

    def values(self, ranks: RankingBatch) -> Values:
        """Return the sum of (1 - p) p^(rank - 1) over the relevant passages."""
        return self._weight(ranks, self.rel)

    def _weight(self, ranks: RankingBatch, rel: int) -> Values:
        query, rank = ranks.hits(rel, self.depth)
        weights = (1 - self.p) * self.p ** (rank - 1.0)
        return np.bincount(query, weights=weights, minlength=ranks.size).astype(np.float64)


@dataclass(frozen=True)
class RBPResidual(RBP):
    """The RBP that the ranking would gain if every unjudged passage, and all further ranks, gained.

    Moffat and Zobel, ACM TOIS 27(1), 2008: the width of the interval in which RBP is uncertain.

    Formula: 1 - (1 - p) times the sum of p^(rank - 1) over the judged passages.

    Source: Moffat and Zobel, ACM TOIS 27(1), 2008.

    Trap: it grows if fewer passages are judged, whatever their relevance.
    """

    name: ClassVar[str] = "RBP-residual"
    direction: ClassVar[Direction] = "lower"
    description: ClassVar[str] = (
        "The largest amount by which RBP could rise if the unjudged passages were relevant."
    )

    def values(self, ranks: RankingBatch) -> Values:
        """Return 1 minus the weight of the judged passages."""
        return 1.0 - self._weight(ranks, int(np.iinfo(np.int64).min))
