"""Metrics over many queries: a table with one row per query and metric, with a reason if blank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, chain
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
from ragstone.components.metrics.score_columns import SCORED, STATUSES, Cells, ScoreColumns
from ragstone.core import limits
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, DatasetError

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.types import Context, Prediction, Query, Status

    Blank: TypeAlias = tuple[Status, str]
    """Status and reason of a query without a value."""

BATCH: Final = 1024
"""Pairs scored at once: their texts and tokens fit into the processor's cache."""
NO_RELEVANT: Final = "the qrels contain no relevant passage for this query"
_NOT_IN_RUN: Final[Blank] = ("failed", "the query is not in the run")
_NO_CELLS: Final = Cells(np.zeros(0), np.zeros(0, np.uint8), {})
Kind = TypeVar("Kind", RankingMetric, AnswerMetric)


class RankingScores(ScoreColumns):
    """The scores of rankings, added by blocks of queries.

    Args:
        metrics: ranking metrics, or their names.
        no_relevant: the reason why no metric applies to a query without relevant passages.

    Raises:
        ConfigError: a metric is not a ranking metric.
    """

    def __init__(
        self,
        metrics: Sequence[RankingMetric | AnswerMetric | str],
        no_relevant: str = NO_RELEVANT,
    ) -> None:
        problem = "answers, not rankings; rankings take nDCG@10, R@5 ..."
        self._metrics = _parsed(metrics, RankingMetric, problem)
        self._no_relevant = no_relevant
        super().__init__(list(map(str, self._metrics)))

    def add(
        self,
        qrels: Qrels,
        rankings: Run,
        query_ids: Sequence[str],
        *,
        subtopics: Subtopics | None = None,
        documents: Mapping[str, str] | None = None,
        languages: Languages | None = None,
    ) -> None:
        """Add some queries; `qrels` and `rankings` may have others too (see `score_rankings`)."""
        ranks = rank_any(
            qrels, rankings, query_ids, subtopics or {}, documents, languages=languages
        )
        bare = np.flatnonzero(ranks.relevant() == 0).tolist()
        absent = np.array([i for i, one in enumerate(query_ids) if one not in rankings], np.int64)
        found = []
        for metric in self._metrics:
            cells = _cells(metric.scored(ranks))
            lost = absent[cells.status[absent] == SCORED].tolist()
            blanks: dict[int, Blank] = dict.fromkeys(lost, _NOT_IN_RUN)
            blanks |= dict.fromkeys(bare, ("not_applicable", self._no_relevant))
            found.append(_with_blanks(cells, blanks))
        self.add_cells(query_ids, found)


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
    scores = RankingScores(metrics, no_relevant)
    scores.add(
        qrels,
        rankings,
        chosen_ids,
        subtopics=subtopics,
        documents=documents,
        languages=languages,
    )
    return scores.table()


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
            if len(values) and round(float(values.mean()), 12) < 1.0:
                found[str(metric)] = float(values.mean())
    return found


class AnswerScores(ScoreColumns):
    """The scores of answers, added by blocks of queries.

    Args:
        metrics: answer metrics, or their names.

    Raises:
        ConfigError: a metric is not an answer metric.
    """

    def __init__(self, metrics: Sequence[AnswerMetric | RankingMetric | str]) -> None:
        problem = "rankings, not answers; answers take Match, EM, F1 ..."
        self._metrics = _parsed(metrics, AnswerMetric, problem)
        self._together = [m for m in self._metrics if type(m).beside is not AnswerMetric.beside]
        self._answers: list[str | None] = []
        self._gold: list[Sequence[str]] = []
        super().__init__(list(map(str, self._metrics)))

    def add(
        self,
        queries: Sequence[Query],
        predictions: Sequence[Prediction],
        contexts: Sequence[Context | None] | None = None,
    ) -> None:
        """Add some queries with their predictions and contexts, all in the same order.

        Raises:
            DatasetError: the sequences differ in length or in their query ids.
        """
        shown = [None] * len(queries) if contexts is None else contexts
        _check_aligned(queries, predictions, shown)
        for part in _batches(queries, predictions):
            cells = _score_batch(self._metrics, queries[part], predictions[part], shown[part])
            self.add_cells([query.query_id for query in queries[part]], cells)
        if self._together:  # label, BLEU and chrF need all texts for their figures
            self._answers += [prediction.answer for prediction in predictions]
            self._gold += [query.gold_answers for query in queries]

    def beside(self) -> dict[str, dict[str, float]]:
        """Return metric -> figures of all answers together; metrics without any are left out."""
        found = {str(m): dict(m.beside(self._answers, self._gold)) for m in self._together}
        return {name: figures for name, figures in found.items() if figures}


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
    scores = AnswerScores(metrics)
    scores.add(queries, predictions, contexts)
    return scores.table()


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


def _batches(queries: Sequence[Query], predictions: Sequence[Prediction]) -> Iterator[slice]:
    """Yield parts of at most `BATCH` pairs; a part with a very long text is shorter."""
    start = 0
    while start < len(predictions):
        sizes = [len(prediction.answer or "") for prediction in predictions[start : start + BATCH]]
        gold = [query.gold_answers for query in queries[start : start + BATCH]]
        fitting = len(sizes)
        if sum(sizes) + sum(map(len, chain.from_iterable(gold))) > limits.SCORED_CHARACTERS:
            pairs = zip(sizes, gold, strict=True)
            sums = accumulate(size + sum(map(len, labels)) for size, labels in pairs)
            fitting = max(1, sum(characters <= limits.SCORED_CHARACTERS for characters in sums))
        yield slice(start, start + fitting)
        start += fitting


def _score_batch(
    metrics: Sequence[AnswerMetric],
    queries: Sequence[Query],
    predictions: Sequence[Prediction],
    contexts: Sequence[Context | None],
) -> list[Cells]:
    from ragstone.components.metrics.answer_batch import AnswerBatch, without_blank

    labels = [query.labels for query in queries]
    pairs = AnswerBatch(
        answers=[prediction.answer or "" for prediction in predictions],
        gold=[without_blank(query.gold_answers) for query in queries],
        query_texts=[query.text for query in queries],
        contexts=contexts,
        languages=[str(known.get("language", "")) if known else "" for known in labels],
        query_labels=labels,
        predictions=predictions,
    )
    failed: dict[int, Blank] = {
        i: ("failed", p.reason or "the prediction has no answer and no reason")
        for i, p in enumerate(predictions)
        if p.answer is None
    }
    bare: Blank = ("not_applicable", "the query has no gold answer")
    unknown: Blank = ("not_applicable", UNKNOWN_CONTEXT)
    without = {
        "gold_answers": {i: bare for i, gold in enumerate(pairs.gold) if not gold},
        "context": {i: unknown for i, context in enumerate(contexts) if context is None},
    }
    taken: dict[tuple[int, ...], AnswerBatch] = {}
    found = []
    for metric in metrics:
        # A failed answer counts only where an answer would count.
        blanks = dict(failed)
        # In a fixed order: that of a set, and so the reason, would differ between processes.
        for needed, missing in without.items():
            blanks |= missing if needed in metric.requires else {}
        kept = tuple(i for i in range(len(pairs)) if i not in blanks) if blanks else ()
        if not blanks:
            found.append(_cells(metric.scored(pairs)))
            continue
        if kept not in taken:  # metrics of the same pairs share the intermediate results
            taken[kept] = pairs.take(kept)
        cells = _cells(metric.scored(taken[kept])) if kept else _NO_CELLS
        found.append(_with_blanks(_spread(cells, kept, len(pairs)), blanks))
    return found


def _cells(scored: Scored) -> Cells:
    """Return the cells of a metric's values."""
    status = np.zeros(len(scored.values), np.uint8)
    status[list(scored.inapplicable)] = STATUSES.index("not_applicable")
    status[list(scored.failed)] = STATUSES.index("unscored")
    reasons = {**scored.remarks, **scored.inapplicable, **scored.failed}
    return Cells(scored.values, status, reasons)


def _spread(cells: Cells, places: Sequence[int], size: int) -> Cells:
    """Return cells at some places among `size`; the other places are to be filled."""
    values, status = np.zeros(size), np.zeros(size, np.uint8)
    at = list(places)
    values[at], status[at] = cells.values, cells.status
    return Cells(values, status, {places[i]: reason for i, reason in cells.reasons.items()})


def _with_blanks(cells: Cells, blanks: Mapping[int, Blank]) -> Cells:
    """Return cells without a value at some places, each with a status and a reason."""
    status = cells.status.copy()
    status[list(blanks)] = [STATUSES.index(held) for held, _ in blanks.values()]
    return Cells(
        cells.values, status, {**cells.reasons, **{i: why for i, (_, why) in blanks.items()}}
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
