"""The steps of one trial: one system, under one context setting, on one data set.

    form query -> retrieve -> rerank -> build context -> process -> generate -> score, judge

Each step is a function from tables to a table, kept in the store under everything that could change
it, so steps that trials have in common (a ranking, a closed-book answer) are computed once.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragstone.components import metrics as metrics_
from ragstone.components.context_settings.passage_sources import PassageSources
from ragstone.components.metrics.base import AnswerMetric
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.schemas import (
    SEARCHES,
    columns,
    contexts_to_table,
    predictions_to_table,
    rankings_to_table,
    rows,
    scores_to_table,
    table_to_contexts,
    table_to_predictions,
    table_to_queries,
    table_to_rankings,
    table_to_relevance,
    to_table,
)
from ragstone.core.store import StoredTable
from ragstone.errors import RagstoneError
from ragstone.experiment.system import Trial
from ragstone.protocols import (
    AskingFormer,
    AskingProcessor,
    AskingReranker,
    CallingProcessor,
    CallingRetriever,
    FusingRetriever,
    JudgedRetriever,
)
from ragstone.types import Formed, Processed, Ranking, Reranked, Search, Task

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.calls.client import Calls
    from ragstone.components.metrics.base import RankingMetric
    from ragstone.experiment.system import Bench, System
    from ragstone.protocols import (
        ContextBuilder,
        Generator,
        Judge,
        Processor,
        QueryFormer,
        Reranker,
        Retriever,
    )
    from ragstone.types import Context


@dataclass(frozen=True)
class MetricSet:
    """Metrics that are computed in one pass over the same rows."""

    names: tuple[str, ...]

    @property
    def revision(self) -> dict[str, Any]:
        """What each metric computes, with its version."""
        return {str(metric): cache_key_parts(metric) for metric in self.metrics}

    def check(self, _calls: Calls) -> None:
        """Let every metric say what it lacks: packages, a model."""
        for metric in self.metrics:
            if isinstance(metric, AnswerMetric):
                metric.check()

    @cached_property
    def metrics(self) -> list[RankingMetric | AnswerMetric]:
        """The metrics themselves."""
        return [metrics_.parse_metric(name) for name in self.names]


def run_trial(
    system: System,
    builder: ContextBuilder,
    metrics: MetricSet,
    run: StoredTable | None,
    bench: Bench,
) -> Trial:
    """Return one trial; `run` is what `rank_queries` gave for the system, where it retrieves."""
    built = build_contexts(builder, run, bench)
    contexts = process_contexts(system, built, bench) if builder.uses else built
    predictions = answer_queries(system, contexts, bench)
    scores = score_answers(metrics, contexts, predictions, bench)
    verdicts = tuple(judge_answers(j, contexts, predictions, bench) for j in bench.judges)
    return Trial(system.name, builder.setting, built, contexts, predictions, scores, verdicts)


def form_queries(system: System, queries: StoredTable, bench: Bench) -> StoredTable:
    """Return the SEARCHES of a system. Where a model is asked, failed calls are made again."""
    fallen_back: list[Formed] = []

    def form(former: QueryFormer | AskingFormer, queries: Table) -> Table:
        held = table_to_queries(queries)
        if isinstance(former, AskingFormer):
            formed = list(former.ask(held, bench.calls))
            fallen_back.extend(one for one in formed if one.reason)
            texts = [one.text for one in formed]
        else:
            texts = former.form(held)
        return to_table(SEARCHES, {"query_id": [q.query_id for q in held], "text": texts})

    return bench.store.get_or_compute(
        "form",
        system.former,
        {"queries": queries},
        form,
        count_failed=lambda _: sum(one.failed for one in fallen_back),
        facts=lambda: {"fallen_back": Counter(one.reason for one in fallen_back)},
    )


def rank_queries(system: System, queries: StoredTable, bench: Bench) -> StoredTable:
    """Return the RUN of a system that has a retriever."""
    searches = form_queries(system, queries, bench)
    run = find_passages(system.retriever, searches, system, bench)
    return run if system.reranker is None else rerank_passages(system, searches, run, bench)


def find_passages(
    retriever: Retriever | None, searches: StoredTable, system: System, bench: Bench
) -> StoredTable:
    """Return the RUN of a retriever; one made of others is fused from their kept RUNs."""
    if isinstance(retriever, FusingRetriever):
        parts = [find_passages(part, searches, system, bench) for part in retriever.retrievers]
        return fuse_runs(retriever, searches, parts, system, bench)
    inputs = {"searches": searches, "corpus": bench.passages}
    if isinstance(retriever, JudgedRetriever):
        inputs["qrels"] = bench.qrels

    def retrieve(retriever: Retriever, searches: Table, **tables: Table) -> Table:
        asked = _searches(searches)
        if isinstance(retriever, JudgedRetriever):
            retriever = retriever.with_qrels(table_to_relevance(tables["qrels"]))
        if isinstance(retriever, CallingRetriever):
            retriever = retriever.with_calls(bench.calls)
        return _run_of(asked, retriever.retrieve(asked, bench.corpus), system, bench)

    return bench.store.get_or_compute("retrieve", retriever, inputs, retrieve)


def fuse_runs(
    retriever: FusingRetriever,
    searches: StoredTable,
    runs: Sequence[StoredTable],
    system: System,
    bench: Bench,
) -> StoredTable:
    """Return the RUN that a fusing retriever makes of those of its parts."""

    def fuse(retriever: FusingRetriever, searches: Table, **parts: Table) -> Table:
        asked = _searches(searches)
        found = [_rankings(asked, run) for run in parts.values()]
        return _run_of(asked, retriever.fuse(found), system, bench)

    inputs = {"searches": searches} | {f"run_{n}": run for n, run in enumerate(runs)}
    return bench.store.get_or_compute("fuse", retriever, inputs, fuse)


def rerank_passages(
    system: System, searches: StoredTable, run: StoredTable, bench: Bench
) -> StoredTable:
    """Return the RUN of a system's reranker. Failed calls of a model are made again."""
    kept_order: list[Reranked] = []

    def rerank(
        reranker: Reranker | AskingReranker, searches: Table, run: Table, **_: Table
    ) -> Table:
        asked = _searches(searches)
        given = _rankings(asked, run)
        if isinstance(reranker, AskingReranker):
            reranked = list(reranker.ask(asked, given, bench.corpus, bench.calls))
            kept_order.extend(one for one in reranked if one.reason)
            return _run_of(asked, [one.ranking for one in reranked], system, bench)
        return _run_of(asked, reranker.rerank(asked, given, bench.corpus), system, bench)

    return bench.store.get_or_compute(
        "rerank",
        system.reranker,
        {"searches": searches, "corpus": bench.passages, "run": run},
        rerank,
        count_failed=lambda _: sum(one.failed for one in kept_order),
        facts=lambda: {"kept_order": Counter(one.reason for one in kept_order)},
    )


def score_rankings(
    metrics: MetricSet, queries: StoredTable, run: StoredTable, bench: Bench
) -> StoredTable:
    """Return the SCORES of a run against the qrels, one row per query and metric."""

    def score(metric_set: MetricSet, queries: Table, run: Table, qrels: Table) -> Table:
        return metrics_.score_rankings(
            metric_set.metrics,
            table_to_relevance(qrels),
            table_to_rankings(run),
            columns(queries)["query_id"],
        )

    inputs = {"queries": queries, "run": run, "qrels": bench.qrels}
    return bench.store.get_or_compute("score-ranking", metrics, inputs, score)


def returned_run(predictions: StoredTable) -> StoredTable | None:
    """Return the RUN that a system of one's own told with its answers, or None if it told none.

    Only order counts: the first passage of n gets the score n. A passage that is named twice stands
    at its first place.
    """
    held = {p.query_id: p.passage_ids for p in table_to_predictions(predictions.table)}
    if all(passage_ids is None for passage_ids in held.values()):
        return None
    ranked = [list(dict.fromkeys(passage_ids or ())) for passage_ids in held.values()]
    rankings = [Ranking(ids, [float(n) for n in range(len(ids), 0, -1)]) for ids in ranked]
    return StoredTable.in_memory(rankings_to_table(list(held), rankings))


def build_contexts(builder: ContextBuilder, run: StoredTable | None, bench: Bench) -> StoredTable:
    """Return the CONTEXTS of a setting; its key holds only what the setting's rule reads."""
    inputs = {"queries": bench.answered, "corpus": bench.passages}
    if builder.uses & {"gold", "noise"}:
        inputs["qrels"] = bench.qrels
    if "noise" in builder.uses and bench.noise is not None:
        inputs["noise_run"] = rank_queries(bench.noise, bench.answered, bench)
    if "retrieved" in builder.uses and run is not None:
        inputs["run"] = run

    def build(rule: ContextBuilder, queries: Table, **tables: Table) -> Table:
        tables.pop("corpus")
        sources = PassageSources(bench.corpus, **tables)
        return contexts_to_table(
            rule.build(query, sources.gold(query), sources.noise(query), sources.retrieved(query))
            for query in table_to_queries(queries)
        )

    return bench.store.get_or_compute("context", builder, inputs, build)


def process_contexts(system: System, contexts: StoredTable, bench: Bench) -> StoredTable:
    """Return the CONTEXTS as a system's processor leaves them. Failed calls are made again."""
    if system.processor is None:
        return contexts
    as_they_came: list[Processed] = []

    def process(processor: Processor | AskingProcessor, queries: Table, contexts: Table) -> Table:
        tasks = to_tasks(queries, contexts)
        if isinstance(processor, AskingProcessor):
            processed = list(processor.ask(tasks, bench.calls))
            as_they_came.extend(one for one in processed if one.reason)
            return _contexts_of(tasks, (one.context for one in processed), system)
        if isinstance(processor, CallingProcessor):
            processor = processor.with_calls(bench.calls)
        return _contexts_of(tasks, processor.process(tasks), system)

    return bench.store.get_or_compute(
        "process",
        system.processor,
        {"queries": bench.answered, "contexts": contexts},
        process,
        count_failed=lambda _: sum(one.failed for one in as_they_came),
        facts=lambda: {"as_they_came": Counter(one.reason for one in as_they_came)},
    )


def answer_queries(system: System, contexts: StoredTable, bench: Bench) -> StoredTable:
    """Return the PREDICTIONS of a system's generator. Failed ones are asked again next time."""

    def generate(generator: Generator, queries: Table, contexts: Table) -> Table:
        tasks = to_tasks(queries, contexts)
        return predictions_to_table(list(generator.generate(tasks, bench.calls)))

    before = bench.calls.usage
    return bench.store.get_or_compute(
        "generate",
        system.generator,
        {"queries": bench.answered, "contexts": contexts},
        generate,
        count_failed=count_failed_predictions,
        facts=lambda: {"calls": dataclasses.asdict(bench.calls.usage - before)},
    )


def score_answers(
    metrics: MetricSet, contexts: StoredTable, predictions: StoredTable, bench: Bench
) -> StoredTable:
    """Return the SCORES of answers, one row per query and metric."""

    def score(metric_set: MetricSet, queries: Table, contexts: Table, predictions: Table) -> Table:
        by_query = {context.query_id: context for context in table_to_contexts(contexts)}
        held = table_to_queries(queries)
        return metrics_.score_answers(
            metric_set.metrics,
            held,
            table_to_predictions(predictions),
            [by_query[query.query_id] for query in held],
        )

    inputs = {"queries": bench.answered, "contexts": contexts, "predictions": predictions}
    return bench.store.get_or_compute("score-answer", metrics, inputs, score)


def judge_answers(
    judge: Judge, contexts: StoredTable, predictions: StoredTable, bench: Bench
) -> StoredTable:
    """Return the SCORES of answers by a judge. Failed calls are made again next time."""

    def grade(judge: Judge, queries: Table, contexts: Table, predictions: Table) -> Table:
        tasks = to_tasks(queries, contexts)
        scores = judge.judge(tasks, table_to_predictions(predictions), bench.calls)
        return scores_to_table(scores)

    before = bench.calls.usage
    return bench.store.get_or_compute(
        "judge",
        judge,
        {"queries": bench.answered, "contexts": contexts, "predictions": predictions},
        grade,
        count_failed=lambda scores: sum("the call failed" in r for r in columns(scores)["reason"]),
        facts=lambda: {"calls": dataclasses.asdict(bench.calls.usage - before)},
    )


def to_tasks(queries: Table, contexts: Table) -> list[Task]:
    """Return each query with its context, joined by query id."""
    by_query = {context.query_id: context for context in table_to_contexts(contexts)}
    return [Task(query, by_query[query.query_id]) for query in table_to_queries(queries)]


def count_failed_predictions(predictions: Table) -> int:
    """Return how many predictions have no answer."""
    return sum(answer is None for answer in columns(predictions)["answer"])


def _searches(table: Table) -> list[Search]:
    return [Search(row["query_id"], row["text"]) for row in rows(table)]


def _rankings(searches: Sequence[Search], run: Table) -> list[Ranking]:
    """Return one ranking per search; empty where the run has none."""
    found = table_to_rankings(run)
    return [found.get(search.query_id, Ranking()) for search in searches]


def _run_of(
    searches: Sequence[Search], rankings: Iterable[Ranking], system: System, bench: Bench
) -> Table:
    """Return the RUN of some rankings; raise `RagstoneError` where they break the contract."""
    held = list(rankings)
    who = f"system {system.name!r}"
    if len(held) != len(searches):
        raise RagstoneError(f"{who} returned {len(held)} rankings for {len(searches)} searches")
    for search, ranking in zip(searches, held, strict=True):
        ids = ranking.passage_ids
        strange = [passage_id for passage_id in ids if passage_id not in bench.corpus]
        if strange:
            raise RagstoneError(
                f"{who} ranked {strange[0]!r} for query {search.query_id!r}, which is no passage "
                f"of the corpus ({len(strange)} such of {len(ids)})"
            )
        if len(set(ids)) < len(ids):
            raise RagstoneError(f"{who} ranked a passage twice for query {search.query_id!r}")
        if len(ranking.scores) != len(ids) or not all(map(math.isfinite, ranking.scores)):
            raise RagstoneError(
                f"{who} must give each of the {len(ids)} passages ranked for query "
                f"{search.query_id!r} a score that is a finite number"
            )
    return rankings_to_table([search.query_id for search in searches], held)


def _contexts_of(tasks: Sequence[Task], contexts: Iterable[Context], system: System) -> Table:
    """Return the CONTEXTS a processor made; raise `RagstoneError` unless there is one per task."""
    held = list(contexts)
    if [one.query_id for one in held] != [task.query.query_id for task in tasks]:
        raise RagstoneError(
            f"the processor of system {system.name!r} returned {len(held)} contexts for "
            f"{len(tasks)} tasks; it must return one per task, in order, under the task's query_id"
        )
    return contexts_to_table(held)
