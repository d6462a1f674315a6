"""The stored rows of one system under one setting: what it ranked and answered, and the scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from ragstone.statistics.failures import FAILURE_RATE, failure_scores
from ragstone.statistics.summary import Summary
from ragstone.types import Context, Prediction, Ranking, Score, one_line


@dataclass(frozen=True)
class Cell:
    """One metric of one system under one setting; the setting is empty for ranking metrics."""

    system: str
    setting: str
    metric: str
    summary: Summary


class ScoredRows:
    """The scores of one system under one setting; the setting is empty for rankings."""

    system: str
    setting: str
    scores: Mapping[str, Mapping[str, Score]]
    """Metric -> query id -> score."""

    def values(self, metric: str) -> dict[str, float | None]:
        """Return query id -> value of a metric."""
        return {query_id: score.value for query_id, score in self.scores.get(metric, {}).items()}

    def scores_of(self, query_id: str) -> dict[str, Score]:
        """Return metric -> score of a query."""
        return {m: scores[query_id] for m, scores in self.scores.items() if query_id in scores}


@dataclass(frozen=True)
class TrialResults(ScoredRows):
    """The rows of one system under one setting, by query id."""

    system: str
    setting: str
    built: Mapping[str, Context]
    """The contexts before the system's processor; equal to `contexts` without a processor."""
    contexts: Mapping[str, Context]
    """The contexts that the generator received."""
    predictions: Mapping[str, Prediction]
    scores: Mapping[str, Mapping[str, Score]]
    not_applicable: Mapping[str, str] = field(default_factory=dict)
    """Query id without context and answer -> why the setting does not apply to it."""

    __repr__ = one_line


@dataclass(frozen=True)
class RankingResults(ScoredRows):
    """A system's run and its scores, by query id."""

    system: str
    rankings: Mapping[str, Ranking]
    scores: Mapping[str, Mapping[str, Score]]
    searches: Mapping[str, str] = field(default_factory=dict)
    """Query id -> search text; empty if the system has no query former."""
    setting: str = ""

    __repr__ = one_line


_Rows = TypeVar("_Rows", TrialResults, RankingResults)


def with_failure_rates(rows: Sequence[_Rows]) -> list[_Rows]:
    """Return the rows with the metric `FAILURE_RATE` under each setting with a failed query."""
    found: list[_Rows] = []
    for setting in dict.fromkeys(one.setting for one in rows):
        mine = {one.system: one for one in rows if one.setting == setting}
        added = failure_scores({system: one.scores for system, one in mine.items()})
        for system, one in mine.items():
            more = {FAILURE_RATE: added[system]} if added else {}
            found.append(replace(one, scores={**one.scores, **more}))
    return found
