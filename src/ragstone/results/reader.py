"""The results of an experiment, read from the store: rows, means, intervals, adaptability.

The store contains no mean: all are computed from the scores of single queries. Figures of all
answers together, such as macro-F1, are in the manifest of the scores.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final, Self

from ragstone.core import schemas
from ragstone.core.builtins import SHOWN_NAMES
from ragstone.core.rankings import Rankings
from ragstone.core.store import Store
from ragstone.data.lazy_rows import JudgementRows
from ragstone.results.adaptability import MIXED, AdaptabilityRow, has_gold, without_gold
from ragstone.results.record import Attempt, RankingEntry, Record, TrialEntry
from ragstone.results.repeats import mean_figures, mean_labels, mean_scores, repeat_scores
from ragstone.results.scored_rows import (
    Cell,
    RankingResults,
    RepeatRows,
    TrialResults,
    cells_of,
    with_failure_rates,
)
from ragstone.results.standings import Standing, standings
from ragstone.results.stored_scores import reasons_of, with_inapplicable
from ragstone.results.stored_tables import StoredRows, StoredTables, TextsOnUse, rows_where
from ragstone.statistics.adaptability import adaptability
from ragstone.statistics.correctness import Correctness
from ragstone.types import Hop, Prediction, Query, Score

_PROMPT: Final = re.compile(r"\bprompt=")
"""Part of a metric's name if its judge has another prompt than its own."""


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
class StoredResults(StoredTables):
    """The stored results of an experiment: rows by system and setting, and aggregates of them."""

    @classmethod
    def load(cls, store: Store, name: str) -> Self:
        """Return the last results of the name in `store`; `StoreError` if there are none."""
        return cls(store, Record.load(store, name))

    @property
    def finished(self) -> bool:
        """Whether all trials ended."""
        return self.record.finished is not None

    @cached_property
    def attempt(self) -> Attempt | None:
        """The newer run that is not complete, or None."""
        return Attempt.load(self.store, self.record)

    @cached_property
    def queries(self) -> Mapping[str, Query]:
        """The answered queries by id."""
        return self.queries_at(self.record.tables.answered)

    @cached_property
    def ranked(self) -> Mapping[str, Query]:
        """The queries of the ranking metrics by id."""
        if self.record.tables.ranked == self.record.tables.answered:
            return self.queries
        return self.queries_at(self.record.tables.ranked)

    @property
    def all_queries(self) -> Mapping[str, Query]:
        """The answered queries, then the others that are ranked, by id."""
        if self.ranked is self.queries:
            return self.queries
        others = {q: one for q, one in self.ranked.items() if q not in self.queries}
        return {**self.queries, **others}

    @cached_property
    def qrels(self) -> Mapping[str, dict[str, int]]:
        """Query id -> passage id -> grade of relevance."""
        return JudgementRows(self.stored_table(self.record.tables.qrels))

    @cached_property
    def _near(self) -> dict[str, Mapping[str, dict[str, int]]]:
        """System -> the judgements within its datastore, if they are its own."""
        entries = (entry for entry in self.record.rankings if entry.qrels)
        return {e.system: JudgementRows(self.stored_table(e.qrels)) for e in entries}

    def qrels_of(self, system: str, setting: str = "") -> Mapping[str, dict[str, int]]:
        """Return the judgements of a system's rankings, or of its contexts under a setting.

        A setting that shows gold passages shows those of the data set.
        """
        return self.qrels if setting.startswith("gold") else self._near.get(system, self.qrels)

    def translations_of(self, system: str) -> dict[str, str]:
        """Return relevant passage -> the one that it counts as, in a system's datastore."""
        found = (e.translations for e in self.record.rankings if e.system == system)
        table = next((self.stored_table(one) for one in found if one), None)
        return {} if table is None else dict(zip(*schemas.columns(table).values(), strict=True))

    def grades(self, query_id: str) -> dict[str, int]:
        """Return passage id -> grade for `query_id`, with translations of relevant passages."""
        found = dict(self.qrels.get(query_id, {}))
        for judged in self._near.values():
            found |= judged.get(query_id, {})
        return found

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
            for metric, scores in chain(*(held.items() for held in trial.each_scores)):
                if self.record.metric(metric).kind != "judge":
                    unscored = reasons_of(scores, "unscored")
                    counts.update(("score-answer", metric, reason) for reason in unscored)
        return _step_notes(counts)

    def _facts(self, key: str) -> Counter[tuple[str, str, str]]:
        """Return (step, component, text) -> count over the manifests of all steps."""
        counts: Counter[tuple[str, str, str]] = Counter()
        for folder, manifest in self.manifests.items():
            for what, count in manifest.get(key, {}).items():
                counts[manifest["step"], self.part_name(folder), what] += count
        return counts

    def part_name(self, folder: str) -> str:
        """Return the name of the component of a step, by its `folder`; a judge's has its prompt."""
        manifest = self.manifests[folder]
        if manifest["step"] == "judge":
            metric = next(iter(schemas.columns(self.stored_table(folder))["metric"]), "")
            if _PROMPT.search(metric):
                return metric
        component = manifest["made_by"]["component"]
        return re.split("[/:]", SHOWN_NAMES.get(component, component))[-1]

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
            every = [(one.predictions, one.scores, *one.verdicts) for one in trial.every]
            yield f"{trial.system} ({trial.setting})", tuple(chain(*every))

    @cached_property
    def texts(self) -> dict[str, str]:
        """Passage id -> the beginning of its text, for gold passages and the first few ranked."""
        return self.mapping(self.record.tables.texts)

    @cached_property
    def clusters(self) -> dict[str, str]:
        """Query id -> its conversation or document."""
        return self.mapping(self.record.tables.clusters)

    @cached_property
    def collections(self) -> dict[str, str]:
        """Query id -> its collection; empty if all queries search all passages."""
        return self.mapping(self.record.tables.collections)

    @cached_property
    def trials(self) -> list[TrialResults]:
        """The complete trials, in the order of the experiment."""
        return with_failure_rates([self.trial(entry) for entry in self.record.trials])

    @cached_property
    def hops(self) -> dict[tuple[str, str], dict[str, tuple[Hop, ...]]]:
        """(system, setting) -> query id -> searches that the system reported, if it reports any.

        A query whose system reported that it made no search has an empty entry.
        """
        found = {}
        for entry, trial in zip(self.record.trials, self.trials, strict=True):
            if not entry.hops:
                continue
            given = rows_where(trial.predictions, "steps", lambda steps: steps is not None)
            known = [p.query_id for p in given if p.steps is not None]
            if known:
                rows = schemas.table_to_hops(self.stored_table(entry.hops))
                found[entry.system, entry.setting] = {q: rows.get(q, ()) for q in known}
        return found

    @property
    def not_applicable(self) -> dict[str, dict[str, int]]:
        """Setting -> why it does not apply to some queries -> number of queries."""
        reasons = {trial.setting: trial.inapplicable for trial in self.trials}
        return {name: dict(Counter(why.values())) for name, why in reasons.items() if why}

    @cached_property
    def without_gold(self) -> dict[str, str]:
        """Answered query without a gold passage -> the reason why figures on gold leave it out.

        Empty for a data set without qrels.
        """
        return without_gold(self.queries, self.qrels)

    @cached_property
    def rankings(self) -> list[RankingResults]:
        """The runs of the systems that retrieve."""
        return with_failure_rates([self._ranking(entry) for entry in self.record.rankings])

    def _ranking(self, entry: RankingEntry) -> RankingResults:
        return RankingResults(
            entry.system,
            Rankings(lambda: self.stored_table(entry.run)),
            self.scores(entry.scores),
            TextsOnUse(lambda: self.mapping(entry.searches)),
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
        return cells_of(self.trials, self.clusters, self.record)

    @cached_property
    def beside(self) -> dict[tuple[str, str], Mapping[str, Mapping[str, float]]]:
        """(system, setting) -> metric -> figures of all answers together, means over repeats."""
        found = {}
        for trial in self.record.trials:
            folders = [one.scores for one in trial.every if not one.verdict]
            figures = [self.manifest(folder).get("beside", {}) for folder in folders]
            found[trial.system, trial.setting] = mean_figures(figures)
        return found

    @cached_property
    def ranking_cells(self) -> list[Cell]:
        """Every ranking metric of every system that retrieves."""
        return cells_of(self.rankings, self.clusters, self.record)

    @cached_property
    def standings(self) -> dict[tuple[str, str], Standing]:
        """(setting, metric) -> ranks, groups and comparisons of the systems."""
        cells, rows = [*self.answer_cells, *self.ranking_cells], [*self.trials, *self.rankings]
        return standings(cells, rows, self.record, self.clusters)

    @cached_property
    def correctness(self) -> Correctness | None:
        """The rule that calls an answer correct.

        None if the experiment has none, or a value that is neither 0 nor 1 and has no threshold.
        """
        rule = self.record.correctness
        if rule is None or rule.threshold is not None:
            return rule
        values = (value for t in self.trials for value in t.first.values(rule.metric).values())
        return rule if {None, 0.0, 1.0}.issuperset(values) else None

    def correct_answers(self, trial: TrialResults) -> dict[str, float | None]:
        """Return query id -> 1.0 for a correct first answer of `trial`, 0.0 if wrong, else None.

        A failed answer is wrong, unless failures are excluded. Empty without a rule.
        """
        return self.labels(trial.first.scores)

    def correct_shares(self, trial: TrialResults) -> dict[str, float | None]:
        """Return query id -> share of correct answers in `trial`; None if no answer has a label."""
        return mean_labels([self.labels(scores) for scores in trial.each_scores])

    def labels(self, scores: Mapping[str, Mapping[str, Score]]) -> dict[str, float | None]:
        """Return query id -> label of the answers that have these scores."""
        if (rule := self.correctness) is None:
            return {}
        failed = None if self.record.failures == "exclude" else 0.0
        return {
            query_id: failed if score.status == "failed" else rule.label(score.value)
            for query_id, score in scores.get(rule.metric, {}).items()
        }

    @cached_property
    def adaptability(self) -> list[AdaptabilityRow]:
        """MIRAGE's metrics of every system under every mixed setting."""
        return [row for system in self.systems for row in self._adaptability_of(system)]

    def _adaptability_of(self, system: str) -> Iterator[AdaptabilityRow]:
        """Yield a row per mixed setting, if there are answers without and with gold context."""
        trials = {trial.setting: trial for trial in self.trials if trial.system == system}
        oracle = self.record.oracle
        if self.correctness is None or oracle is None or not {"none", oracle} <= trials.keys():
            return
        for setting, mixed in trials.items():
            if setting.startswith(MIXED):
                compared = (trials["none"], trials[oracle], mixed)
                found = adaptability(
                    *map(self.correct_answers, compared),
                    gold_in_context={
                        q: has_gold(c, self.qrels_of(system, setting))
                        for q, c in mixed.contexts.items()
                    },
                    clusters=self.clusters,
                    left_out=self.without_gold,
                )
                yield AdaptabilityRow(system, setting, found)

    def trial(self, entry: TrialEntry) -> TrialResults:
        """Return the rows of the trial of a record's `entry`; scores are means over its repeats."""
        folders = dict.fromkeys((entry.built, entry.contexts))
        contexts = {f: self._by_query(f, schemas.table_to_contexts) for f in folders}
        reasons = self.mapping(entry.not_applicable)
        scores = self.scores(entry.scores, *entry.verdicts)
        repeats = tuple(self._repeats(entry)) if entry.repeats else ()
        if repeats:
            scores = dict(mean_scores(repeats, self.record))
        if any(metric.kind == "repeats" for metric in self.record.metrics):
            first = RepeatRows(0, 0, {}, self._predictions(entry.predictions), scores)
            answers = [one for one in repeats if not one.verdict] or [first]
            scores |= repeat_scores(answers, self.record, self.record.correctness)
        if reasons:
            scores = with_inapplicable(scores, reasons)
        return TrialResults(
            system=entry.system,
            setting=entry.setting,
            built=contexts[entry.built],
            contexts=contexts[entry.contexts],
            predictions=self._predictions(entry.predictions),
            scores=scores,
            not_applicable=reasons,
            repeats=repeats,
        )

    def _repeats(self, entry: TrialEntry) -> Iterator[RepeatRows]:
        """Yield every answer and verdict of a trial."""
        for one, folders in entry.scored():
            scores = self.scores(*folders)
            contexts = self._by_query(one.contexts, schemas.table_to_contexts)
            predictions = self._predictions(one.predictions)
            yield RepeatRows(one.answer, one.verdict, contexts, predictions, scores)

    def _predictions(self, folder: str) -> StoredRows[Prediction]:
        return self._by_query(folder, schemas.table_to_predictions)


def _step_notes(counts: Counter[tuple[str, str, str]]) -> list[StepNote]:
    return [StepNote(*note, count) for note, count in counts.most_common()]
