"""The list of the steps that measure systems; planning, running and records read it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ragstone.components.context_settings.system import OwnContext
from ragstone.core.component import DATA
from ragstone.core.schemas import REPEAT, to_table
from ragstone.core.stored_table import StoredTable
from ragstone.experiment.metric_set import MetricSet
from ragstone.experiment.repeat_spec import repeat_number, samples
from ragstone.experiment.reported import (
    CheckedContexts,
    ReportedContexts,
    ReportedHops,
    ReportedRun,
)
from ragstone.experiment.steps import Step
from ragstone.experiment.system import RankingSteps, RepeatSteps, SharedInputs, System, Trial

if TYPE_CHECKING:
    from ragstone.protocols import ContextSetting


class StepList:
    """The steps of an experiment, each before those that depend on it; equal steps are one."""

    def __init__(
        self, shared: SharedInputs, ranking: MetricSet, answer: MetricSet, repeated: MetricSet
    ) -> None:
        self.shared, self.ranking_metrics, self.answer_metrics = shared, ranking, answer
        self.repeat_metrics = repeated
        self._steps: dict[tuple[Any, ...], Step] = {}
        self._views: dict[tuple[str, frozenset[str]], StoredTable] = {}
        self.rankings: list[RankingSteps] = []
        self.trials: list[Trial] = []

    def __iter__(self) -> Iterator[Step]:
        """Yield the steps in order."""
        return iter(self._steps.values())

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self._steps)

    def add_ranking(self, system: System) -> None:
        """Add the steps that measure a system's retriever."""
        ranked = self.shared.ranked
        run = self._rank(system, ranked)
        searches = self._step("form", system.query_former, system, queries=ranked)
        scores = self._score_ranking(system, run, ranked)
        self.rankings.append(RankingSteps(system, run, scores, searches))

    def add_trial(self, system: System, setting: ContextSetting) -> None:
        """Add the steps of a system under a setting."""
        shared = self.shared
        queries = shared.asked(setting.setting, system.name)
        run = next((r.run for r in self.rankings if r.system is system), None)
        built = self._build(system, setting, run)
        contexts = built
        if system.processor is not None and setting.uses:
            contexts = self._step(
                "process", system.processor, system, queries=queries, contexts=built
            )
        # All answers come before the first verdict, which may need another model.
        answers = [
            self._answer(system, setting, queries, contexts, number)
            for number in range(system.repeats.answers)
        ]
        predictions, hops, reported = answers[0][0], None, None
        # The context of an own system is known after its answer, and then part of all measures.
        own, reports = system.may_retrieve and not setting.uses, isinstance(setting, OwnContext)
        if reports:
            built = contexts = answers[0][1]
            given: dict[str, Any] = {"predictions": predictions, "corpus": shared.passages}
            hops = self._step("reported-hops", ReportedHops(), system, **given)
        first, *further = [
            self._repeat(system, setting, queries, (*answers[answer], built), (answer, verdict))
            for answer, verdict in system.repeats.pairs()
        ]
        if own and self.ranking_metrics.metrics:
            inputs = {"predictions": predictions, **({"contexts": contexts} if reports else {})}
            reported_run = self._step("reported-run", ReportedRun(), system, **inputs)
            reported = RankingSteps(
                system, reported_run, self._score_ranking(system, reported_run, queries)
            )
        self.trials.append(
            Trial(
                system,
                setting,
                built,
                contexts,
                predictions=predictions,
                scores=first.scores,
                verdicts=first.verdicts,
                reported=reported,
                hops=hops,
                repeats=tuple(further),
            )
        )

    def _answer(
        self,
        system: System,
        setting: ContextSetting,
        queries: StoredTable,
        contexts: Step,
        number: int,
    ) -> tuple[Step, Step]:
        """Return the steps of an answer, and of its context, which an own system reports."""
        given: dict[str, Any] = {"queries": queries, "contexts": contexts, **_repeat(number)}
        predictions = self._step("generate", system.generator, system, **given)
        if isinstance(setting, OwnContext):
            rule = ReportedContexts(setting.setting)
            given = {"predictions": predictions, "corpus": self.shared.passages}
            if self.shared.collections is not None:
                rule = CheckedContexts(setting.setting)
                given["collections"] = self.shared.collections
            contexts = self._step("reported-context", rule, system, **given)
        return predictions, contexts

    def _repeat(
        self,
        system: System,
        setting: ContextSetting,
        queries: StoredTable,
        given: tuple[Step, Step, Step],
        pair: tuple[int, int],
    ) -> RepeatSteps:
        """Return the steps of an answer with the scores of a verdict; those of equals are one."""
        predictions, contexts, built = given
        graded: dict[str, Any] = {
            "queries": queries,
            "contexts": contexts,
            "predictions": predictions,
        }
        own, reports = system.may_retrieve and not setting.uses, isinstance(setting, OwnContext)
        # A system that retrieves by itself may have seen passages that no setting showed it.
        metrics = dataclasses.replace(self.answer_metrics, knows_context=reports or not own)
        processed = built is not contexts and not reports
        before = {"built": built} if processed and metrics.reads_attacks else {}
        scores = self._step("score-answer", metrics, system, **graded, **before)
        verdicts = []
        for judge in self.shared.judges:
            again = _repeat(repeat_number(*pair)) if samples(judge) else {}
            verdicts.append(self._step("judge", judge, system, **(graded | again)))
        return RepeatSteps(*pair, contexts, predictions, scores, tuple(verdicts))

    def _rank(self, system: System, queries: StoredTable) -> Step:
        searches = self._step("form", system.query_former, system, queries=queries)
        run = self._retrieve(system, system.retriever, searches)
        if system.reranker is None:
            return run
        corpus = self.shared.passages
        return self._step(
            "rerank", system.reranker, system, searches=searches, corpus=corpus, run=run
        )

    def _retrieve(self, system: System, retriever: Any, searches: Step) -> Step:
        """Return the step of a retriever; the parts of a fusion have steps of their own."""
        if retriever.parts:
            parts = [self._retrieve(system, part, searches) for part in retriever.parts]
            runs: dict[str, Any] = {f"run_{place}": run for place, run in enumerate(parts)}
            return self._step("fuse", retriever, system, searches=searches, **runs)
        inputs: dict[str, Any] = {"searches": searches, "corpus": self.shared.passages}
        if (collections := self.shared.datastore(system).collections) is not None:
            inputs["collections"] = collections
        return self._step("retrieve", retriever, system, **inputs)

    def _build(self, system: System, setting: ContextSetting, run: Step | None) -> Step:
        """Return the contexts of a setting; its key has only the inputs that the rule uses."""
        shared = self.shared
        queries = shared.asked(setting.setting, system.name)
        inputs: dict[str, Any] = {"queries": queries, "corpus": shared.passages}
        if setting.uses & {"gold", "noise"}:
            inputs["qrels"] = shared.qrels
        if "noise" in setting.uses and shared.noise is not None:
            inputs["noise_run"] = self._rank(shared.noise, shared.answered)
        if "retrieved" in setting.uses and run is not None:
            inputs["run"] = run
        return self._step("context", setting, system, **inputs)

    def _score_ranking(self, system: System, run: Step, queries: StoredTable) -> Step:
        inputs: dict[str, Any] = {"queries": queries, "run": run}
        inputs |= self.shared.datastore(system).judgements
        return self._step("score-ranking", self.ranking_metrics, system, **inputs)

    def _step(
        self, name: str, component: Any, system: System, **inputs: Step | StoredTable
    ) -> Step:
        # The settings of contexts keep the judgements of the data set.
        near = self.shared.datastore(system).qrels if name == "retrieve" else self.shared.qrels
        data = {"corpus": self.shared.passages, "qrels": near}
        inputs |= {role: data[role] for role in sorted(DATA & component.uses)}
        self._fit(inputs, component.fields_read)
        # Components of one class with equal fields share their steps.
        kind = type(component)
        values = (repr(getattr(component, f.name)) for f in dataclasses.fields(component))
        given = ((role, _identity(source)) for role, source in inputs.items())
        key = (name, kind.__module__, kind.__qualname__, *values, *given)
        step = Step(name, component, inputs, system=system.name)
        return self._steps.setdefault(key, step)

    def _fit(self, inputs: dict[str, Step | StoredTable], fields: frozenset[str]) -> None:
        """Give a step the queries and passages with the fields that it reads, and no others."""
        if "corpus" in inputs and "passage_labels" in fields:
            inputs["corpus"] = self.shared.labelled
        queries = inputs.get("queries")
        if isinstance(queries, StoredTable):
            withheld = frozenset({"gold_answers", "labels"} - fields)
            view = queries.digest, withheld
            if view not in self._views:
                self._views[view] = without(queries, withheld)
            inputs["queries"] = self._views[view]


def _repeat(number: int) -> dict[str, StoredTable]:
    """Return the input that distinguishes a repeat from the first one, which has none."""
    if not number:
        return {}
    return {"repeat": StoredTable.in_memory(to_table(REPEAT, {"repeat": [number]}))}


def without(table: StoredTable, columns: frozenset[str]) -> StoredTable:
    """Return a table without some columns; a label then changes no key of a step without labels."""
    return table.without(columns) if columns else table


def _identity(source: Step | StoredTable) -> str | int:
    return source.digest if isinstance(source, StoredTable) else id(source)
