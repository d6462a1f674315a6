"""bpref: preferences between judged passages only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.arrays import ratio
from ragstone.components.metrics.base import BinaryMetric

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch


@dataclass(frozen=True)
class Bpref(BinaryMetric):
    """The share of judged non-relevant passages that are not ranked before relevant ones.

    Buckley and Voorhees, SIGIR 2004; equals trec_eval's bpref. Unjudged passages have no influence,
    so it suits runs of which few passages are judged. Grades below 0 count as unjudged.

    Formula: 1/R times the sum over relevant passages of 1 - min(bad ones before, R) / min(R,
    all bad ones).

    Source: Buckley and Voorhees, SIGIR 2004.

    Trap: without judged passages that are not relevant, it is the recall of the ranking.
    """

    name: ClassVar[str] = "bpref"
    description: ClassVar[str] = (
        "How rarely a passage judged as not relevant is ranked before a relevant one. Unjudged "
        "passages have no influence."
    )
    cutoff: ClassVar[str] = "none"

    def values(self, ranks: RankingBatch) -> Values:
        """Return the mean over relevant passages of 1 - bad passages before it / most of them."""
        relevant = ranks.relevant(self.rel)
        most = np.minimum(relevant, ranks.relevant(0) - relevant)[ranks.query]
        bad = (ranks.grade >= 0) & (ranks.grade < self.rel)
        before = np.minimum(ranks.before(bad), relevant[ranks.query])
        gain = 1.0 - ratio(before, most)
        good = ranks.grade >= self.rel
        gained = np.bincount(ranks.query[good], weights=gain[good], minlength=ranks.size)
        return ratio(gained, relevant)
