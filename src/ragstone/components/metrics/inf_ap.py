"""infAP: average precision inferred from judgements of a sample of the pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.arrays import ratio
from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch

_EPSILON: Final = 1e-5
"""Smoothing of the share of relevant passages, as in trec_eval."""


@dataclass(frozen=True)
class InfAP(BinaryMetric):
    """Average precision, estimated if only a random sample of the pooled passages is judged.

    Yilmaz and Aslam, CIKM 2006; equals trec_eval's infAP. A grade of -1 marks a pooled passage that
    was not judged; a passage that is absent from the qrels was not pooled and counts as not
    relevant.

    Formula: 1/R times the sum over relevant passages of the expected precision at their rank.

    Source: Yilmaz and Aslam, CIKM 2006.

    Trap: it needs the grades -1 of the pool; without them it is near MAP.
    """

    name: ClassVar[str] = "infAP"
    description: ClassVar[str] = (
        "Average precision, inferred for qrels that judge a random sample of the pooled passages."
    )
    cutoff: ClassVar[str] = "none"

    def values(self, ranks: RankingBatch) -> Values:
        """Return the sum of expected precisions at relevant passages over their number."""
        good = ranks.grade >= self.rel
        relevant, judged = ranks.before(good), ranks.before(ranks.grade >= 0)
        pooled = ranks.before(np.ones_like(good))
        share = (relevant + _EPSILON) / (judged + 2 * _EPSILON)
        expected = (1.0 + np.where(ranks.rank > 1, pooled * share, 0.0)) / ranks.rank
        gained = np.bincount(ranks.query[good], weights=expected[good], minlength=ranks.size)
        return ratio(gained, ranks.relevant(self.rel))
