"""The steps of an experiment: the inputs of each, and its function from records to outcomes.

    form query -> retrieve -> rerank -> build context -> process -> generate -> score, judge

A step applies a component to tables, and its result is stored under everything that could change
it. `compute` is the only place that turns tables into records and outcomes into a table.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from ragstone.components.context_settings.passage_sources import PassageSources
from ragstone.components.context_settings.retrieved import Retrieved
from ragstone.components.context_settings.shown import as_context
from ragstone.components.judges.scoring import judge_predictions
from ragstone.core import limits
from ragstone.core.component import Component, Outcome, run_component
from ragstone.core.rankings import Rankings
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
    to_table,
)
from ragstone.core.stored_table import StoredTable
from ragstone.data.lazy_rows import JudgementRows
from ragstone.errors import ComponentError
from ragstone.experiment.answer_scores import ScoredAnswers
from ragstone.experiment.metric_set import MetricSet
from ragstone.experiment.ranking_scores import ScoredRankings
from ragstone.experiment.reported import (
    ReportedContexts,
    reported_contexts,
    reported_hops,
    reported_run,
    with_foreign,
)
from ragstone.experiment.searches import by_collection, without_text
from ragstone.types import Ranking, Search, brief, tasks_of

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.protocols import Generator, Services
    from ragstone.types import Context, Prediction, Query

Outcomes: TypeAlias = Iterable[Outcome[Any]]


@dataclass(frozen=True, eq=False)
class Step:
    """A component applied to the results of other steps."""

    name: str
    component: Component
    inputs: Mapping[str, Step | StoredTable]
    system: str = ""
    """The system to name in errors: the first that has the step."""

    def __repr__(self) -> str:
        """Return one line: the name, the component's class and the names of the inputs."""
        inputs = (
            f"{role}={given.name}" if isinstance(given, Step) else role
            for role, given in self.inputs.items()
        )
        return brief(self, self.name, type(self.component).__name__, *inputs)

    @property
    def owner(self) -> str:
        """The system, as errors name it."""
        return f"system {self.system!r}" if self.system else ""

    @property
    def kind(self) -> StepKind:
        """The functions that all steps of this name share."""
        return KINDS[self.name]


class StepKind(NamedTuple):
    """The functions that steps of one name share."""

    apply: Callable[..., Any]
    """Called with the component, the services and the inputs; returns one outcome per query.

    If `in_columns`, it gets the inputs that are not by query, and returns the scores to which
    blocks of queries are added.
    """
    to_table: Callable[[Sequence[str], Sequence[Any]], Table] | None = None
    """Turns query ids and values into a table. If None, `apply` turns tables into a `Result`."""
    in_columns: bool = False
    cheap: bool = False
    """Whether a plan may compute the step if its component runs no model."""


class Result(NamedTuple):
    """The result of a step: its table, and the facts that are stored beside it."""

    table: Table
    failed: int = 0
    """Items that the next run computes again."""
    reasons: Mapping[str, int] | None = None
    """Why values are missing or fallbacks -> number of items."""
    beside: Mapping[str, Mapping[str, float]] | None = None
    """Metric -> figures of all answers together."""


def known_inputs(step: Step, known: Mapping[Step, StoredTable]) -> Mapping[str, StoredTable] | None:
    """Return the tables that a step takes; None if one is not known yet."""
    found = {
        name: known.get(given) if isinstance(given, Step) else given
        for name, given in step.inputs.items()
    }
    tables = {name: table for name, table in found.items() if table is not None}
    return tables if len(tables) == len(found) else None


def input_records(tables: Mapping[str, Table]) -> dict[str, Any]:
    """Return the records of input tables, without the corpus, which is a service."""
    return {
        # The runs of a fusion are called `run_0`, `run_1` and so on.
        name: _READERS["run" if name.startswith("run_") else name](table)
        for name, table in tables.items()
        if name != "corpus"
    }


def _form(query_former: Component, services: Services, queries: Sequence[Query]) -> Outcomes:
    for query, formed in zip(queries, run_component(query_former, services, queries), strict=True):
        yield replace(formed, value=query.text if formed.value is None else formed.value)


def _retrieve(
    retriever: Component,
    services: Services,
    searches: Sequence[Search],
    collections: Mapping[str, str] | None = None,
) -> Outcomes:
    """Return one ranking per search, of the passages in its query's collection."""
    found = without_text(searches, retriever)
    asked = [search for search in searches if search.query_id not in found]
    for own, within in by_collection(asked, collections, services):
        for search, outcome in zip(own, run_component(retriever, within, own), strict=True):
            ranking = Ranking() if outcome.value is None else outcome.value
            checked = _checked(ranking, search, within.corpus, retriever)
            found[search.query_id] = replace(outcome, value=checked)
    return [found[search.query_id] for search in searches]


def _fuse(
    retriever: Any, _: Services, searches: Sequence[Search], **runs: Mapping[str, Ranking]
) -> Outcomes:
    lists = [[run.get(search.query_id, Ranking()) for search in searches] for run in runs.values()]
    places = zip(searches, zip(*lists, strict=True), retriever.fuse(lists), strict=True)
    for search, given, ranking in places:
        known = {passage_id for one in given for passage_id in one.passage_ids}
        yield Outcome(_checked(ranking, search, known, retriever))


def _rerank(
    reranker: Component,
    services: Services,
    searches: Sequence[Search],
    run: Mapping[str, Ranking],
) -> Outcomes:
    given = [run.get(search.query_id, Ranking()) for search in searches]
    found = run_component(reranker, services, searches, given)
    for search, before, outcome in zip(searches, given, found, strict=True):
        ranking = before if outcome.value is None else outcome.value
        yield replace(outcome, value=_checked(ranking, search, services.corpus, reranker))


def _build(
    setting: Any, services: Services, queries: Sequence[Query], **inputs: Mapping[str, Any]
) -> Outcomes:
    if type(setting) is Retrieved and isinstance(run := inputs.get("run"), Rankings):
        # Its rule reads no passage below `top_k`; other rules may read whole rankings.
        inputs["run"] = run.first(setting.top_k)
    sources = PassageSources(services.corpus, setting.uses, services.qrels, **inputs)
    candidates = [sources.candidates(query) for query in queries]
    outcomes = run_component(setting, services, candidates)
    for given, outcome in zip(candidates, outcomes, strict=True):
        yield replace(outcome, value=as_context(outcome.value, given, setting.setting))


def _process(
    processor: Component,
    services: Services,
    queries: Sequence[Query],
    contexts: Mapping[str, Context],
) -> Outcomes:
    tasks = tasks_of(queries, contexts)
    for task, outcome in zip(tasks, run_component(processor, services, tasks), strict=True):
        context = task.context if outcome.value is None else outcome.value
        yield replace(outcome, value=_of_query(context, task.query, processor))


def _generate(
    generator: Generator,
    services: Services,
    queries: Sequence[Query],
    contexts: Mapping[str, Context],
) -> Outcomes:
    found = run_component(generator, services, tasks_of(queries, contexts))
    for query, outcome in zip(queries, found, strict=True):
        given = generator.prediction_of(query.query_id, outcome)
        if _of_query(given, query, generator).answer is None:
            reason = given.reason or outcome.reason
            yield Outcome(replace(given, reason=reason), reason, retry=True)
        else:
            yield replace(outcome, value=given)


def _judge(
    judge: Any,
    services: Services,
    queries: Sequence[Query],
    contexts: Mapping[str, Context],
    predictions: Sequence[Prediction],
) -> Outcomes:
    return judge_predictions(judge, services, queries, contexts, predictions)


def _scored_rankings(metrics: MetricSet, services: Services, **shared: Table) -> ScoredRankings:
    return ScoredRankings(metrics, services, **shared)


def _scored_answers(metrics: MetricSet, _: Services) -> ScoredAnswers:
    return ScoredAnswers(metrics.metrics, knows_context=metrics.knows_context)


def _reported_contexts(
    component: ReportedContexts,
    services: Services,
    predictions: Table,
    corpus: Table,
    collections: Table | None = None,
) -> Result:
    table, reasons = reported_contexts(component.setting, predictions, corpus)
    if collections is not None:
        table = with_foreign(table, predictions, services.corpus, collections)
    return Result(table, reasons=reasons)


KINDS: Final[Mapping[str, StepKind]] = {
    "form": StepKind(
        _form, lambda ids, texts: to_table(SEARCHES, {"query_id": ids, "text": texts}), cheap=True
    ),
    "retrieve": StepKind(_retrieve, rankings_to_table, cheap=True),
    "fuse": StepKind(_fuse, rankings_to_table, cheap=True),
    "rerank": StepKind(_rerank, rankings_to_table),
    "score-ranking": StepKind(_scored_rankings, in_columns=True),
    "context": StepKind(_build, lambda _, contexts: contexts_to_table(contexts), cheap=True),
    "process": StepKind(_process, lambda _, contexts: contexts_to_table(contexts), cheap=True),
    "generate": StepKind(_generate, lambda _, predictions: predictions_to_table(predictions)),
    "reported-run": StepKind(lambda _, __, **tables: Result(reported_run(**tables))),
    "reported-context": StepKind(_reported_contexts),
    "reported-hops": StepKind(lambda _, __, **tables: Result(reported_hops(**tables))),
    "score-answer": StepKind(_scored_answers, in_columns=True),
    "judge": StepKind(_judge, lambda _, found: scores_to_table([s for one in found for s in one])),
}
"""Name of a step -> its function. Steps that cost little come before those that wait for models."""

SHARED_INPUTS: Final = frozenset({"corpus", "qrels", "collections", "translations", "repeat"})
"""Inputs whose rows are not by query in the order of the queries."""

_READERS: Final[Mapping[str, Callable[[Table], Any]]] = {
    "queries": table_to_queries,
    "searches": lambda table: [Search(row["query_id"], row["text"]) for row in rows(table)],
    "qrels": JudgementRows,
    "collections": lambda table: dict(zip(*columns(table).values(), strict=True)),
    "run": table_to_rankings,
    "noise_run": table_to_rankings,
    "contexts": lambda table: {c.query_id: c for c in table_to_contexts(table)},
    "predictions": table_to_predictions,
    "repeat": lambda table: columns(table)["repeat"][0],
}
"""Name of an input -> the reader of its records."""


def _of_query(value: Any, query: Query, part: object) -> Any:
    """Return the value; raise `ComponentError` if it belongs to another query."""
    if value.query_id != query.query_id:
        name = type(part).__name__
        raise ComponentError(
            f"{name} returned a {type(value).__name__.lower()} of query {value.query_id!r} in the "
            f"place of query {query.query_id!r}; it must return one per item, in order",
            component=name,
            query_id=query.query_id,
        )
    return value


def _checked(ranking: Ranking, search: Search, corpus: Container[str], part: Component) -> Ranking:
    """Return the ranking; raise `ComponentError` if it cannot be scored."""
    problem = next(_problems(ranking, corpus), "")
    if problem:
        raise ComponentError(
            f"{type(part).__name__} returned a ranking for query {search.query_id!r} {problem}",
            component=type(part).__name__,
            query_id=search.query_id,
        )
    return ranking


def _problems(ranking: Ranking, corpus: Container[str]) -> Iterator[str]:
    ids = ranking.passage_ids
    unknown = [passage_id for passage_id in ids if passage_id not in corpus]
    if unknown:
        yield (
            f"with {unknown[0]!r}, which is not a passage of the corpus ({len(unknown)} unknown "
            f"ids of {len(ids)})"
        )
    if len(set(ids)) < len(ids):
        yield "that contains a passage twice"
    if len(ranking.scores) != len(ids) or not all(map(math.isfinite, ranking.scores)):
        yield (
            f"with {len(ids)} passages; each needs a score that is a finite number, found "
            f"{list(ranking.scores)[: limits.MAX_LISTED_VALUES]}"
        )
