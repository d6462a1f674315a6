"""The results of an experiment, read from the store: rows, means, intervals, adaptability.

The store contains no mean: all are computed from the scores of single queries. Figures of all
answers together, such as macro-F1, are in the manifest of the scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self, TypeVar

from arro3.core import Table

from ragstone.core import schemas
from ragstone.core.store import Store
from ragstone.core.stored_table import StoredTable
from ragstone.results.record import Attempt, RankingEntry, Record, TrialEntry
from ragstone.results.scored_rows import (
    Cell,
    RankingResults,
    ScoredRows,
    TrialResults,
    with_failure_rates,
)
from ragstone.results.standings import Standing, standings
from ragstone.statistics.adaptability import Adaptability, adaptability
from ragstone.statistics.breakdown import breakdown
from ragstone.types import Context, Prediction, Query, Score

_Row = TypeVar("_Row", Query, Context, Prediction)
MIXED: Final = ("gold+noise", "retrieved")
"""Beginnings of the names of settings that are MIRAGE's mixed context."""


@dataclass(frozen=True)
class AdaptabilityRow:
    """MIRAGE's four metrics of one system, with one setting as the mixed context."""

    system: str
    setting: str
    adaptability: Adaptability


@dataclass(frozen=True, slots=True)
class StepNote:
    """A fact about several items of a step: a change to the input, or a reason of failures."""

    step: str
    component: str
    what: str
    count: int


@dataclass(frozen=True, slots=True)
class TrustedStep:
    """A step that other code made and a run reused (`--trust-code`)."""

    step: str
    component: str
    source: str
    """The beginning of the digest of the code that made it."""
    ragstone: str
    made_at: str
    results: tuple[str, ...]
    """The system and the setting of all results that rest on the step."""


@dataclass(frozen=True)
class StoredResults:
    """The stored results of an experiment: rows by system and setting, and aggregates of them."""

    store: Store
    record: Record

    @classmethod
    def load(cls, store: Store, name: str) -> Self:
        """Return the results of the last experiment with this name; `StoreError` without one."""
        return cls(store, Record.load(store, name))

    @property
    def name(self) -> str:
        """The experiment's name."""
        return self.record.name

    @property
    def finished(self) -> bool:
        """Whether all trials ended."""
        return self.record.finished is not None

    @cached_property
    def attempt(self) -> Attempt | None:
        """The newer run that is not complete, or None."""
        return Attempt.load(self.store, self.record)

    @cached_property
    def queries(self) -> dict[str, Query]:
        """The answered queries by id."""
        return self._by_query(self.record.tables.answered, schemas.table_to_queries)

    @cached_property
    def ranked(self) -> dict[str, Query]:
        """The queries of the ranking metrics by id."""
        return self._by_query(self.record.tables.ranked, schemas.table_to_queries)

    @property
    def all_queries(self) -> dict[str, Query]:
        """The answered queries, then the others that are ranked, by id."""
        return self.queries | {q: one for q, one in self.ranked.items() if q not in self.queries}

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Query id -> passage id -> relevance."""
        return schemas.table_to_relevance(self.stored_table(self.record.tables.qrels))

    @cached_property
    def notes(self) -> list[StepNote]:
        """The changes that steps made to their input, such as texts cut to a model's maximum.

        Equal notes of equal steps (the same metric in several trials) are added up.
        """
        return _step_notes(self._facts("notes"))

    @cached_property
    def failures(self) -> list[StepNote]:
        """The reasons of failed items and of fallbacks, the most frequent first."""
        counts = self._facts("reasons")
        for trial in self.trials:
            for metric, scores in trial.scores.items():
                if self.record.metric(metric).kind != "judge":
                    unscored = (s.reason for s in scores.values() if s.status == "unscored")
                    counts.update(("score-answer", metric, reason) for reason in unscored)
        return _step_notes(counts)

    @cached_property
    def manifests(self) -> dict[str, dict[str, Any]]:
        """Folder -> manifest of every step, in order."""
        folders = [entry.folder for entry in self.record.steps]
        return {folder: self._step(folder).manifest for folder in folders}

    def _facts(self, key: str) -> Counter[tuple[str, str, str]]:
        """Return (step, component, text) -> count over the manifests of all steps."""
        counts: Counter[tuple[str, str, str]] = Counter()
        for manifest in self.manifests.values():
            for what, count in manifest.get(key, {}).items():
                name = re.split("[/:]", manifest["made_by"]["component"])[-1]
                counts[manifest["step"], name, what] += count
        return counts

    @cached_property
    def trusted_code(self) -> list[TrustedStep]:
        """The steps of other code that the results rest on."""
        entries = {entry.folder: entry for entry in self.record.steps}
        results: dict[str, dict[str, None]] = {}
        for name, folders in self._folders():
            for folder in folders:
                for trusted in entries[folder].trusted if folder in entries else ():
                    results.setdefault(trusted, {})[name] = None
        return [
            TrustedStep(
                e.step, e.component, e.source, e.ragstone, e.made_at, tuple(results[folder])
            )
            for folder, e in entries.items()
            if folder in results
        ]

    def _folders(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the name of each ranking and trial, and the folders of its numbers."""
        for ranking in self.record.rankings:
            yield f"{ranking.system} (retrieval)", (ranking.run, ranking.scores)
        for trial in self.record.trials:
            folders = (trial.predictions, trial.scores, *trial.verdicts)
            yield f"{trial.system} ({trial.setting})", folders

    @cached_property
    def texts(self) -> dict[str, str]:
        """Passage id -> the beginning of its text, for gold passages and the first few ranked."""
        return self._mapping(self.record.tables.texts)

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Query id -> its conversation or document."""
        return self._mapping(self.record.tables.clusters)

    @cached_property
    def collections(self) -> dict[str, str]:
        """Query id -> its collection; empty if all queries search all passages."""
        return self._mapping(self.record.tables.collections)

    @cached_property
    def trials(self) -> list[TrialResults]:
        """The complete trials, in the order of the experiment."""
        return with_failure_rates([self._trial(entry) for entry in self.record.trials])

    @cached_property
    def rankings(self) -> list[RankingResults]:
        """The runs of the systems that retrieve."""
        return with_failure_rates([self._ranking(entry) for entry in self.record.rankings])

    def _ranking(self, entry: RankingEntry) -> RankingResults:
        return RankingResults(
            entry.system,
            schemas.table_to_rankings(self.stored_table(entry.run)),
            self._scores(entry.scores),
            self._mapping(entry.searches),
        )

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
        return _cells(self.trials, self.clusters, self.record)

    @cached_property
    def beside(self) -> dict[tuple[str, str], Mapping[str, Mapping[str, float]]]:
        """(system, setting) -> metric -> figures of all answers together."""
        return {
            (entry.system, entry.setting): self._step(entry.scores).manifest.get("beside", {})
            for entry in self.record.trials
        }

    @cached_property
    def ranking_cells(self) -> list[Cell]:
        """Every ranking metric of every system that retrieves."""
        return _cells(self.rankings, self.clusters, self.record)

    @cached_property
    def standings(self) -> dict[tuple[str, str], Standing]:
        """(setting, metric) -> ranks, groups and comparisons of the systems."""
        cells, rows = [*self.answer_cells, *self.ranking_cells], [*self.trials, *self.rankings]
        return standings(cells, rows, self.record, self.clusters)

    @cached_property
    def adaptability(self) -> list[AdaptabilityRow]:
        """MIRAGE's metrics of every system under every mixed setting.

        A system needs answers without context, with gold context and with a mixed one.
        """
        return [row for system in self.systems for row in self._adaptability_of(system)]

    def _adaptability_of(self, system: str) -> Iterator[AdaptabilityRow]:
        trials = {trial.setting: trial for trial in self.trials if trial.system == system}
        metric = self.record.correctness_metric
        for setting, mixed in trials.items():
            if setting.startswith(MIXED) and {"none", "gold"} <= trials.keys():
                gold_in_context = {q: self._has_gold(c) for q, c in mixed.contexts.items()}
                found = adaptability(
                    trials["none"].values(metric),
                    trials["gold"].values(metric),
                    mixed.values(metric),
                    gold_in_context=gold_in_context,
                    clusters=self.clusters,
                )
                yield AdaptabilityRow(system, setting, found)

    def _has_gold(self, context: Context) -> bool:
        grades = self.qrels.get(context.query_id, {})
        return any(grades.get(passage_id, 0) > 0 for passage_id in context.passage_ids)

    def _trial(self, entry: TrialEntry) -> TrialResults:
        folders = dict.fromkeys((entry.built, entry.contexts))
        contexts = {f: self._by_query(f, schemas.table_to_contexts) for f in folders}
        return TrialResults(
            system=entry.system,
            setting=entry.setting,
            built=contexts[entry.built],
            contexts=contexts[entry.contexts],
            predictions=self._by_query(entry.predictions, schemas.table_to_predictions),
            scores=self._scores(entry.scores, *entry.verdicts),
        )

    def _by_query(self, folder: str, read: Callable[[Table], Iterable[_Row]]) -> dict[str, _Row]:
        return {row.query_id: row for row in read(self.stored_table(folder))}

    def _scores(self, *folders: str) -> dict[str, dict[str, Score]]:
        found: dict[str, dict[str, Score]] = {}
        for folder in folders:
            for score in schemas.table_to_scores(self.stored_table(folder)):
                found.setdefault(score.metric, {})[score.query_id] = score
        return found

    def _mapping(self, folder: str) -> dict[str, str]:
        """Return a table of two columns as a mapping; {} if the record has no folder."""
        columns = schemas.columns(self.stored_table(folder)).values() if folder else ((), ())
        return dict(zip(*columns, strict=True))

    def stored_table(self, folder: str) -> Table:
        """Return the table of a step's folder."""
        return self._step(folder).table

    def _step(self, folder: str) -> StoredTable:
        return StoredTable("", folder=self.store.root / "steps" / folder)


def _step_notes(counts: Counter[tuple[str, str, str]]) -> list[StepNote]:
    return [StepNote(*note, count) for note, count in counts.most_common()]


def _cells(
    measured: Iterable[ScoredRows], clusters: Mapping[str, str], record: Record
) -> list[Cell]:
    return [
        Cell(rows.system, rows.setting, metric, every.summary)
        for rows in measured
        for metric, scores in rows.scores.items()
        for every in breakdown(scores, {"all": list(scores)}, clusters, record.scale(metric))
    ]
