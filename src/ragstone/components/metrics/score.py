"""Metrics over many queries: a table with one row per query and metric, with a reason if blank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import numpy as np

from ragstone.components.metrics.base import (
    UNKNOWN_CONTEXT,
    AnswerMetric,
    RankingMetric,
    Scored,
)
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.rank_columns import rank_any
from ragstone.components.metrics.ranking_batch import Languages, Qrels, Run, Subtopics
from ragstone.core.schemas import SCORES, to_table
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.types import Context, Prediction, Query, Status

    Cell: TypeAlias = tuple[float | None, Status, str]
    """Value, status and reason."""

BATCH: Final = 1024
"""Pairs scored at once: their texts and tokens fit into the processor's cache."""
NO_RELEVANT: Final = "the qrels contain no relevant passage for this query"
Kind = TypeVar("Kind", RankingMetric, AnswerMetric)


def score_rankings(
    metrics: Sequence[RankingMetric | AnswerMetric | str],
    qrels: Qrels,
    rankings: Run,
    query_ids: Sequence[str] | None = None,
    *,
    subtopics: Subtopics | None = None,
    documents: Mapping[str, str] | None = None,
    languages: Languages | None = None,
    no_relevant: str = NO_RELEVANT,
) -> Table:
    """Return the scores of rankings against relevance judgements, one row per query and metric.

    Args:
        metrics: ranking metrics, or their names.
        qrels: query id -> passage id -> grade; a grade of 1 or more is relevant.
        rankings: query id -> ranking (or passage id -> score). A query without one is "failed".
        query_ids: the queries to score, in this order; by default all queries of the qrels.
        subtopics: query id -> subtopic -> passage id -> grade, for alpha-nDCG.
        documents: passage id -> document id, for metrics of the level `document`.
        languages: the languages of queries and passages, for same-language.
        no_relevant: the reason why no metric applies to a query without relevant passages.

    A query without relevant passages, or without one of the grade that the metric asks for, is
    "not_applicable".

    Raises:
        ConfigError: a metric is not a ranking metric.
        DatasetError: a query id is listed twice, or a score is not a finite number.
    """
    chosen_ids = list(qrels) if query_ids is None else list(query_ids)
    refuse_duplicates("query id", chosen_ids)
    problem = "answers, not rankings; rankings take nDCG@10, R@5 ..."
    chosen = _parsed(metrics, RankingMetric, problem)
    ranks = rank_any(qrels, rankings, chosen_ids, subtopics or {}, documents, languages=languages)
    bare = np.flatnonzero(ranks.relevant() == 0).tolist()
    absent = [i for i, query_id in enumerate(chosen_ids) if query_id not in rankings]
    found = []
    for metric in chosen:
        cells = _cells(metric.scored(ranks))
        for i in absent:
            if cells[i][1] == "scored":
                cells[i] = (None, "failed", "the query is not in the run")
        for i in bare:
            cells[i] = _blank(no_relevant)
        found.append(cells)
    return _table(chosen_ids, chosen, found)


def ceilings(
    metrics: Sequence[RankingMetric | AnswerMetric], qrels: Qrels, query_ids: Sequence[str]
) -> dict[str, float]:
    """Return metric -> mean of perfect rankings, if a perfect ranking does not reach 1.

    The mean is over the queries that the metric applies to.

    >>> ceilings([parse_metric("P@5")], {"q": {"a": 1}}, ["q"])
    {'P@5': 0.2}
    """
    perfect = rank_any(qrels, {}, query_ids).perfect
    found = {}
    for metric in metrics:
        if isinstance(metric, RankingMetric) and metric.direction == "higher" and metric.range:
            scored = metric.scored(perfect)
            values = np.delete(scored.values, list(scored.inapplicable))
            if len(values) and values.mean() < 1.0 - 1e-12:
                found[str(metric)] = float(values.mean())
    return found


def score_answers(
    metrics: Sequence[AnswerMetric | RankingMetric | str],
    queries: Sequence[Query],
    predictions: Sequence[Prediction],
    contexts: Sequence[Context | None] | None = None,
) -> Table:
    """Return the scores of predictions, one row per query and metric.

    `queries`, `predictions` and `contexts` have the same length and order. A prediction without an
    answer is "failed" with its reason. A query without gold answers, or without a known context, is
    "not_applicable" for the metrics that need them. An empty answer scores 0 in every metric that
    compares texts.

    Raises:
        ConfigError: a metric is not an answer metric.
        DatasetError: the sequences differ in length or in their query ids.
    """
    shown = [None] * len(queries) if contexts is None else contexts
    _check_aligned(queries, predictions, shown)
    chosen = _parsed(metrics, AnswerMetric, "rankings, not answers; answers take Match, EM, F1 ...")
    found: list[list[Cell]] = [[] for _ in chosen]
    for start in range(0, len(queries), BATCH):
        part = slice(start, start + BATCH)
        _score_batch(found, chosen, queries[part], predictions[part], shown[part])
    return _table([query.query_id for query in queries], chosen, found)


def figures_beside(
    metrics: Sequence[AnswerMetric | RankingMetric | str],
    queries: Sequence[Query],
    predictions: Sequence[Prediction],
) -> dict[str, dict[str, float]]:
    """Return metric -> figures of all answers together, such as the macro-F1 of `label`.

    Metrics without such figures are left out; `queries` and `predictions` have the same order.
    """
    answers = [prediction.answer for prediction in predictions]
    gold = [query.gold_answers for query in queries]
    parsed = [parse_metric(metric) if isinstance(metric, str) else metric for metric in metrics]
    found = {str(m): m.beside(answers, gold) for m in parsed if isinstance(m, AnswerMetric)}
    return {name: dict(figures) for name, figures in found.items() if figures}


def _score_batch(
    found: Sequence[list[Cell]],
    metrics: Sequence[AnswerMetric],
    queries: Sequence[Query],
    predictions: Sequence[Prediction],
    contexts: Sequence[Context | None],
) -> None:
    from ragstone.components.metrics.answer_batch import AnswerBatch, without_blank

    pairs = AnswerBatch(
        answers=[prediction.answer or "" for prediction in predictions],
        gold=[without_blank(query.gold_answers) for query in queries],
        query_texts=[query.text for query in queries],
        contexts=contexts,
        languages=[str(query.labels.get("language", "")) for query in queries],
        query_labels=[query.labels for query in queries],
        predictions=predictions,
    )
    failed: dict[int, Cell] = {
        i: (None, "failed", p.reason or "the prediction has no answer and no reason")
        for i, p in enumerate(predictions)
        if p.answer is None
    }
    bare, unknown = _blank("the query has no gold answer"), _blank(UNKNOWN_CONTEXT)
    without = {
        "gold_answers": {i: bare for i, gold in enumerate(pairs.gold) if not gold},
        "context": {i: unknown for i, context in enumerate(contexts) if context is None},
    }
    taken: dict[tuple[int, ...], AnswerBatch] = {}
    for metric, column in zip(metrics, found, strict=True):
        # A failed answer counts only where an answer would count.
        blanks = dict(failed)
        for needed in metric.requires & without.keys():
            blanks |= without[needed]
        kept = tuple(i for i in range(len(pairs)) if i not in blanks)
        if kept not in taken:  # metrics of the same pairs share the intermediate results
            taken[kept] = pairs if len(kept) == len(pairs) else pairs.take(kept)
        cells = iter(_cells(metric.scored(taken[kept])) if kept else ())
        column += [blanks[i] if i in blanks else next(cells) for i in range(len(pairs))]


def _cells(scored: Scored) -> list[Cell]:
    """Return the cell of each position."""
    cells: list[Cell] = [(value, "scored", "") for value in scored.values.tolist()]
    for i, remark in scored.remarks.items():
        cells[i] = (cells[i][0], "scored", remark)
    for i, reason in scored.inapplicable.items():
        cells[i] = _blank(reason)
    for i, reason in scored.failed.items():
        cells[i] = (None, "unscored", reason)
    return cells


def _blank(reason: str) -> Cell:
    return None, "not_applicable", reason


def _table(
    query_ids: Sequence[str],
    metrics: Sequence[RankingMetric | AnswerMetric],
    found: Sequence[Sequence[Cell]],
) -> Table:
    cells = [cell for column in found for cell in column]
    return to_table(
        SCORES,
        {
            "query_id": list(query_ids) * len(found),
            "metric": [name for name in map(str, metrics) for _ in query_ids],
            "value": [value for value, _, _ in cells],
            "status": [status for _, status, _ in cells],
            "reason": [reason for _, _, reason in cells],
        },
    )


def _check_aligned(
    queries: Sequence[Query],
    predictions: Sequence[Prediction],
    contexts: Sequence[Context | None],
) -> None:
    if not len(queries) == len(predictions) == len(contexts):
        raise DatasetError(
            f"{len(queries)} queries, {len(predictions)} predictions and {len(contexts)} contexts; "
            "give one of each per query, in the same order"
        )
    for query, prediction in zip(queries, predictions, strict=True):
        if query.query_id != prediction.query_id:
            raise DatasetError(
                f"the prediction of query {prediction.query_id!r} is in the place of query "
                f"{query.query_id!r}; give both in the same order"
            )


def refuse_duplicates(what: str, ids: Sequence[str]) -> None:
    """Raise `DatasetError` if an id is listed more than once."""
    if len(set(ids)) < len(ids):
        twice = [i for i, times in Counter(ids).items() if times > 1]
        named = listed(list(map(repr, twice)))
        raise DatasetError(f"{len(twice)} {what}s are listed more than once: {named}")


def _parsed(
    metrics: Sequence[RankingMetric | AnswerMetric | str], kind: type[Kind], problem: str
) -> list[Kind]:
    """Return the metrics; raise `ConfigError` if one is not of the kind."""
    found = []
    for metric in [metrics] if isinstance(metrics, str) else metrics:
        parsed = parse_metric(metric) if isinstance(metric, str) else metric
        if not isinstance(parsed, kind):
            raise ConfigError(f"{parsed} scores {problem}")
        found.append(parsed)
    return found
