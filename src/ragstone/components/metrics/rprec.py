"""R-precision: precision at as many places as there are relevant passages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.ranking_batch import one_ranking

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class RPrec(RankingMetric):
    """Precision at R, where R passages of grade `rel` and above exist."""

    rel: int = 1

    name: ClassVar[str] = "Rprec"
    description: ClassVar[str] = (
        "Precision among the first R ranks, R being the number of relevant passages."
    )
    cutoff: ClassVar[str] = "none"

    def values(self, ranks: RankingBatch) -> Values:
        """Return relevant passages among the first R, over R."""
        total = ranks.relevant(self.rel)
        found = ranks.count(self.rel, total.astype(np.int64))
        return np.divide(found, total, out=np.zeros(ranks.size), where=total > 0)


def r_precision(passage_ids: Sequence[str], relevance: Mapping[str, int]) -> float:
    """Return the precision at R of one ranking, R being the number of relevant passages.

    Agrees with trec_eval's Rprec.

    >>> r_precision(["a", "b", "c"], {"a": 1, "c": 1})
    0.5
    """
    return float(RPrec().values(one_ranking(passage_ids, relevance))[0])
