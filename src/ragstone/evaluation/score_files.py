"""Metrics of existing runs and answers; each mean has n, missing, failed and an interval.

>>> print(evaluate_answers({"q1": "It is Paris."}, {"q1": ["Paris"], "q2": ["1912"]}, ["Match"]))
metric    mean    interval          n    failed    n/a    missing    other view
--------  ------  ----------------  ---  --------  -----  ---------  -----------------------
Match     0.5000  [0.0126, 0.9874]  2    1         0      1          1.000 of the 1 answered
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal

import numpy as np

from ragstone.components.judges.scoring import judge_predictions
from ragstone.components.metrics.base import AnswerMetric, RankingMetric
from ragstone.components.metrics.document_level import rank_documents
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.components.metrics.score import (
    ceilings,
    figures_beside,
    refuse_duplicates,
    score_answers,
    score_rankings,
)
from ragstone.components.metrics.score_columns import SCORED, STATUSES, ScoreColumns
from ragstone.core.schemas import SCORES, joined, scores_to_table
from ragstone.data.matching_ids import check_ids, check_passages
from ragstone.data.readers.run_columns import QrelColumns
from ragstone.data.readers.scores import clusters_by_id, clusters_by_label
from ragstone.errors import ConfigError, DatasetError
from ragstone.evaluation.answered import Answered
from ragstone.evaluation.evaluation import Evaluation
from ragstone.protocols import Services
from ragstone.statistics.failures import (
    Scale,
    check_policy,
    summarise_columns,
    summarise_scores,
)
from ragstone.statistics.summary import (
    Policy,
    Summary,
    clusters_of,
)
from ragstone.types import Prediction, Query, Ranking

if TYPE_CHECKING:
    from arro3.core import Table
    from numpy.typing import NDArray

    from ragstone.protocols import Judge
    from ragstone.types import Context


def evaluate_run(
    qrels: Mapping[str, Mapping[str, int]],
    run: Mapping[str, Ranking | Mapping[str, float]],
    metrics: Sequence[str | RankingMetric],
    *,
    document_of: Callable[[str], str] | None = None,
    variant: Literal["corrected", "paper"] = "corrected",
    clusters: Mapping[str, str] | None = None,
    subtopics: Mapping[str, Mapping[str, Mapping[str, int]]] | None = None,
    failures: Policy = "wrong",
) -> Evaluation:
    """Return the means of ranking metrics over all judged queries.

    Args:
        qrels: query id -> passage id -> grade; 1 or more is relevant.
        run: query id -> ranking, or passage id -> score. A judged query without one is failed.
        metrics: names such as "nDCG@10".
        document_of: passage id -> document id, if the qrels are at document level.
        variant: variant of the document ranking, see `ragstone.components.metrics.document_level`.
        clusters: query id -> cluster (default: the part of the id before "::", the conversation, if
            all ids have one).
        subtopics: query id -> subtopic -> passage id -> grade, for alpha-nDCG.
        failures: the failure policy: `wrong`, `exclude` or `bounds`
            (`ragstone.statistics.failures`).

    Raises:
        ConfigError: an unknown metric, a metric of answers, an unknown policy, or alpha-nDCG
            without subtopics.
        DatasetError: no query has a relevant passage, or a score is not a finite number.

    >>> found = evaluate_run({"q1": {"p1": 1}, "q2": {"p9": 1}}, {"q1": {"p1": 2.5}}, ["R@5"])
    >>> found["R@5"].mean, found["R@5"].missing, found.missing
    (0.5, 1, ('q2',))
    """
    check_policy(failures)
    parsed = parsed_metrics(metrics)
    if document_of is not None:
        held = {q: r if isinstance(r, Ranking) else _ranking(r) for q, r in run.items()}
        run = rank_documents(held, document_of, "bergen" if variant == "paper" else "corrected")
    judged = _with_relevant(qrels)
    check_ids(run, qrels, ("the run", "the qrels"))
    _check_subtopics(parsed, given=bool(subtopics))
    table = score_rankings(parsed, qrels, run, subtopics=subtopics)
    check_passages(qrels, run)
    missing = tuple(query_id for query_id in judged if query_id not in run)
    extra = tuple(query_id for query_id in run if query_id not in qrels)
    check_ids(clusters or (), judged, ("the clusters", "the judged queries"))
    groups = clusters_by_id(qrels) if clusters is None else clusters
    scales = scales_of(parsed, failures)
    return Evaluation(
        summaries=_summaries(table, frozenset(missing), groups, scales),
        table=table,
        missing=missing,
        extra=extra,
        scales=scales,
        ceilings=ceilings(parsed, qrels, judged),
        clusters=groups,
    )


def _with_relevant(qrels: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return the queries with a relevant passage; raise `DatasetError` if there are none."""
    judged = (
        qrels.with_relevant()
        if isinstance(qrels, QrelColumns)
        else [q for q, grades in qrels.items() if any(grade > 0 for grade in grades.values())]
    )
    if not judged:
        raise DatasetError(
            f"none of the {len(qrels):,} queries of the qrels has a relevant passage (grade 1 or "
            "more); there is nothing to score against"
        )
    return judged


def _check_subtopics(metrics: Sequence[RankingMetric | AnswerMetric], *, given: bool) -> None:
    needed = next((metric for metric in metrics if "subtopics" in metric.requires), None)
    if needed and not given:
        raise ConfigError(
            f"{needed} needs subtopics, as the second of the four columns of a qrels file"
        )


def _without_collections(
    metrics: Sequence[RankingMetric | AnswerMetric],
) -> Sequence[RankingMetric | AnswerMetric]:
    """Return the metrics; raise `ConfigError` if one needs the collections of a data set."""
    needed = next((metric for metric in metrics if "collections" in metric.requires), None)
    if needed:
        raise ConfigError(
            f"{needed} needs the collections of a data set; measure it in an experiment, "
            "with the setting 'system'"
        )
    return metrics


def _ranking(scores: Mapping[str, float]) -> Ranking:
    ordered = sorted(((score, p) for p, score in scores.items()), reverse=True)
    return Ranking([p for _, p in ordered], [score for score, _ in ordered])


def evaluate_answers(
    answers: Mapping[str, str | None] | Sequence[Prediction],
    gold: Mapping[str, Sequence[str]] | Sequence[Query],
    metrics: Sequence[str | AnswerMetric],
    *,
    contexts: Mapping[str, Context] | None = None,
    clusters: Mapping[str, str] | None = None,
    failures: Policy = "wrong",
    judges: Sequence[Judge] = (),
    services: Services | None = None,
) -> Evaluation:
    """Return the means of answer metrics, and of judges' verdicts, over all queries of `gold`.

    Args:
        answers: query id -> answer, or predictions. A query without one, or with None, is failed.
        gold: query id -> gold answers, or queries. The text, language and conversation of queries
            are used too.
        metrics: names such as "F1".
        contexts: query id -> context of the generator, for "answer-in-context".
        clusters: query id -> cluster (default: the queries' label `conversation` or `document`).
        failures: the failure policy: `wrong`, `exclude` or `bounds`
            (`ragstone.statistics.failures`).
        judges: judges that grade the answers; those with a model need `services`.
        services: the way to the judges' models.

    Raises:
        ConfigError: an unknown metric, a metric of rankings, or an unknown policy.
        CallError: the model of a judge cannot be reached.
        DatasetError: a query is listed twice, or there is no query.

    >>> evaluate_answers({"q1": "Paris, France"}, {"q1": ["Paris"]}, ["EM", "F1"])["F1"].mean
    0.6666666666666666
    """
    check_policy(failures)
    queries, given = _queries(gold), _predictions(answers)
    if not queries:
        raise DatasetError("there is no query with gold answers")
    known = {query.query_id: query for query in queries}
    check_ids(given, known, ("the answers", "the gold answers"))
    missing = tuple(query_id for query_id in known if query_id not in given)
    extra = tuple(query_id for query_id in given if query_id not in known)
    predictions = [given.get(i) or Prediction(i, None, "no answer was given") for i in known]
    shown, parsed = contexts or {}, _without_collections(parsed_metrics(metrics))
    by_metrics = score_answers(parsed, queries, predictions, [shown.get(i) for i in known])
    by_judges = [_judged(judge, services, queries, shown, predictions) for judge in judges]
    table = joined([by_metrics, *by_judges], SCORES)
    check_ids(clusters or (), known, ("the clusters", "the queries"))
    groups = clusters_by_label(queries)[1] if clusters is None else clusters
    scales = scales_of(parsed, failures)
    scales |= {m: Scale(j.range, j.direction, failures) for j in judges for m in j.metrics}
    return Evaluation(
        summaries=_summaries(table, frozenset(missing), groups, scales),
        table=table,
        missing=missing,
        extra=extra,
        clusters=groups,
        scales=scales,
        beside=figures_beside(parsed, queries, predictions),
        answered=Answered.of(queries, predictions, shown),
    )


def _judged(
    judge: Judge,
    services: Services | None,
    queries: Sequence[Query],
    contexts: Mapping[str, Context],
    predictions: Sequence[Prediction],
) -> Table:
    """Return the scores of a judge, metric by metric."""
    served = services or Services()
    judge.check(served)
    outcomes = judge_predictions(judge, served, queries, contexts, predictions)
    found = [score for outcome in outcomes for score in outcome.value or ()]
    order = {metric: place for place, metric in enumerate(judge.metrics)}
    return scores_to_table(sorted(found, key=lambda score: order[score.metric]))


def _queries(gold: Mapping[str, Sequence[str]] | Sequence[Query]) -> list[Query]:
    if not isinstance(gold, Mapping):
        refuse_duplicates("query id", [query.query_id for query in gold])
        return list(gold)
    for query_id, listed in gold.items():
        if isinstance(listed, str):
            raise DatasetError(
                f"the gold answers of query {query_id!r} are the text {listed!r}; give a list"
            )
    return [Query(query_id, "", tuple(listed)) for query_id, listed in gold.items()]


def _predictions(
    answers: Mapping[str, str | None] | Sequence[Prediction],
) -> dict[str, Prediction]:
    if isinstance(answers, Mapping):
        for query_id, answer in answers.items():
            if not isinstance(answer, str | None):
                raise DatasetError(
                    f"the answer of query {query_id!r} is {answer!r}; give a text, or None"
                )
        why = "no answer was given"
        return {q: Prediction(q, a, why if a is None else "") for q, a in answers.items()}
    refuse_duplicates("prediction", [one.query_id for one in answers])
    return {one.query_id: one for one in answers}


def parsed_metrics(
    metrics: str | Sequence[str | RankingMetric | AnswerMetric],
) -> list[RankingMetric | AnswerMetric]:
    """Return the metrics; raise `ConfigError` for one that needs repeated answers."""
    listed = [metrics] if isinstance(metrics, str) else metrics
    found = [parse_metric(m) if isinstance(m, str) else m for m in listed]
    for metric in found:
        if isinstance(metric, RepeatMetric):
            raise ConfigError(
                f"{metric} needs several answers of a system to each query; run an experiment with "
                "the key `repeats`",
                key="metrics",
                value=str(metric),
            )
    return found


def scales_of(
    metrics: Iterable[RankingMetric | AnswerMetric], failures: Policy
) -> dict[str, Scale]:
    """Return metric -> its range and direction, with the failure policy."""
    return {str(m): Scale(m.range, m.direction, failures) for m in metrics}


def summaries_of(
    scores: ScoreColumns, missing: NDArray[np.int64], scales: Mapping[str, Scale]
) -> dict[str, Summary]:
    """Return metric -> summary of scores by column, given the places of the missing queries."""
    found = {}
    for metric in scores.names:
        values, status = scores.values(metric)
        places = {name: np.flatnonzero(status == code) for code, name in enumerate(STATUSES)}
        failed = status[missing] == STATUSES.index("failed")
        found[metric] = summarise_columns(
            values, status == SCORED, places, scales[metric], missing=int(failed.sum())
        )
    return found


def _summaries(
    table: Table,
    missing: frozenset[str],
    clusters: Mapping[str, str],
    scales: Mapping[str, Scale],
) -> dict[str, Summary]:
    """Return metric -> summary of a table of scores, whose rows are metric by metric."""
    needed = ("value", "status", *(("query_id",) if missing or clusters else ()))
    held = {name: list(table.column(name).to_pylist()) for name in needed}
    found, start = dict[str, Summary](), 0
    for metric, rows in groupby(table.column("metric").to_pylist()):
        part = slice(start, start + len(list(rows)))
        start = part.stop
        values, statuses, *ids = (held[name][part] for name in needed)
        query_ids = ids[0] if ids else ()
        pairs = zip(query_ids, statuses, strict=True) if missing else ()
        found[metric] = summarise_scores(
            values,
            statuses,
            scales[metric],
            clusters=clusters_of(query_ids, clusters),
            missing=sum(status == "failed" and q in missing for q, status in pairs),
        )
    return found


def average(
    collections: Sequence[Evaluation], kind: Literal["weighted", "macro"]
) -> dict[str, float]:
    """Return metric -> average over collections, weighted by queries or macro.

    mtRAG's script weights by the number of predicted tasks. That is the number of queries in the
    mean if every query with qrels has a prediction. MTRAG-UN reports the macro average.
    """
    found: dict[str, float] = {}
    for name in collections[0].summaries:
        held = [one.summaries[name] for one in collections]
        kept = [(s.mean, s.n if kind == "weighted" else 1) for s in held if s.mean is not None]
        if kept:
            found[name] = sum(mean * n for mean, n in kept) / sum(n for _, n in kept)
    return found
