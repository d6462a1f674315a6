"""Writing an experiment's record while its steps are computed.

The record is written again after every ranking and every trial, so that a stopped run can
be shown. After an experiment has finished, its record stays until another run finishes; the run
that is under way is described by an `Attempt` beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.core import limits
from ragstone.core.environment import describe_environment
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.query_rows import rows_of
from ragstone.core.redaction import redacted_data
from ragstone.core.schemas import NOT_APPLICABLE, TEXTS, columns, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.core.times import utc_text
from ragstone.errors import DamagedFile, NewerFile, StoreError
from ragstone.experiment.asked_data import asked_languages, data_facts, language_table
from ragstone.experiment.clusters import clusters_table
from ragstone.experiment.datastores import with_near
from ragstone.experiment.independence import independence
from ragstone.experiment.passage_languages import passage_languages_table
from ragstone.experiment.steps import Step
from ragstone.experiment.training_leaks import trained_parts
from ragstone.results.data_facts import Tables
from ragstone.results.earlier import keep_earlier
from ragstone.results.publishable import recordable
from ragstone.results.record import (
    ATTEMPTS,
    Attempt,
    CallsEntry,
    MetricEntry,
    RankingEntry,
    Record,
    RepeatEntry,
    StepEntry,
    SystemEntry,
    TrialEntry,
    part_id,
)
from ragstone.results.reveals import record_change
from ragstone.version import __version__

if TYPE_CHECKING:
    from ragstone.core.store import Store
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.members import Member
    from ragstone.experiment.metric_set import MetricSet
    from ragstone.experiment.shared_queries import OwnQueries
    from ragstone.experiment.step_list import StepList
    from ragstone.experiment.system import RankingSteps, System, Trial


class Recorder:
    """Writes an experiment's record."""

    def __init__(
        self,
        store: Store,
        file: ExperimentFile,
        dataset: Dataset,
        systems: Sequence[System],
        steps: StepList,
        *,
        member: Member,
        command: str = "",
        keeps_earlier: bool = True,
    ) -> None:
        self._command, self._keeps_earlier = command, keeps_earlier
        self._computed: set[Step] = set()
        self._store, self._dataset, self._steps = store, dataset, steps
        shared, spoken = steps.shared, asked_languages(dataset, steps.shared)
        self._asked = shared.answered.table.column("query_id").to_pylist()[: limits.REPORT_QUERIES]
        self._record = Record(
            name=file.name,
            started=utc_text(),
            file=recordable(file.model_dump(), store.root),
            data=data_facts(dataset, shared, member, spoken.facts),
            tables=Tables(
                answered=self._keep("queries", shared.answered),
                ranked=self._keep("queries", shared.ranked),
                qrels=self._keep("qrels", shared.qrels),
                clusters=self._keep("clusters", clusters_table(self._dataset)),
                collections=self._keep("collections", shared.collections),
                languages=self._keep("languages", language_table(spoken)),
            ),
            systems=tuple(
                SystemEntry(
                    one.name,
                    {k: redacted_data(cache_key_parts(p)) for k, p in one.components.items()},
                )
                for one in systems
            ),
            metrics=tuple(_metrics(steps)),
            environment=describe_environment(),
            ragstone=__version__,
            templates=dict(_templates(steps)),
            campaign=member.campaign,
            counterfactual=member.counterfactual,
            trained=trained_parts(systems, shared, dataset),
            independence=independence(shared.judges, systems, dataset.queries),
            prompts={
                system.name: dict(system.generator.named_prompt)
                for system in systems
                if system.generator and system.generator.named_prompt
            },
        )
        last = _last(store, file.name, self._record.kind)
        self._finished = last if last and last.finished else None
        self._record = replace(self._record, analysis=_dated(self._record, last))

    def of_round(self, facts: Mapping[str, Any]) -> None:
        """Note the decisions of an adaptive run so far; it is under way until it `ended`."""
        self._record = replace(self._record, adaptive=facts)

    def begin_computing(self, step: Step) -> None:
        """Note a step that is not stored; before the first one, write the attempt."""
        if not self._computed:
            self._save_attempt()
        self._computed.add(step)

    def update(self, done: Mapping[Step, StoredTable]) -> None:
        """Write the record or the attempt if another ranking or trial is complete."""
        rankings = [r for r in self._rankings() if r.scores in done and _has_rows(r, done)]
        trials = [t for t in self._steps.trials if _ended(t, done)]
        known = len(self._record.rankings), len(self._record.trials)
        if (len(rankings), len(trials)) != known:
            self._record = replace(
                self._record,
                rankings=tuple(self._ranking_entry(ranking, done) for ranking in rankings),
                trials=tuple(self._trial_entry(trial, done) for trial in trials),
                steps=_step_entries(done),
            )
            if self._finished is None:
                self._record.save(self._store)
            elif self._computed:
                self._save_attempt()

    def finish(self, done: Mapping[Step, StoredTable], facts: Mapping[str, Any]) -> Record:
        """Return the record of a run that ended, with its facts, and write it.

        The finished record stays if this run is incomplete, or if it computed nothing.
        """
        complete = all(step in done for step in self._steps)
        complete &= self._record.adaptive.get("ended", True)
        texts = self._keep("texts", self._texts(done))
        known = passage_languages_table(self._dataset, self._runs(done))
        spoken = self._keep("passage-languages", known) if known else ""
        counts = self._dataset.corpus.language_counts
        self._record = replace(
            self._record,
            data=replace(self._record.data, language_counts=counts),
            tables=replace(self._record.tables, texts=texts, passage_languages=spoken),
            steps=_step_entries(done),
            finished=utc_text() if complete else None,
            calls=tuple(self._calls(done)),
            last_run=dict(facts),
        )
        if self._finished and not complete:
            self._save_attempt()
            return self._record
        if self._finished and not self._computed and self._is_as(self._finished):
            # The calls are those of this run, which made none.
            self._record = replace(self._finished, calls=self._record.calls)
        else:
            self._record = replace(self._record, data_source=self._dataset.source.facts())
            if self._finished and self._keeps_earlier:
                keep_earlier(self._store, self._finished)
                record_change(self._store, self._finished, self._record)
            self._record.save(self._store)
        self._store.remove_json(ATTEMPTS, self._record.name)
        return self._record

    def _calls(self, done: Mapping[Step, StoredTable]) -> Iterator[CallsEntry]:
        """Yield the calls for the answers of each trial, as far as a system is called."""
        computed = set(self._computed)
        for trial in self._steps.trials:
            steps = [step for step in trial.every_predictions if step in done]
            made = [self._made_calls(step, done[step], computed) for step in steps]
            if known := [one for one in made if one is not None]:
                counts, dates = zip(*known, strict=True)
                asked, kept, failed = map(sum, zip(*counts, strict=True))
                kept_from = min(filter(None, dates), default=None)
                release = trial.system.release or None
                name, setting = trial.system.name, trial.setting.setting
                yield CallsEntry(name, setting, asked, kept, failed, kept_from, release)

    @staticmethod
    def _made_calls(
        step: Step, table: StoredTable, computed: set[Step]
    ) -> tuple[tuple[int, int, int], str | None] | None:
        """Return the calls asked, kept and failed, and the date of the oldest kept reply.

        Trials with one step share its calls, which are no longer in `computed` then.
        """
        manifest = table.manifest
        if "calls" not in manifest:
            return None
        kept_from = manifest.get("kept_from")
        if step in computed:
            computed.discard(step)
            asked, kept, failed = (manifest["calls"][key] for key in ("asked", "kept", "failed"))
            return (asked, kept, failed), kept_from
        kept, failed = manifest["rows"] - manifest["failed"], manifest["failed"]
        return (0, kept, failed), kept_from or (manifest["started"] if kept else None)

    def _save_attempt(self) -> None:
        if self._finished is None or self._finished.finished is None:
            return
        # Reported rankings, which have no searches, are counted with their trials.
        Attempt(
            started=self._record.started,
            after=self._finished.finished,
            command=self._command,
            rankings=len(self._steps.rankings),
            rankings_complete=sum(bool(ranking.searches) for ranking in self._record.rankings),
            trials=len(self._steps.trials),
            trials_complete=len(self._record.trials),
        ).save(self._store, self._record.name, asdict(self._record)["steps"])

    def _is_as(self, other: Record) -> bool:
        """Return whether a record differs only in when and where it was made."""
        made = {name: getattr(other, name) for name in _OF_THE_RUN}
        return _as_written(replace(self._record, **made)) == _as_written(other)

    def _rankings(self) -> Iterator[RankingSteps]:
        yield from self._steps.rankings
        yield from (trial.reported for trial in self._steps.trials if trial.reported)

    def _ranking_entry(
        self, ranking: RankingSteps, done: Mapping[Step, StoredTable]
    ) -> RankingEntry:
        searches = "" if ranking.searches is None else done[ranking.searches].name
        run, scores = done[ranking.run].name, done[ranking.scores].name
        own = self._steps.shared.datastore(ranking.system)
        kept = {} if own.translations is None else own.judgements
        near = {name: self._keep(name, table) for name, table in kept.items()}
        return RankingEntry(ranking.system.name, run, scores, searches, **near)

    def _trial_entry(self, trial: Trial, done: Mapping[Step, StoredTable]) -> TrialEntry:
        own = self._steps.shared.own_of(trial.setting.setting, trial.system.name)
        return TrialEntry(
            trial.system.name,
            trial.setting.setting,
            built=done[trial.built].name,
            contexts=done[trial.contexts].name,
            predictions=done[trial.predictions].name,
            scores=done[trial.scores].name,
            verdicts=tuple(done[step].name for step in trial.verdicts),
            not_applicable=self._keep("not-applicable", _reasons(own)) if own else "",
            hops=done[trial.hops].name if trial.hops and trial.hops in done else "",
            repeats=tuple(
                RepeatEntry(
                    *(one.answer, one.verdict, done[one.contexts].name),
                    predictions=done[one.predictions].name,
                    scores=done[one.scores].name,
                    verdicts=tuple(done[step].name for step in one.verdicts),
                )
                for one in trial.repeats
            ),
        )

    def _keep(self, step: str, table: StoredTable | None) -> str:
        return self._store.keep(step, table.table, table.digest).name if table else ""

    def _texts(self, done: Mapping[Step, StoredTable]) -> StoredTable:
        """Return the passages that reports show: gold ones, and the first of each ranking."""
        corpus = self._dataset.corpus
        qrels = with_near(self._dataset.qrels, self._steps.shared.datastores.values())
        shown = {p: None for q in self._asked for p, grade in qrels.get(q, {}).items() if grade > 0}
        for run in self._runs(done):
            for block in rows_of(run, self._asked):
                held = columns(block)
                pairs = zip(held["passage_id"], held["rank"], strict=True)
                shown |= dict.fromkeys(p for p, rank in pairs if rank <= limits.STORED_RANKS)
        texts = {p: _cut(corpus[p].full_text) for p in shown if p in corpus}
        found = {"passage_id": list(texts), "text": list(texts.values())}
        return StoredTable.in_memory(to_table(TEXTS, found))

    def _runs(self, done: Mapping[Step, StoredTable]) -> list[StoredTable]:
        return [done[one.run].on_disk for one in self._rankings() if one.run in done]


_OF_THE_RUN: Final = (
    "started",
    "finished",
    "calls",
    "last_run",
    "environment",
    "ragstone",
    "data_source",
)
"""Fields of a record that describe when and where it was made."""


def _dated(record: Record, last: Record | None) -> Mapping[str, Any]:
    """Return when a record's analysis was first recorded, and whether results were known then."""
    analysis = record.file.get("analysis")
    if not analysis:
        return {}
    if last and _same(last.file.get("analysis"), analysis) and last.analysis:
        return last.analysis
    return {"recorded": record.started, "after_results": bool(last and last.finished)}


def _same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True, default=str) == json.dumps(b, sort_keys=True, default=str)


def _last(store: Store, name: str, kind: str) -> Record | None:
    try:
        return Record.load(store, name, kind=kind)
    except DamagedFile:
        # The notice names the file, and this run writes another one.
        store.sound_json(kind, name)
        return None
    except NewerFile:
        raise
    except StoreError:
        # There is none, or it has an earlier format: this run replaces it.
        return None


def _as_written(record: Record) -> str:
    return json.dumps(asdict(record), sort_keys=True)


def _templates(steps: StepList) -> Iterator[tuple[str, Mapping[str, str]]]:
    """Yield the id and the prompt templates of each component that has some."""
    for step in steps:
        if templates := step.component.templates:
            yield part_id(cache_key_parts(step.component)), dict(templates)


def _metrics(steps: StepList) -> Iterator[MetricEntry]:
    kinds: tuple[tuple[Literal["ranking", "answer", "repeats"], MetricSet], ...] = (
        ("ranking", steps.ranking_metrics),
        ("answer", steps.answer_metrics),
        ("repeats", steps.repeat_metrics),
    )
    for kind, found in kinds:
        for metric in found.metrics:
            yield MetricEntry(str(metric), kind, metric.direction, metric.range, metric.described())
    for judge in steps.shared.judges:
        facts = dict(judge.named_prompt)
        known = facts and {**facts, "part": part_id(cache_key_parts(judge))}
        for name in judge.metrics:
            yield MetricEntry(name, "judge", judge.direction, judge.range, judge.described(), known)


def _has_rows(ranking: RankingSteps, done: Mapping[Step, StoredTable]) -> bool:
    """Return whether a ranking is to be shown: a system need not report its passages."""
    return ranking.searches is not None or done[ranking.run].manifest["rows"] > 0


def _ended(trial: Trial, done: Mapping[Step, StoredTable]) -> bool:
    return all(step in done for step in trial.last_steps)


def _step_entries(done: Mapping[Step, StoredTable]) -> tuple[StepEntry, ...]:
    """Return an entry per folder; of several, the one with the most trusted folders counts."""
    found: dict[Step, StepEntry] = {}
    for step, table in done.items():
        trusted = {t for g in step.inputs.values() if isinstance(g, Step) for t in found[g].trusted}
        folder, manifest = table.name, table.manifest
        found[step] = StepEntry(
            folder,
            step.name,
            manifest["made_by"]["component"],
            manifest["ragstone"],
            manifest["source"],
            manifest["packages"],
            manifest["started"],
            tuple(sorted(trusted | ({folder} if table.trusted else set()))),
            manifest.get("ann"),
        )
    in_order = sorted(found.values(), key=lambda entry: len(entry.trusted))
    kept = {entry.folder: entry for entry in in_order}
    return tuple(kept[folder] for folder in dict.fromkeys(e.folder for e in found.values()))


def _reasons(own: OwnQueries) -> StoredTable:
    why = own.not_applicable
    columns = {"query_id": list(why), "reason": list(why.values())}
    return StoredTable.in_memory(to_table(NOT_APPLICABLE, columns))


def _cut(text: str) -> str:
    most = limits.STORED_PASSAGE_CHARACTERS
    return text if len(text) <= most else f"{text[:most]} [...]"
