"""The stored rows of one system under one setting: rankings, answers and scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from statistics import fmean
from typing import TypeVar

from ragstone.evaluation.usage import UsageRow, usage_of
from ragstone.results.record import NOT_ASKED, Record
from ragstone.results.stored_scores import StoredScores, has_status
from ragstone.statistics.breakdown import breakdown
from ragstone.statistics.failures import FAILURE_RATE, Scale, failure_scores
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
        found = self.scores.get(metric, {})
        if isinstance(found, StoredScores):
            return found.values_by_query
        return {query_id: score.value for query_id, score in found.items()}

    def values_of(self, metric: str, query_ids: Iterable[str]) -> list[float | None]:
        """Return the value of a metric for each of some queries; None without one."""
        values = self.values(metric)
        return [values.get(query_id) for query_id in query_ids]

    def scores_of(self, query_id: str) -> dict[str, Score]:
        """Return metric -> score of a query."""
        return {m: scores[query_id] for m, scores in self.scores.items() if query_id in scores}

    @property
    def each_scores(self) -> Sequence[Mapping[str, Mapping[str, Score]]]:
        """The scores of each answer; one if answers are not repeated."""
        return [self.scores]


@dataclass(frozen=True)
class RepeatRows:
    """One answer to each query, with the scores of one verdict on it."""

    answer: int
    """The number of the answer, from 0."""
    verdict: int
    contexts: Mapping[str, Context]
    predictions: Mapping[str, Prediction]
    scores: Mapping[str, Mapping[str, Score]]
    """Metric -> query id -> score. A further verdict has the scores of its judges alone."""


@dataclass(frozen=True)
class TrialResults(ScoredRows):
    """The rows of one system under one setting, by query id.

    If answers are repeated, contexts and predictions are those of the first, and scores are means.
    """

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
    repeats: tuple[RepeatRows, ...] = ()
    """Every answer and verdict, the first ones too; empty if nothing is repeated."""

    __repr__ = one_line

    @property
    def answers(self) -> Sequence[RepeatRows | TrialResults]:
        """The rows of each answer with its first verdicts."""
        return [one for one in self.repeats if not one.verdict] or [self]

    @property
    def first(self) -> TrialResults:
        """The trial with the scores of the first answer alone."""
        if not self.repeats:
            return self
        return replace(self, scores=self.repeats[0].scores, repeats=())

    def each_prediction(self) -> Iterator[Prediction]:
        """Yield the predictions of all answers; those not in memory yet are read block by block."""
        for rows in self.answers:
            yield from rows.predictions.values()

    @cached_property
    def usage(self) -> UsageRow:
        """Time, tokens, cost and statuses of all answers."""
        return usage_of(self.each_prediction(), self.system, self.setting)

    @cached_property
    def unanswered(self) -> Counter[str]:
        """Reason -> number of calls without an answer."""
        if not self.usage.failed:
            return Counter()
        return Counter(p.reason for p in self.each_prediction() if p.answer is None)

    @property
    def inapplicable(self) -> dict[str, str]:
        """Query id -> why the setting does not apply; without those that were not asked."""
        return {q: why for q, why in self.not_applicable.items() if why != NOT_ASKED}

    @property
    def each_scores(self) -> Sequence[Mapping[str, Mapping[str, Score]]]:
        """The scores of each answer with its first verdicts."""
        return [rows.scores for rows in self.answers]


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
        if not any(_has_failed(held) for one in mine.values() for held in one.each_scores):
            found.extend(mine.values())
            continue
        added = failure_scores(
            {(s, i): held for s, one in mine.items() for i, held in enumerate(one.each_scores)}
        )
        for system, one in mine.items():
            answers = [added[system, i] for i in range(len(one.each_scores))] if added else []
            more = {FAILURE_RATE: _mean_rates(answers)} if added else {}
            found.append(replace(one, scores={**one.scores, **more}))
    return found


def _has_failed(scores: Mapping[str, Mapping[str, Score]]) -> bool:
    return any(has_status(held, "failed") for held in scores.values())


def _mean_rates(answers: Sequence[Mapping[str, Score]]) -> Mapping[str, Score]:
    """Return the share of the failed answers to each query."""
    if len(answers) == 1:
        return answers[0]
    rates = {q: fmean(held[q].value or 0.0 for held in answers) for q in answers[0]}
    return {q: Score(q, FAILURE_RATE, rate) for q, rate in rates.items()}


def cells_of(
    measured: Iterable[ScoredRows], clusters: Mapping[str, str], record: Record
) -> list[Cell]:
    """Return every metric of every system under every setting, with its mean."""
    return [
        Cell(rows.system, rows.setting, metric, summary)
        for rows in measured
        for metric, scores in rows.scores.items()
        for summary in _summaries(scores, clusters, record.scale(metric))
    ]


def _summaries(
    scores: Mapping[str, Score], clusters: Mapping[str, str], scale: Scale
) -> Iterator[Summary]:
    """Yield the mean of all scores of a metric, if there are any."""
    if isinstance(scores, StoredScores):
        yield scores.summary(clusters, scale)
    else:
        yield from (e.summary for e in breakdown(scores, {"all": list(scores)}, clusters, scale))
