"""alpha-nDCG: how early a ranking covers the subtopics of a query, repetition counting less."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from ragstone.components.metrics.arrays import ratio, within
from ragstone.components.metrics.base import BinaryMetric, Scored
from ragstone.components.metrics.ranking_batch import rank_judged
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.ranking_batch import RankingBatch

Covered: TypeAlias = Mapping[str, Collection[str]]
"""Subtopic -> its relevant passages."""


@dataclass(frozen=True)
class AlphaNDCG(BinaryMetric):
    """nDCG in which a passage gains (1 - alpha)^(earlier passages on it) for each of its subtopics.

    Clarke et al., SIGIR 2008; equals TREC's ndeval. The ideal ranking is made greedily: at each
    rank the passage with the highest gain, of equal ones that with the highest id.

    Formula: nDCG of the gains (1 - alpha)^(earlier passages on the subtopic), summed over
    subtopics.

    Source: Clarke et al., SIGIR 2008.

    Trap: the greedy ideal is not always the best one, so compare with the same tool only.

    Args:
        alpha: 0 counts every passage on a subtopic fully, 1 only the first one.
        rel: lowest grade of a passage that covers its subtopic.
    """

    alpha: float = 0.5

    name: ClassVar[str] = "alpha-nDCG"
    description: ClassVar[str] = (
        "The gain of the first k passages over the best possible one, if each further passage on a "
        "subtopic of the query gains less. 1 covers all subtopics as early as possible."
    )
    requires: ClassVar[frozenset[str]] = frozenset({"qrels", "subtopics"})
    cutoff: ClassVar[str] = "optional"

    def __post_init__(self) -> None:
        """Check the cutoff and the options."""
        super().__post_init__()
        if not 0 <= self.alpha <= 1:
            raise ConfigError(f"alpha of {self.name} must be from 0 to 1, found {self.alpha}")
        if self.condensed:
            raise ConfigError(f"{self.name} has no condensed form; remove condensed=true")
        if self.level != "passage":
            raise ConfigError(f"{self.name} ranks passages; remove level={self.level}")

    def scored(self, ranks: RankingBatch) -> Scored:
        """Return the values; queries without a relevant passage on a subtopic have none."""
        covered = self._covered(ranks)
        reason = "the qrels contain no relevant passage on a subtopic of this query"
        return Scored(
            self.values(ranks), {i: reason for i, found in enumerate(covered) if not found}
        )

    def values(self, ranks: RankingBatch) -> Values:
        """Return gain over ideal gain per query; 0 without subtopics."""
        covered = self._covered(ranks)
        run = ranks.source.run if ranks.source else {}
        ids = ranks.source.query_ids if ranks.source else ()
        # Each subtopic is ranked like a query of its own, by the ranking of its query.
        parts = [(i, p) for i, of_query in enumerate(covered) for p in of_query.values()]
        owner = np.array([i for i, _ in parts], dtype=np.int64)
        judged = {str(n): dict.fromkeys(passages, 1) for n, (_, passages) in enumerate(parts)}
        rankings = {str(n): run[ids[i]] for n, (i, _) in enumerate(parts) if ids[i] in run}
        found = rank_judged(judged, rankings, list(judged))
        earlier = within(found.query, np.bincount(found.query, minlength=found.size))
        near = found.rank <= self.depth
        gains = (1.0 - self.alpha) ** earlier[near] / np.log2(found.rank[near] + 1.0)
        gain = np.bincount(owner[found.query[near]], weights=gains, minlength=ranks.size)
        return ratio(gain.astype(np.float64), np.array(list(map(self._ideal, covered)), float))

    def _covered(self, ranks: RankingBatch) -> Sequence[Covered]:
        """Return the relevant passages on each subtopic of each query."""
        if ranks.source is None:
            return [{}] * ranks.size
        found = []
        for query_id in ranks.source.query_ids:
            subtopics = ranks.source.subtopics.get(query_id, {})
            relevant = {
                subtopic: [passage for passage, grade in grades.items() if grade >= self.rel]
                for subtopic, grades in subtopics.items()
            }
            found.append({subtopic: kept for subtopic, kept in relevant.items() if kept})
        return found

    def _ideal(self, covered: Covered) -> float:
        """Return the gain of the greedy ranking."""
        subtopics: dict[str, list[str]] = {}
        for subtopic, passages in covered.items():
            for passage_id in passages:
                subtopics.setdefault(passage_id, []).append(subtopic)
        left = sorted(subtopics, reverse=True)
        seen: Counter[str] = Counter()
        gain = 0.0
        for rank in islice(range(1, len(left) + 1), self.depth):
            gains = [sum((1.0 - self.alpha) ** seen[t] for t in subtopics[p]) for p in left]
            best = gains.index(max(gains))
            gain += gains[best] / float(np.log2(rank + 1))
            seen.update(subtopics[left.pop(best)])
        return gain
