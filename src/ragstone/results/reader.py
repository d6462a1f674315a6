"""Reading an experiment's results from the store: means, intervals, adaptability, single queries.

Nothing here is kept: every aggregate is computed when it is read, from the scores of the single
queries.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self

from ragstone.core.schemas import (
    columns,
    table_to_contexts,
    table_to_predictions,
    table_to_queries,
    table_to_rankings,
    table_to_relevance,
    table_to_scores,
)
from ragstone.core.store import Store, StoredTable
from ragstone.errors import StoreError
from ragstone.results.record import Record, TrialEntry
from ragstone.statistics.adaptability import Adaptability, adaptability
from ragstone.statistics.summary import Summary, summarise

if TYPE_CHECKING:
    from ragstone.types import Context, Prediction, Query, Ranking, Score

MIXED = ("gold+noise", "retrieved")
"""Settings that stand for MIRAGE's mixed context, by the beginning of their names."""


@dataclass(frozen=True)
class Cell:
    """One metric of one system, under one setting; the setting is empty for ranking metrics."""

    system: str
    setting: str
    metric: str
    summary: Summary


@dataclass(frozen=True)
class TrialResults:
    """The rows of one system under one setting, by query id."""

    system: str
    setting: str
    built: Mapping[str, Context]
    """The contexts before the system's processor; the same ones where it has none."""
    contexts: Mapping[str, Context]
    """What the generator was shown."""
    predictions: Mapping[str, Prediction]
    scores: Mapping[str, Mapping[str, Score]]
    """Metric -> query id -> score."""


@dataclass(frozen=True)
class RankingResults:
    """A system's run and its scores, by query id."""

    system: str
    rankings: Mapping[str, Ranking]
    scores: Mapping[str, Mapping[str, Score]]
    """Metric -> query id -> score."""
    searches: Mapping[str, str] = field(default_factory=dict)
    """Query id -> the text that was searched for, where the system formed one."""


@dataclass(frozen=True)
class AdaptabilityRow:
    """MIRAGE's four metrics of one system, with one setting in the place of the mixed one."""

    system: str
    setting: str
    adaptability: Adaptability


@dataclass(frozen=True, slots=True)
class StepNote:
    """Something that a step had to do to its input: how often, and which component did it."""

    step: str
    component: str
    what: str
    count: int


@dataclass(frozen=True)
class StoredResults:
    """An experiment's kept results: rows by system and setting, and aggregates over them."""

    store: Store
    record: Record

    @classmethod
    def load(cls, store: Store, name: str) -> Self:
        """Return the results of the experiment that ran last under that name."""
        record = Record.load(store, name)
        if record is None:
            raise StoreError(
                f"the store {store.root} has no experiment {name!r}; run it first: "
                f"ragstone run {name}.yaml"
            )
        return cls(store, record)

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.record.name

    @property
    def finished(self) -> bool:
        """Whether all trials ended."""
        return self.record.finished is not None

    @cached_property
    def queries(self) -> dict[str, Query]:
        """The queries that were answered, by id."""
        return self._queries(self.record.tables.answered)

    @cached_property
    def ranked(self) -> dict[str, Query]:
        """The queries that retrieval was measured on, by id."""
        return self._queries(self.record.tables.ranked)

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Query id -> passage id -> relevance."""
        return table_to_relevance(self._step(self.record.tables.qrels).table)

    @cached_property
    def notes(self) -> list[StepNote]:
        """What the steps did to their input that nobody should have to guess.

        Equal notes of equal steps (the same metric in several trials) are added up.
        """
        counts: Counter[tuple[str, str, str]] = Counter()
        for folder in self.record.steps:
            made = self._step(folder).manifest
            for what, count in made.get("notes", {}).items():
                name = re.split("[/:]", made["made_by"]["component"])[-1]
                counts[made["step"], name, what] += count
        return [StepNote(*noted, count) for noted, count in counts.items()]

    @cached_property
    def texts(self) -> dict[str, str]:
        """Passage id -> the beginning of its text, of gold passages and the first few ranked."""
        if not self.record.tables.texts:
            return {}
        held = columns(self._step(self.record.tables.texts).table)
        return dict(zip(held["passage_id"], held["text"], strict=True))

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Query id -> the conversation or document it belongs to."""
        held = columns(self._step(self.record.tables.clusters).table)
        return dict(zip(held["query_id"], held["cluster"], strict=True))

    @cached_property
    def trials(self) -> list[TrialResults]:
        """The trials that ended, in the order of the experiment."""
        return [self._trial(entry) for entry in self.record.trials]

    @cached_property
    def rankings(self) -> list[RankingResults]:
        """The runs of the systems that retrieve."""
        return [
            RankingResults(
                entry.system,
                table_to_rankings(self._step(entry.run).table),
                self._scores(entry.scores),
                self._searches(entry.searches),
            )
            for entry in self.record.rankings
        ]

    @property
    def systems(self) -> list[str]:
        """Names of the systems."""
        return [entry.name for entry in self.record.systems]

    @property
    def settings(self) -> list[str]:
        """Names of the settings, in order."""
        return list(dict.fromkeys(entry.setting for entry in self.record.trials))

    @cached_property
    def answer_cells(self) -> list[Cell]:
        """Every answer metric of every system under every setting."""
        return [cell for t in self.trials for cell in self._cells(t.system, t.setting, t.scores)]

    @cached_property
    def ranking_cells(self) -> list[Cell]:
        """Every ranking metric of every system that retrieves."""
        return [cell for r in self.rankings for cell in self._cells(r.system, "", r.scores)]

    @cached_property
    def adaptability(self) -> list[AdaptabilityRow]:
        """MIRAGE's metrics for every system and every setting that can stand for the mixed one.

        Empty unless a system answered with no context, with gold context, and with a mixed one.
        """
        return [row for system in self.systems for row in self._adaptability_of(system)]

    def _adaptability_of(self, system: str) -> Iterator[AdaptabilityRow]:
        trials = {trial.setting: trial for trial in self.trials if trial.system == system}
        base, oracle = trials.get("none"), trials.get("gold")
        if base is None or oracle is None:
            return
        correct = self.record.correctness_metric
        for setting, mixed in trials.items():
            if setting.startswith(MIXED):
                found = adaptability(
                    _values(base, correct),
                    _values(oracle, correct),
                    _values(mixed, correct),
                    gold_in_context={q: self._has_gold(c) for q, c in mixed.contexts.items()},
                    clusters=self.clusters,
                )
                yield AdaptabilityRow(system, setting, found)

    def _has_gold(self, context: Context) -> bool:
        grades = self.qrels.get(context.query_id, {})
        return any(grades.get(passage_id, 0) > 0 for passage_id in context.passage_ids)

    def _cells(
        self, system: str, setting: str, scores: Mapping[str, Mapping[str, Score]]
    ) -> Iterator[Cell]:
        for metric, by_query in scores.items():
            yield Cell(system, setting, metric, self._summary(list(by_query.values())))

    def _summary(self, scores: Sequence[Score]) -> Summary:
        scored = [score for score in scores if score.value is not None]
        return summarise(
            [score.value for score in scored],
            clusters=[self.clusters[score.query_id] for score in scored],
            failed=sum(score.status == "failed" for score in scores),
            not_applicable=sum(score.status == "not_applicable" for score in scores),
        )

    def _trial(self, entry: TrialEntry) -> TrialResults:
        shown = self._contexts(entry.contexts)
        predictions = table_to_predictions(self._step(entry.predictions).table)
        return TrialResults(
            system=entry.system,
            setting=entry.setting,
            built=shown if entry.built == entry.contexts else self._contexts(entry.built),
            contexts=shown,
            predictions={prediction.query_id: prediction for prediction in predictions},
            scores=self._scores(entry.scores, *entry.verdicts),
        )

    def _queries(self, folder: str) -> dict[str, Query]:
        return {query.query_id: query for query in table_to_queries(self._step(folder).table)}

    def _searches(self, folder: str) -> dict[str, str]:
        if not folder:
            return {}
        held = columns(self._step(folder).table)
        return dict(zip(held["query_id"], held["text"], strict=True))

    def _contexts(self, folder: str) -> dict[str, Context]:
        held = table_to_contexts(self._step(folder).table)
        return {context.query_id: context for context in held}

    def _scores(self, *folders: str) -> dict[str, dict[str, Score]]:
        found: dict[str, dict[str, Score]] = {}
        for folder in folders:
            for score in table_to_scores(self._step(folder).table):
                found.setdefault(score.metric, {})[score.query_id] = score
        return found

    def _step(self, folder: str) -> StoredTable:
        return StoredTable("", folder=self.store.root / "steps" / folder)


def _values(trial: TrialResults, metric: str) -> dict[str, float | None]:
    return {query_id: score.value for query_id, score in trial.scores[metric].items()}
