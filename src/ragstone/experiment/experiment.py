"""Many systems under many settings on one data set: checked, planned, run, recorded."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.calls.client import Calls
from ragstone.calls.prices import Budget, Prices
from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.parse import parse_metric
from ragstone.core.registry import create
from ragstone.core.spec import short_name
from ragstone.core.store import Store, StoredTable
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError, did_you_mean
from ragstone.experiment.checks import (
    check_answered,
    check_depths,
    check_metrics,
    check_settings,
    check_written_depth,
    may_retrieve,
)
from ragstone.experiment.config import ExperimentFile, Sample, SystemEntry, read_experiment_file
from ragstone.experiment.pipeline import (
    MetricSet,
    rank_queries,
    returned_run,
    run_trial,
    score_rankings,
)
from ragstone.experiment.plan import Plan, PlanningStore, estimate_answers, index_bytes
from ragstone.experiment.record import Record
from ragstone.experiment.shared_queries import common_queries
from ragstone.experiment.system import Bench, System, Trial
from ragstone.results.wording import left_out_text

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.protocols import ContextBuilder, Judge
    from ragstone.results.results import Results

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Experiment:
    """What is to be measured. Making one costs nothing; `check` reads the data and every name."""

    file: ExperimentFile
    folder: Path = Path()
    """Where the experiment file lies: the user's own components are looked for there."""

    @cached_property
    def dataset(self) -> Dataset:
        """The whole data set, its derived arrays kept in the experiment's store."""
        loaded = load_dataset(self.file.data, folder=self.folder)
        corpus = dataclasses.replace(loaded.corpus, store=self.store)
        return dataclasses.replace(loaded, corpus=corpus)

    @cached_property
    def store(self) -> Store:
        """Where everything is kept."""
        return Store(Path(self.file.store))

    @cached_property
    def systems(self) -> list[System]:
        """The systems, each with its components made."""
        made = [self._system(entry) for entry in self.file.systems]
        names = [system.name for system in made]
        for name in names:
            if names.count(name) > 1:
                raise ConfigError(
                    f"two systems are called {name!r}; give each a name of its own with 'name'"
                )
        return made

    @cached_property
    def builders(self) -> list[ContextBuilder]:
        """The context settings."""
        return [
            create("context_settings", written, where="setting", folder=self.folder)
            for written in self.file.settings
        ]

    @cached_property
    def noise(self) -> System | None:
        """The system that finds the noise of `gold+noise`, where a setting asks for any."""
        if not any("noise" in builder.uses for builder in self.builders):
            return None
        retriever = create("retrievers", self.file.noise, where="noise", folder=self.folder)
        return System("noise", create("query_formers", "rewrite", where="noise"), retriever)

    @cached_property
    def metrics(self) -> tuple[MetricSet, MetricSet]:
        """The ranking metrics and the answer metrics."""
        parsed = [parse_metric(name) for name in self.file.metrics]
        ranking = tuple(str(m) for m in parsed if isinstance(m, RankingMetric))
        return MetricSet(ranking), MetricSet(tuple(str(m) for m in parsed if str(m) not in ranking))

    @cached_property
    def judges(self) -> tuple[Judge, ...]:
        """The judges, each with a metric name of its own."""
        made = [
            create("judges", written, where="judge", folder=self.folder)
            for written in self.file.judges
        ]
        names = [str(judge) for judge in made]
        for name in names:
            if names.count(name) > 1 or name in self.file.metrics:
                raise ConfigError(f"two metrics are called {name!r}; leave one of them out")
        return tuple(made)

    def check(self) -> None:
        """Raise a `ConfigError` or `DatasetError` for anything that would fail later on."""
        ranking, answer = self.metrics
        check_settings(self.builders, self.systems, self.dataset)
        check_depths(self.builders, self.systems, self.dataset)
        for system, entry in zip(self.systems, self.file.systems, strict=True):
            check_written_depth(system.name, entry, len(self.dataset.corpus))
        metrics = [*ranking.metrics, *answer.metrics]
        check_metrics(metrics, self.systems, self.dataset, self.file.correct)
        self.store.check_writable()

    def run(self, calls: Calls | None = None) -> Results:
        """Check everything, run what is not kept, and return the results.

        Raises:
            ConfigError: a name, a parameter or a combination is wrong; nothing was spent.
            DatasetError: the data are malformed; nothing was spent.
            ModelFileError, MissingDependency, CallError: a component that is to work cannot.
        """
        from ragstone.results.results import Results

        with contextlib.nullcontext(calls) if calls else self.open_calls() as asked:
            self._walk(asked, PlanningStore(self.store.root)).check_ready(asked)
            self._run(asked)
        return Results.load(self.store, self.file.name)

    def _run(self, calls: Calls) -> None:
        bench = self.bench(calls, self.store)
        if bench.left_out:
            _LOG.warning("%s", left_out_text(bench.left_out))
        before = calls.usage
        record = Record(self.file, self.dataset, self.systems, bench)
        runs = {s.name: self._rank(s, bench, record) for s in self.systems if s.retriever}
        for system, builder in self.trials():
            trial = run_trial(system, builder, self.metrics[1], runs.get(system.name), bench)
            record.add_trial(trial)
            if builder.setting == "none" and may_retrieve(system):
                self._rank_returned(system, trial, bench, record)
        record.finish(dataclasses.asdict(calls.usage - before))

    def open_calls(
        self, *, offline: bool = False, replay_only: bool = False, budget: float | None = None
    ) -> Calls:
        """Return the way to models that this experiment uses; see `ragstone.calls.client.Calls`."""
        self.store.check_writable()
        prices = Prices.read(self._beside(self.file.prices)) if self.file.prices else Prices()
        return Calls.at(
            self.store.root / "calls.sqlite",
            offline=offline,
            replay_only=replay_only,
            prices=prices,
            budget=None if budget is None else Budget(budget, prices),
        )

    def _beside(self, path: str) -> Path:
        """Return a path as found from the current folder, else from the experiment file's."""
        return Path(path) if Path(path).exists() else self.folder / path

    def plan(self, calls: Calls | None = None, *, probe: int = 0) -> Plan:
        """Check everything and return what a run would do and take, doing none of it.

        With `probe`, so many of the missing calls of each generator are made, to learn from their
        replies what the others will take; they are kept.
        """
        with contextlib.nullcontext(calls) if calls else self.open_calls() as asked:
            store = PlanningStore(self.store.root, look_ahead=True)
            plan = self._walk(asked, store)
            estimate, unknown = estimate_answers(store.asked, asked, probe)
        room = index_bytes(plan.steps, self.dataset.corpus)
        return dataclasses.replace(plan, estimate=estimate, calls_unknown=unknown, index_bytes=room)

    def _walk(self, calls: Calls, store: PlanningStore) -> Plan:
        """Check everything and walk the pipeline, noting what is kept."""
        self.check()
        bench = self.bench(calls, store)
        check_answered(self.systems, bench.answered)
        retrieving = [system for system in self.systems if system.retriever]
        runs = {s.name: rank_queries(s, bench.ranked, bench) for s in retrieving}
        for run in runs.values():
            score_rankings(self.metrics[0], bench.ranked, run, bench)
        for system, builder in self.trials():
            run_trial(system, builder, self.metrics[1], runs.get(system.name), bench)
        return Plan(
            bench.answered.table.num_rows,
            len(self.trials()),
            tuple(store.steps),
            left_out=bench.left_out,
        )

    def trials(self) -> list[tuple[System, ContextBuilder]]:
        """Return every system with every setting it can be run under, cheap settings first."""
        return [
            (system, builder)
            for builder in self.builders
            for system in self.systems
            if system.generator and ("retrieved" not in builder.uses or system.retriever)
        ]

    def bench(self, calls: Calls, store: Store) -> Bench:
        """Return what the trials share, its tables kept in `store`."""
        dataset = _only(self.dataset, self.file.sample)
        common = common_queries(dataset, self.builders)
        answered = common.dataset
        if self.file.sample.limit is not None:
            answered = answered.sample(self.file.sample.limit, self.file.sample.seed)
        ranked = {"sample": answered, "matching": dataset, "all": self.dataset}
        return Bench(
            store=store,
            calls=calls,
            corpus=dataset.corpus,
            qrels=store.keep("qrels", dataset.qrel_table),
            answered=store.keep("queries", answered.query_table),
            ranked=store.keep("queries", ranked[self.file.sample.retrieval].query_table),
            noise=self.noise,
            judges=self.judges,
            left_out=common.left_out,
        )

    def _rank(self, system: System, bench: Bench, record: Record) -> StoredTable:
        """Return the run over the answered queries, after scoring the one over the ranked ones."""
        run = rank_queries(system, bench.ranked, bench)
        scores = score_rankings(self.metrics[0], bench.ranked, run, bench)
        searches = bench.store.folder("form", system.former, {"queries": bench.ranked})
        record.add_ranking(system, run, scores, searches.name)
        return run

    def _rank_returned(self, system: System, trial: Trial, bench: Bench, record: Record) -> None:
        """Measure the passages that a system of one's own says it found."""
        returned = returned_run(trial.predictions)
        if returned is not None and self.metrics[0].names:
            run = bench.store.keep("run", returned.table)
            scores = score_rankings(self.metrics[0], bench.answered, run, bench)
            record.add_ranking(system, run, scores)

    def _system(self, entry: SystemEntry) -> System:
        parts = {
            "former": ("query_formers", entry.query),
            "retriever": ("retrievers", entry.retriever),
            "reranker": ("rerankers", entry.reranker),
            "processor": ("processors", entry.processor),
            "generator": ("generators", entry.generator),
        }
        name = entry.name or _system_name(entry)
        if entry.retriever is None and entry.generator is None:
            raise ConfigError(f"system {name!r} has neither a retriever nor a generator")
        made = {
            step: create(kind, written, where=f"system {name!r}, {step}", folder=self.folder)
            for step, (kind, written) in parts.items()
            if written is not None
        }
        return System(name=name, **made)


def load_experiment(path: str | Path, overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment of a file, with `key=value` overrides as on the command line."""
    place = Path(path)
    return Experiment(read_experiment_file(place, overrides), folder=place.parent)


def _system_name(entry: SystemEntry) -> str:
    parts = [entry.retriever, entry.reranker, entry.processor, entry.generator]
    former = [] if entry.query == "as-given" else [entry.query]
    return " + ".join(short_name(part) for part in (*former, *parts) if part is not None)


def _only(dataset: Dataset, sample: Sample) -> Dataset:
    """Return the data set with the queries that have the labels asked for."""
    if not sample.where:
        return dataset
    wanted = {k: v if isinstance(v, list) else [v] for k, v in sample.where.items()}
    known = {label for query in dataset.queries for label in query.labels}
    for label in wanted:
        if label not in known:
            raise ConfigError(
                f"sample.where: no query has the label {label!r}{did_you_mean(label, known)}"
            )
    kept = [
        position
        for position, query in enumerate(dataset.queries)
        if all(query.labels.get(label) in values for label, values in wanted.items())
    ]
    if not kept:
        raise ConfigError(f"sample.where: no query has the labels {sample.where!r}")
    return dataset.select(kept)
