"""Many systems under many settings on one data set: checked, planned, run, recorded."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.calls.client import Calls
from ragstone.calls.deadline import Deadline
from ragstone.calls.prices import Budget, Prices
from ragstone.components.metrics.parse import parse_metric
from ragstone.core.executors.spec import executor_of
from ragstone.core.freed_memory import give_back
from ragstone.core.registry import beside, create
from ragstone.core.regular_files import exists
from ragstone.core.store import Store
from ragstone.core.stored_table import StoredTable
from ragstone.data.cut_passages import cut_by
from ragstone.data.documents.parsing import parses_kept_in
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError
from ragstone.experiment.config import ExperimentFile
from ragstone.experiment.datastores import datastores_of, with_collections
from ragstone.experiment.freshness import Freshness, asking_lines, begin, of_runs
from ragstone.experiment.kept_run import run_once
from ragstone.experiment.maker import Maker, use_folder
from ragstone.experiment.members import Member
from ragstone.experiment.metric_set import MetricSet, metric_sets
from ragstone.experiment.names import check_names
from ragstone.experiment.repeats import check_repeated, with_repeats
from ragstone.experiment.system import SharedInputs, System
from ragstone.protocols import Services
from ragstone.types import brief

if TYPE_CHECKING:
    from ragstone.calls.runs import SystemRun
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.freshness import Asked
    from ragstone.experiment.plan import Plan, PlannedStep
    from ragstone.experiment.running import Run
    from ragstone.experiment.step_list import StepList
    from ragstone.experiment.steps import Step
    from ragstone.protocols import ContextSetting, Judge
    from ragstone.results.results import Results

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True)
class Experiment:
    """An experiment; creating one is free, and `check` reads the data and every name."""

    file: ExperimentFile
    """The experiment file, checked."""
    folder: Path = Path()
    """The folder of the experiment file, in which your own components are looked for."""
    command: str = ""
    """The command that runs the experiment; "" if it is not of a file."""
    batch: frozenset[str] | None = None
    """Ids of the answered queries that this run is of; None for all. The run stays under way."""
    member: Member = field(default_factory=Member)
    """Its place among the experiments of its file."""

    def __repr__(self) -> str:
        """Return one line: the name, the data and the sizes."""
        systems, settings = len(self.file.systems), len(self.file.settings)
        return brief(self, repr(self.file.name), f"{systems} systems x {settings} settings")

    @cached_property
    def dataset(self) -> Dataset:
        """The whole data set; arrays derived from it go into the experiment's store."""
        with parses_kept_in(self.store), cut_by(executor_of(self.file.executor)):
            loaded = load_dataset(self.file.data, folder=self.folder)
        loaded = with_collections(loaded, self.file.systems)
        corpus = loaded.corpus.kept_in(self.store)
        return dataclasses.replace(loaded, corpus=corpus, name=self.member.data or loaded.name)

    @cached_property
    def store(self) -> Store:
        """The store of all results."""
        return Store(Path(self.file.store))

    @cached_property
    def _maker(self) -> Maker:
        return Maker(self.folder, self.store.root)

    @cached_property
    def systems(self) -> list[System]:
        """The systems with their components."""
        made = with_repeats([self._maker.system(s) for s in self.file.systems], self.file)
        check_names("system", [system.name for system in made], "give each its own 'name'")
        return made

    @cached_property
    def settings(self) -> list[ContextSetting]:
        """The context settings; `system` if the file names none and only own systems answer."""
        answering = [system for system in self.systems if system.generator]
        own = bool(answering) and all(system.may_retrieve for system in answering)
        written = self.file.settings or (["system"] if own else [])
        return self._maker.parts("context_settings", written, "setting")

    @cached_property
    def noise(self) -> System | None:
        """The system of the noise of `gold+noise`, or None; `ConfigError` if it may change."""
        if not any("noise" in setting.uses for setting in self.settings):
            return None
        key = "noise_retriever"
        (retriever,) = self._maker.parts("retrievers", [self.file.noise_retriever], key)
        if retriever.declared_release == "":
            why = "its index may change between runs, and noise is kept"
            raise ConfigError(f"{key}: {why}; declare its version with release", key=key)
        return System("noise", create("query_formers", "rewrite", where="noise"), retriever)

    @cached_property
    def metrics(self) -> tuple[MetricSet, MetricSet, MetricSet]:
        """The metrics of rankings, of answers and of repeats."""
        return metric_sets(self.metric(one) for one in self.file.metrics)

    def metric(self, written: Any) -> Any:
        """Return the metric of a `written` name; own metrics are looked for in `folder`."""
        return parse_metric(written, folder=self.folder)

    @cached_property
    def judges(self) -> tuple[Judge, ...]:
        """The judges; each has metrics with names of their own."""
        made = self._maker.judges(self.file.judges, self.file.secret)
        given = [str(metric) for kind in self.metrics for metric in kind.metrics]
        names = [name for judge in made for name in judge.metrics]
        check_names("metric", given + names, "leave one of them out")
        return made

    def of_queries(self, query_ids: Collection[str]) -> Experiment:
        """Return this experiment on the answered queries `query_ids`; it shares data and parts."""
        part = dataclasses.replace(self, batch=frozenset(query_ids))
        shared = ("dataset", "store", "systems", "settings", "noise", "metrics", "judges")
        vars(part).update({name: getattr(self, name) for name in shared})
        return part

    def check(self) -> None:
        """Raise a `ConfigError` or `DatasetError` for anything that would fail later on."""
        from ragstone.experiment import checks, rule_checks, secret_queries

        ranking, answer, repeated = self.metrics
        checks.check_settings(self.settings, self.systems, self.dataset)
        checks.check_depths(self.settings, self.systems, self.dataset)
        for system, entry in zip(self.systems, self.file.systems, strict=True):
            checks.check_written_depth(system.name, entry, self.dataset.corpus.depth)
        check_repeated(repeated.metrics, self.systems)
        metrics = [*ranking.metrics, *answer.metrics, *repeated.metrics]
        checks.check_metrics(metrics, self.systems, self.dataset, self.settings)
        rule_checks.check_rules(self.file, self.settings, metrics, self.judges)
        checks.check_answered(self.systems, [self.shared.asked(s.setting) for s in self.settings])
        rule_checks.check_analysis(self.file, self.systems, self.shared, ranking.metrics)
        secret_queries.secret_counts(self)
        give_back()

    @cached_property
    def shared(self) -> SharedInputs:
        """The tables and components that all systems share."""
        from ragstone.experiment import listed_queries, shared_queries

        dataset, listed = listed_queries.wanted_queries(self.dataset, self.file.sample, self.beside)
        selected = shared_queries.select_queries(dataset, self.settings)
        answered = shared_queries.drawn(selected.dataset, self.file.sample)
        if self.batch is not None:
            ids = answered.query_ids
            answered = answered.select([i for i, q in enumerate(ids) if q in self.batch])
        ranked = {"sample": answered, "matching": dataset, "all": self.dataset}
        corpus, searched = dataset.corpus, ranked[self.file.sample.retrieval]
        asked = StoredTable.in_memory(answered.query_table)
        return SharedInputs(
            passages=StoredTable(corpus.content_digest, memory=corpus.unlabelled.table),
            labelled=StoredTable(corpus.digest, memory=corpus.table),
            qrels=StoredTable.in_memory(dataset.qrel_table),
            answered=asked,
            ranked=asked if searched is answered else StoredTable.in_memory(searched.query_table),
            collections=shared_queries.collection_table(dataset),
            datastores=datastores_of(
                self.dataset, searched, self.file.systems, with_noise=self.noise is not None
            ),
            noise=self.noise,
            judges=self.judges,
            left_out=selected.left_out,
            own=shared_queries.own_queries(answered, self.settings),
            listed=listed,
        )

    def steps(self, systems: Sequence[System] | None = None) -> StepList:
        """Return every step of the experiment, each before those that depend on it.

        `systems` are those of a run, whose generators have the replies of that run.
        """
        from ragstone.experiment.step_list import StepList

        steps = StepList(self.shared, *self.metrics)
        systems = self.systems if systems is None else systems
        for system in systems:
            if system.retriever:
                steps.add_ranking(system)
        for setting in self.settings:
            for system in systems:
                if system.answers_under(setting):
                    steps.add_trial(system, setting)
        return steps

    def run(
        self,
        calls: Calls | None = None,
        *,
        only: Sequence[str] = (),
        retry_failed: bool = True,
        reuse: bool = False,
        fresh: Sequence[str] | None = (),
        trust_code: bool = False,
    ) -> Results:
        """Check everything, run the steps whose results are not stored, and return the results.

        Args:
            calls: makes the model calls; by default the one of `open_calls`.
            only: names of steps; the others run only if these depend on them. Results of others
                that are in the store stay in the record.
            retry_failed: whether failed calls and unreadable replies of earlier runs are requested
                again; if not, steps with failed items count as finished. No effect with `calls`.
            reuse: whether your own systems keep the answers of their last finished run.
            fresh: names of systems that are asked again; None for all.
            trust_code: whether to reuse steps of other code; outputs mark what rests on them.

        Raises:
            ConfigError: a name, a parameter or a combination is wrong; nothing was spent.
            DatasetError: the data are malformed; nothing was spent.
            ModelFileError, MissingDependency, CallError: a component cannot work here.
        """
        asked: Any = {"retry_failed": retry_failed, "reuse": reuse, "fresh": fresh}
        return run_once(self, calls, only=only, trust_code=trust_code, **asked)

    def begin(
        self,
        calls: Calls,
        wish: Freshness,
        *,
        only: Sequence[str] = (),
        trust_code: bool = False,
        run_name: str = "",
    ) -> Run:
        """Return a run whose components are checked; nothing is spent yet.

        Args:
            calls: makes the model calls.
            wish: which systems are asked again.
            only: as in `run`.
            trust_code: as in `run`.
            run_name: the name under which replies of own systems are kept (default: `file.name`).
        """
        from ragstone.experiment.plan import Planner
        from ragstone.experiment.record import Recorder
        from ragstone.experiment.running import Run
        from ragstone.experiment.schedule import needed

        services = self.services(calls)
        asked, systems = self._begin(calls, wish, run_name)
        steps = self.steps(systems)
        chosen = needed(list(steps), only) if only else list(steps)
        store = dataclasses.replace(self.store, trust_code=trust_code)
        planned = Planner(store, services).plan(chosen)
        to_do = [one for one in planned.steps if one.to_do]
        for line in (*asking_lines(planned, steps.trials, asked), *self.notes_of(to_do)):
            _LOG.warning("%s", line)
        self._check_ready(planned, services)
        give_back()
        recorder = Recorder(
            *(self.store, self.file, self.dataset, systems, steps),
            member=self.member,
            command=self.command,
            keeps_earlier=self.batch is None,
        )
        return Run(
            self.file.name,
            *(steps, frozenset(chosen), services, store, recorder, asked),
            self._priority,
        )

    def _priority(self, step: Step) -> int:
        """Return the priority of a step: that of the data set, then of the first system with it."""
        own = {s.name: e.priority for s, e in zip(self.systems, self.file.systems, strict=True)}
        return self.member.priority + own.get(step.system, 0)

    def open_calls(
        self,
        *,
        offline: bool = False,
        replay_only: bool = False,
        retry_failed: bool = True,
        budget: float | None = None,
        max_hours: float | None = None,
    ) -> Calls:
        """Return the `ragstone.Calls` that this experiment uses.

        `offline` and `replay_only` are as in `Calls`, and `retry_failed` is as in `run`. `budget`
        is the maximum cost in the prices' currency. No call begins after `max_hours`.
        """
        prices = Prices.read(self.beside(self.file.prices)) if self.file.prices else Prices()
        return Calls.at(
            self.store.call_log,
            shared=self.file.calls,
            offline=offline,
            replay_only=replay_only,
            keep_failed=not retry_failed,
            prices=prices,
            budget=None if budget is None else Budget(budget, prices),
            deadline=None if max_hours is None else Deadline(max_hours),
        )

    def plan(
        self,
        calls: Calls | None = None,
        *,
        sample_calls: int = 0,
        reuse: bool = False,
        fresh: Sequence[str] | None = (),
        trust_code: bool = False,
        run_name: str = "",
    ) -> Plan:
        """Check everything and return the steps and the cost of a run, running none of it.

        Args:
            calls: makes the model calls; by default the one of `open_calls`.
            sample_calls: number of missing calls of each generator to make and keep; the cost of
                the others is estimated from their replies.
            reuse: as in `run`.
            fresh: as in `run`.
            trust_code: as in `run`.
            run_name: as in `begin`.
        """
        from ragstone.experiment import asked_data, power, secret_queries
        from ragstone.experiment.plan import Planner

        self.check()
        with contextlib.nullcontext(calls) if calls else self.open_calls() as opened:
            services, wish = self.services(opened), Freshness(reuse, fresh)
            # A sample of calls belongs to the run that follows.
            runs, systems = self._begin(opened, wish, run_name, planned=not sample_calls)
            steps = self.steps(systems)
            store = dataclasses.replace(self.store, trust_code=trust_code)
            planned = Planner(store, services, look_ahead=True).plan(
                list(steps),
                queries=self.shared.answered.table.num_rows,
                trials=steps.trials,
                left_out=self.shared.left_out,
                not_applicable=self.shared.not_applicable,
                sample_calls=sample_calls,
            )
            self._check_ready(planned, services, own_only=True)
            return dataclasses.replace(
                planned,
                asking=tuple(asking_lines(planned, steps.trials, runs)),
                notes=self.notes_of(planned.steps),
                languages=asked_data.asked_languages(self.dataset, self.shared).facts,
                power="" if self.member.counterfactual else power.power_line(self),
                secret=secret_queries.secret_counts(self),
            )

    def _begin(
        self, calls: Calls, wish: Freshness, run_name: str = "", *, planned: bool = False
    ) -> tuple[dict[Asked, SystemRun], list[System]]:
        """Return the run of each system, and the systems with the replies of their runs."""
        if calls.replay_only:
            wish = dataclasses.replace(wish, reuse=True)
        # Components that are made again find their files where they found them first.
        with beside(self.folder):
            name = run_name or self.file.name
            runs = begin(self.systems, calls.log.path, name, wish, planned=planned)
            return runs, of_runs(self.systems, runs)

    def notes_of(self, steps: Sequence[PlannedStep]) -> tuple[str, ...]:
        """Return the notes of a run that has these steps to do."""
        from ragstone.experiment.notes import run_notes

        return run_notes(steps, self.systems, self.shared, self.dataset, self.metrics[2].metrics)

    def _check_ready(self, plan: Plan, services: Services, *, own_only: bool = False) -> None:
        """Check the needs of the steps to do; a finished experiment may be in a read-only store."""
        if any(step.to_do for step in plan.steps):
            self.store.check_writable()
        plan.check_ready(services, own_only=own_only)

    def services(self, calls: Calls) -> Services:
        """Return what components work with: the calls, the store and the corpus."""
        use_folder(self.store.root.absolute())
        corpus, executor = self.dataset.corpus, executor_of(self.file.executor)
        return Services(calls=calls, store=self.store, corpus=corpus, executor=executor)

    def beside(self, path: str) -> Path:
        """Return a path as found from the current folder, else from the experiment file's."""
        return Path(path) if exists(path) else self.folder / path
