"""The scores of an experiment, computed again from its kept answers and rankings.

No model is asked: the verdicts of judges are read again from the kept replies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.component import DATA
from ragstone.core.registry import create
from ragstone.core.schemas import (
    REPEAT,
    SCORES,
    columns,
    joined,
    queries_to_table,
    table_to_queries,
    to_table,
)
from ragstone.core.stored_table import StoredTable, unverified_table
from ragstone.errors import RagstoneError, StoreError
from ragstone.experiment.maker import hiding_nuggets
from ragstone.experiment.metric_set import MetricSet, metric_sets
from ragstone.experiment.repeat_spec import repeat_number, samples
from ragstone.experiment.step_blocks import compute
from ragstone.experiment.steps import Result, Step
from ragstone.protocols import Services
from ragstone.results.reader import StoredResults

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.calls.client import Calls
    from ragstone.core.component import Component
    from ragstone.data.dataset import Dataset
    from ragstone.results.record import TrialEntry


Figures: TypeAlias = Mapping[str, Mapping[str, float]]
"""Metric -> name of a figure -> value."""


@dataclass(frozen=True)
class ReplacedTables(StoredResults):
    """Stored results of which some tables are replaced."""

    tables: Mapping[str, Table] = field(default_factory=dict)
    """Folder of a step -> the table in place of the stored one."""
    figures: Mapping[str, Figures] = field(default_factory=dict)
    """Folder of a step -> the figures of all its answers together, in place of the stored ones."""

    def manifest(self, folder: str) -> dict[str, Any]:
        """Return the manifest of a step with the replacing figures, unless they are held back."""
        found = super().manifest(folder)
        if folder in self.figures and not self.held_back:
            found = {**found, "beside": self.figures[folder]}
        return found

    def rows_in(self, folder: str) -> StoredTable:
        """Return the replaced table of a folder, or the stored one."""
        if folder in self.tables:
            return StoredTable("", memory=self.tables[folder])
        return super().rows_in(folder)


@dataclass
class Recomputation:
    """Results whose scores the installed code computes, and the metrics that it could not."""

    results: ReplacedTables
    """The results with the tables that the recomputation starts from."""
    folder: Path | None = None
    """The folder of the metrics' and judges' own files."""
    dataset: Dataset | None = None
    parts: dict[str, Component] = field(default_factory=dict)
    """Metric or judge's metric -> the installed component that computes it."""
    unscored: dict[str, str] = field(default_factory=dict)
    """Metric -> why it could not be computed."""
    unmade: list[str] = field(default_factory=list)
    """Why metrics of the file could not be made; their names are not known."""

    def run(self, file: Mapping[str, Any], calls: Calls) -> StoredResults:
        """Return the results with all scores computed again, by the metrics and judges of a file.

        A metric that cannot be computed has no scores; `unscored` has the reason.
        """
        record = self.results.record
        ranking, answer, _ = self._metrics(file.get("metrics", ()))
        judges = [self._judge(one, file.get("secret")) for one in file.get("judges", ())]
        corpus = self.dataset.corpus if self.dataset else None
        services = Services(calls=calls, store=self.results.store, corpus=corpus)
        tables: dict[str, Table] = {}
        figures: dict[str, Figures] = {}
        for found in record.rankings:
            # Rankings that a system reported are those of the answered queries.
            queries = record.tables.ranked if found.searches else record.tables.answered
            judged = {"qrels": found.qrels or record.tables.qrels}
            if found.translations:
                judged["translations"] = found.translations
            inputs = {"queries": queries, "run": found.run, **judged}
            tables[found.scores], _ = self._scored("score-ranking", ranking, inputs, services)
        for trial, one in ((found, one) for found in record.trials for one in found.every):
            inputs = {
                "queries": record.tables.answered,
                "contexts": one.contexts,
                "predictions": one.predictions,
            }
            if one.scores not in tables:
                chosen = replace(answer, knows_context=self._knows_context(one.scores))
                before = {"built": trial.built} if trial.built != trial.contexts else {}
                given = inputs | before
                scored = self._scored("score-answer", chosen, given, services)
                tables[one.scores], figures[one.scores] = scored
            for judge, folder in zip(judges, one.verdicts, strict=False):
                if folder not in tables:
                    number = repeat_number(one.answer, one.verdict)
                    tables[folder] = self._judged(judge, folder, inputs, services, number)
        return replace(self.results, tables={**self.results.tables, **tables}, figures=figures)

    def _knows_context(self, folder: str) -> bool:
        """Return whether stored scores were computed with the contexts of their setting."""
        stored = StoredTable("", folder=self.results.store.root / "steps" / folder)
        with suppress(StoreError, KeyError):
            return bool(stored.manifest["made_by"]["parameters"]["knows_context"])
        return True

    def _metrics(self, written: Sequence[Any]) -> tuple[MetricSet, MetricSet, MetricSet]:
        """Return the metrics of rankings, of answers and of repeats that can be made."""
        made: list[Any] = []
        for one in written:
            try:
                made.append(self._beside(parse_metric, one))
            except RagstoneError as error:
                self.unmade.append(str(error))
        self.parts |= {str(metric): metric for metric in made}
        return metric_sets(made)

    def _judge(self, written: Any, secret: Mapping[str, Any] | None) -> Any:
        """Return a judge, or the reason why it cannot be made."""
        try:
            judge = self._beside(partial(_judge, secret), written, where="judge")
        except RagstoneError as error:
            return str(error)
        self.parts |= dict.fromkeys(judge.metrics, judge)
        return judge

    def _beside(self, make: Callable[..., Any], written: Any, **options: Any) -> Any:
        """Return a component whose own file is beside the passport or in the current folder."""
        if self.folder is not None:
            with suppress(RagstoneError):
                return make(written, folder=self.folder, **options)
        return make(written, folder=Path(), **options)

    def _scored(
        self, name: str, metrics: MetricSet, inputs: Mapping[str, str], services: Services
    ) -> tuple[Table, Figures]:
        """Return the scores of all metrics and their figures; failing metrics are left out."""
        with suppress(RagstoneError):
            found = self._compute(name, metrics, inputs, services)
            return found.table, found.beside or {}
        every = list(self._one_by_one(name, metrics, inputs, services))
        figures = {metric: held for one in every for metric, held in (one.beside or {}).items()}
        return joined((one.table for one in every), SCORES), figures

    def _one_by_one(
        self, name: str, metrics: MetricSet, inputs: Mapping[str, str], services: Services
    ) -> Iterator[Result]:
        for metric in metrics.metrics:
            try:
                yield self._compute(name, replace(metrics, metrics=(metric,)), inputs, services)
            except RagstoneError as error:
                self.unscored[str(metric)] = str(error)

    def _judged(
        self,
        judge: Any,
        folder: str,
        inputs: Mapping[str, str],
        services: Services,
        number: int,
    ) -> Table:
        """Return the verdicts of a judge from kept replies; none if a reply is missing."""
        reason = judge
        if not isinstance(judge, str):
            try:
                repeat = number if samples(judge) else 0
                return self._compute("judge", judge, inputs, services, repeat).table
            except RagstoneError as error:
                reason = str(error)
        with suppress(StoreError):
            stored = columns(self.results.stored_table(folder))["metric"]
            self.unscored |= dict.fromkeys(stored, reason)
        return joined((), SCORES)

    def _compute(
        self,
        name: str,
        component: Any,
        inputs: Mapping[str, str],
        services: Services,
        repeat: int = 0,
    ) -> Result:
        tables = {role: self.results.stored_table(folder) for role, folder in inputs.items()}
        if repeat:
            tables["repeat"] = to_table(REPEAT, {"repeat": [repeat]})
        if "predictions" in tables:
            tables["queries"] = _answered(tables["queries"], tables["predictions"])
        if self.dataset is not None:
            tables |= {
                role: {"corpus": self.dataset.corpus.table, "qrels": self.dataset.qrel_table}[role]
                for role in DATA & component.uses
            }
        return compute(Step(name, component, {}), tables, services)


def _judge(secret: Mapping[str, Any] | None, written: Any, *, where: str, folder: Path) -> Any:
    made = create("judges", written, where=where, folder=folder)
    return hiding_nuggets(made, secret, folder)


def _answered(queries: Table, predictions: Table) -> Table:
    """Return the queries that have a prediction: a setting may not apply to all of them."""
    if queries.num_rows == predictions.num_rows:
        return queries
    ids = set(columns(predictions)["query_id"])
    return queries_to_table([query for query in table_to_queries(queries) if query.query_id in ids])


def readable_tables(
    results: StoredResults, folders: Iterable[str]
) -> tuple[dict[str, Table], dict[str, str]]:
    """Return folder -> table, and folder -> damage.

    A damaged table is returned as it is if it is a table at all, so that its rows can be compared.
    """
    tables: dict[str, Table] = {}
    damage: dict[str, str] = {}
    for folder in folders:
        try:
            tables[folder] = results.stored_table(folder)
        except StoreError as error:
            damage[folder] = str(error)
            with suppress(StoreError):
                tables[folder] = unverified_table(results.store.root / "steps" / folder)
    return tables, damage


def without(results: ReplacedTables, damaged: Mapping[str, str]) -> ReplacedTables:
    """Return results without the rankings and trials whose tables are damaged."""
    record = results.record
    return replace(
        results,
        record=replace(
            record,
            rankings=tuple(found for found in record.rankings if found.run not in damaged),
            trials=tuple(trial for trial in record.trials if not damaged_in(trial, damaged)),
        ),
    )


def damaged_in(trial: TrialEntry, damaged: Mapping[str, str]) -> str:
    """Return why the answers or contexts of a trial cannot be read, or ""."""
    every = ((one.predictions, one.contexts) for one in trial.every)
    folders = (trial.built, *chain(*every))
    return next((damaged[folder] for folder in folders if folder in damaged), "")
