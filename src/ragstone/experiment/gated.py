"""A gate on places: stored results are read, and a system that was not run is asked in batches."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.calls.runs import finish
from ragstone.components.generators.external_base import first_reply_checked
from ragstone.core.schemas import columns, scores_to_table, table_to_scores
from ragstone.core.store import Store
from ragstone.data.machine_qrels import agreement_sentence
from ragstone.errors import ConfigError, DamagedFile, RagstoneError, StoreError, did_you_mean
from ragstone.evaluation.evaluation import Evaluation
from ragstone.evaluation.gate import gate
from ragstone.experiment.clusters import query_clusters
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.experiment.members import read_experiment_file
from ragstone.experiment.score_sources import (
    STORE,
    ScorePlace,
    ScoreSource,
    chosen,
    read_place,
    read_sources,
    source_notes,
    split_name,
)
from ragstone.experiment.training_leaks import trained_parts
from ragstone.protocols import Services
from ragstone.results.record import Record
from ragstone.results.trained_parts import parts_of_system
from ragstone.statistics.correctness import Correctness
from ragstone.statistics.failures import Scale
from ragstone.types import Score

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.evaluation.gate_result import GateResult

_LOG: Final = logging.getLogger(__name__)
SUFFIX: Final = ".gate"
"""End of the name under which the answers of a gate are stored, beside the experiment's own."""


def gate_places(
    new: str, baseline: str, *, run: bool = False, store: Path = STORE, **options: Any
) -> GateResult:
    """Return the verdict on two places; see `ragstone.experiment.score_sources`.

    Args:
        new: the new version. An experiment that has no finished run is run, in the batches of the
            looks, until the gate is decided.
        baseline: the version to compare it with.
        run: run a new version that has a finished run too.
        store: the store behind passports.
        options: as in `ragstone.gate`.

    Raises:
        ConfigError: a wrong name or option; nothing was asked.
        RagstoneError: the run failed. The same call resumes it: no reply is asked for twice.
    """
    place = ScorePlace.parse(split_name(new)[1])
    if not needs_run(place, forced=run):
        sides = read_sources([new, baseline], store)
        return _noted(gate(sides[0].scores, baseline=sides[1].scores, **options), sides)
    earlier = read_place(ScorePlace.parse(split_name(baseline)[1]), store)
    asked = GatedSystem.of(place, options["metrics"])
    with asked.experiment.open_calls() as calls, first_reply_checked():
        # A query that failed at one look has no second chance at the next one.
        calls.keep_new_failures()
        found = gate(replace(asked, calls=calls), baseline=earlier.scores, **options)
    asked.finish()
    made = agreement_sentence(asked.experiment.dataset.source.machine_qrels)
    one = asked.experiment
    parts = trained_parts(one.systems, one.shared, one.dataset)
    trained = parts_of_system(parts, asked.system)
    asked_new = ScoreSource("new", earlier.scores, qrels=made, trained=trained)
    found = _noted(found, [asked_new, earlier])
    return replace(found, notes=(*found.notes, asked.where(place.path)))


def _noted(found: GateResult, sources: Sequence[ScoreSource]) -> GateResult:
    """Return a result with notes on secret queries and machine-made qrels of its sources."""
    return replace(found, notes=(*found.notes, *source_notes(sources)))


def needs_run(place: ScorePlace, *, forced: bool = False) -> bool:
    """Return whether the gate has to run an experiment: it has no finished run, or `forced`.

    Raises `ConfigError` if `forced` and the place is not a present experiment.
    """
    is_present = place.is_experiment and place.file.exists() and "@" not in place.part
    if forced and not is_present:
        what = "an earlier run" if place.is_experiment else "not an experiment file"
        raise ConfigError(f"--run: {place} is {what}; only an experiment file can be run")
    if forced or not is_present:
        return forced
    file = read_experiment_file(place.path, ())
    try:
        return Record.load(Store(Path(file.store)), file.name).finished is None
    except DamagedFile:
        raise
    except StoreError:
        # There is no record, or one of an earlier format.
        return True


@dataclass(frozen=True)
class GatedSystem:
    """One system of an experiment under one setting, which is asked as far as a gate needs it."""

    experiment: Experiment
    """The experiment of this system alone, under a name of its own."""
    system: str
    setting: str
    """Empty for a system that only retrieves."""
    metrics: tuple[str, ...]
    calls: Calls | None = None

    @classmethod
    def of(cls, place: ScorePlace, metrics: str | Sequence[str]) -> GatedSystem:
        """Return the system of a place; `ConfigError` if it has several and none is chosen."""
        experiment = load_experiment(place.path)
        systems = [system.name for system in experiment.systems]
        under = [
            setting.setting
            for setting in experiment.settings
            if any(system.answers_under(setting) for system in experiment.systems)
        ]
        system, setting = chosen(place.path, place.part, systems, under)
        setting = setting or "".join(under[:1])
        for kind, name, known in (("system", system, systems), ("setting", setting, under)):
            if name and name not in known:
                raise ConfigError(f"{place.path} has no {kind} {name!r}{did_you_mean(name, known)}")
        names = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        return cls(_narrowed(experiment, system, setting, names), system, setting, names)

    def outline(self) -> Evaluation:
        """Return the queries, gold answers, clusters and scales; check everything first."""
        self.experiment.check()
        shared, dataset = self.experiment.shared, self.experiment.dataset
        ids = set(columns(shared.answered.table)["query_id"])
        queries = [query for query in dataset.queries if query.query_id in ids]
        scales = _scales(self.experiment)
        named = {q: cluster for q, cluster in query_clusters(dataset).items() if q in ids}
        of_one = {f"query {query_id}" for query_id in named}
        return Evaluation(
            {},
            scores_to_table(
                [
                    Score(query.query_id, metric, None, "not_applicable", "it was not asked")
                    for metric in scales
                    for query in queries
                ]
            ),
            clusters={query_id: c for query_id, c in named.items() if c not in of_one},
            scales=scales,
            corpus_digest=dataset.corpus.digest,
            gold_answers={query.query_id: query.gold_answers for query in queries},
        )

    def ask(self, query_ids: Collection[str]) -> Evaluation:
        """Return the scores of these queries; finished steps and kept replies are used again."""
        results = self.experiment.of_queries(query_ids).run(self.calls)
        found = results.evaluation(self.system, self.setting)
        failed = {s.query_id for s in table_to_scores(found.table) if s.status == "failed"}
        if failed:
            self._check_services(len(failed))
        return found

    def _check_services(self, failed: int) -> None:
        """Raise an error if a service of the system is off: its failures are not a verdict."""
        one = next(one for one in self.experiment.systems if one.name == self.system)
        calls, dataset = self.calls, self.experiment.dataset
        services = Services(calls=calls, store=self.experiment.store, corpus=dataset.corpus)
        try:
            for part in one.components.values():
                part.check(services)
        except RagstoneError as error:
            problem = f"the new version failed on {failed:,} queries: {error}. Nothing is decided"
            raise error.with_message(f"{problem}; the same command continues") from error

    def finish(self) -> None:
        """Note that the run is finished: the next gate asks services again."""
        finish(self.experiment.store.call_log, self.experiment.file.name)

    def where(self, path: Path) -> str:
        """Return the command that shows the answers."""
        name = self.experiment.file.name
        return f"the answers of the new version: ragstone report {path} name={name}"


def _narrowed(
    experiment: Experiment, system: str, setting: str, metrics: Sequence[str]
) -> Experiment:
    """Return the experiment of one system under one setting, with the judges that are needed."""
    file = experiment.file
    rule = {Correctness.parse(file.correct).metric} if file.correct else set[str]()
    made = zip(file.judges, experiment.judges, strict=True)
    under = zip(file.settings, experiment.settings, strict=False)
    systems = zip(file.systems, experiment.systems, strict=True)
    changes = {
        "name": f"{file.name}{SUFFIX}",
        "systems": [entry for entry, one in systems if one.name == system],
        "settings": [spec for spec, one in under if one.setting == setting],
        "judges": [s for s, judge in made if {*judge.metrics} & {*metrics, *rule}],
        "oracle": file.oracle if file.oracle == setting else None,
        "headline": None,
        "analysis": None,
    }
    return replace(experiment, file=file.model_copy(update=changes), command="")


def _scales(experiment: Experiment) -> dict[str, Scale]:
    """Return metric -> range and direction, of the metrics and the judges of an experiment."""
    failures = experiment.file.failures
    found = {
        str(metric): Scale(metric.range, metric.direction, failures)
        for kind in experiment.metrics
        for metric in kind.metrics
    }
    for judge in experiment.judges:
        found |= dict.fromkeys(judge.metrics, Scale(judge.range, judge.direction, failures))
    return found
