"""Metrics over many queries: one row per query and metric, a reason where there is no value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch, without_blank
from ragstone.components.metrics.base import AnswerMetric, RankingMetric, Scored
from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.ranking_batch import Qrels, Run, rank_judged
from ragstone.core.schemas import SCORES, to_table
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.types import Context, Prediction, Query, Status

BATCH: Final = 1024
"""Pairs scored at once: as many as the processor's cache holds the texts and tokens of."""


@dataclass
class _Column:
    """One metric's values, query by query, as they grow."""

    metric: str
    value: list[float | None] = field(default_factory=list)
    status: list[Status] = field(default_factory=list)
    reason: list[str] = field(default_factory=list)

    def extend(self, values: Mapping[int, float], blanks: Mapping[int, _Blank], size: int) -> None:
        """Add `size` queries; each place holds a value or a reason why there is none."""
        self.value += [values.get(i) for i in range(size)]
        self.status += [blanks[i].status if i in blanks else "scored" for i in range(size)]
        self.reason += [blanks[i].reason if i in blanks else "" for i in range(size)]


class _Blank(NamedTuple):
    """Why a place has no value."""

    status: Status
    reason: str


def _table(query_ids: Sequence[str], found: Sequence[_Column]) -> Table:
    return to_table(
        SCORES,
        {
            "query_id": list(query_ids) * len(found),
            "metric": [column.metric for column in found for _ in query_ids],
            "value": [value for column in found for value in column.value],
            "status": [status for column in found for status in column.status],
            "reason": [reason for column in found for reason in column.reason],
        },
    )


def score_rankings(
    metrics: Sequence[RankingMetric | AnswerMetric | str],
    qrels: Qrels,
    rankings: Run,
    query_ids: Sequence[str] | None = None,
) -> Table:
    """Return the scores of rankings against relevance judgements, one row per query and metric.

    Args:
        metrics: ranking metrics, or their names.
        qrels: query id -> passage id -> grade; a grade of 1 or more is relevant.
        rankings: query id -> ranking (or passage id -> score). A query that is not there scores 0:
            leaving out the hard ones must not pay.
        query_ids: what to score, in this order; all queries of the qrels where not given.

    A query without relevant passages is "not_applicable".

    Raises:
        ConfigError: a metric is no ranking metric.
        DatasetError: a query id is listed twice, or a score is not a finite number.
    """
    wanted = list(qrels) if query_ids is None else list(query_ids)
    refuse_duplicates("query id", wanted)
    chosen = [_ranking_metric(metric) for metric in metrics]
    ranks = rank_judged(qrels, rankings, wanted)
    blank = _Blank("not_applicable", "the qrels hold no relevant passage for this query")
    blanks = {int(i): blank for i in np.flatnonzero(ranks.relevant() == 0)}
    absent = [i for i, query_id in enumerate(wanted) if query_id not in rankings]
    found = []
    for metric in chosen:
        values, without = _values(metric.scored(ranks))
        column = _Column(str(metric))
        held = {**without, **blanks}
        column.extend({i: v for i, v in values.items() if i not in held}, held, len(wanted))
        for i in absent:
            column.reason[i] = column.reason[i] or "the run lacks this query: it counts 0"
        found.append(column)
    return _table(wanted, found)


def score_answers(
    metrics: Sequence[AnswerMetric | RankingMetric | str],
    queries: Sequence[Query],
    predictions: Sequence[Prediction],
    contexts: Sequence[Context | None] | None = None,
) -> Table:
    """Return the scores of predictions, one row per query and metric.

    `queries`, `predictions` and `contexts` belong together place by place. A prediction without an
    answer is "failed" with its reason; a query without gold answers is "not_applicable" to the
    metrics that need them, as is one without a context. An empty answer is an answer: it scores 0
    in every metric that compares texts.

    Raises:
        ConfigError: a metric is no answer metric.
        DatasetError: the sequences differ in length or in their query ids.
    """
    shown = [None] * len(queries) if contexts is None else contexts
    _check_aligned(queries, predictions, shown)
    chosen = [_answer_metric(metric) for metric in metrics]
    found = [_Column(str(metric)) for metric in chosen]
    for start in range(0, len(queries), BATCH):
        part = slice(start, start + BATCH)
        _score_batch(found, chosen, queries[part], predictions[part], shown[part])
    return _table([query.query_id for query in queries], found)


def _score_batch(
    found: Sequence[_Column],
    metrics: Sequence[AnswerMetric],
    queries: Sequence[Query],
    predictions: Sequence[Prediction],
    contexts: Sequence[Context | None],
) -> None:
    pairs = AnswerBatch(
        answers=[prediction.answer or "" for prediction in predictions],
        gold=[without_blank(query.gold_answers) for query in queries],
        query_texts=[query.text for query in queries],
        contexts=contexts,
        languages=[str(query.labels.get("language", "")) for query in queries],
        answerability=[str(query.labels.get("answerability", "")) for query in queries],
    )
    failed = {
        i: _Blank("failed", p.reason or "the prediction has no answer, and states no reason")
        for i, p in enumerate(predictions)
        if p.answer is None
    }
    bare = _Blank("not_applicable", "the data set holds no gold answer for this query")
    without_gold = {i: bare for i, gold in enumerate(pairs.gold) if not gold}
    taken: dict[tuple[int, ...], AnswerBatch] = {}
    for metric, column in zip(metrics, found, strict=True):
        blanks = {**(without_gold if "gold_answers" in metric.requires else {}), **failed}
        kept = tuple(i for i in range(len(pairs)) if i not in blanks)
        if kept not in taken:  # metrics that share their pairs share what is computed of them
            taken[kept] = pairs if len(kept) == len(pairs) else pairs.take(kept)
        values, without = _values(metric.scored(taken[kept])) if kept else ({}, {})
        blanks |= {kept[i]: blank for i, blank in without.items()}
        column.extend({kept[i]: value for i, value in values.items()}, blanks, len(pairs))


def _values(scored: Scored) -> tuple[dict[int, float], dict[int, _Blank]]:
    """Return the values by position, and why the other positions have none."""
    without = {
        **{i: _Blank("not_applicable", reason) for i, reason in scored.inapplicable.items()},
        **{i: _Blank("failed", reason) for i, reason in scored.failed.items()},
    }
    values = enumerate(scored.values.tolist())
    return {i: value for i, value in values if i not in without}, without


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
                f"the prediction of query {prediction.query_id!r} stands where that of query "
                f"{query.query_id!r} belongs; give both in the same order"
            )


def refuse_duplicates(what: str, ids: Sequence[str]) -> None:
    """Raise `DatasetError` where an id is listed more than once."""
    if len(set(ids)) < len(ids):
        twice = [i for i, times in Counter(ids).items() if times > 1]
        named = listed(list(map(repr, twice)))
        raise DatasetError(f"{len(twice)} {what}s are listed more than once: {named}")


def _ranking_metric(metric: RankingMetric | AnswerMetric | str) -> RankingMetric:
    parsed = parse_metric(metric) if isinstance(metric, str) else metric
    if not isinstance(parsed, RankingMetric):
        raise ConfigError(f"{parsed} scores answers, not rankings; rankings take nDCG@10, R@5 ...")
    return parsed


def _answer_metric(metric: RankingMetric | AnswerMetric | str) -> AnswerMetric:
    parsed = parse_metric(metric) if isinstance(metric, str) else metric
    if not isinstance(parsed, AnswerMetric):
        raise ConfigError(f"{parsed} scores rankings, not answers; answers take Match, EM, F1 ...")
    return parsed
