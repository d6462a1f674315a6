"""Recorded answers scored block by block, so that memory does not grow with their texts.

Equal to `score_files.evaluate_answers` on the whole files. Files with a flaw, and queries that need
all rows together (clusters, checks, nuggets), end in `NotPlain`: they are read as a whole.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.metrics.assigned_nuggets import metrics_of
from ragstone.components.metrics.row_checks import check_metrics_of
from ragstone.components.metrics.score import BATCH, AnswerScores
from ragstone.core import limits
from ragstone.data.readers.answer_index import AnswerIndex, NotPlain
from ragstone.data.readers.answer_rows import recorded_context, with_passages_of_steps
from ragstone.data.readers.scores import CLUSTER_LABELS
from ragstone.evaluation.evaluation import Evaluation
from ragstone.evaluation.score_files import parsed_metrics, scales_of, summaries_of
from ragstone.statistics.failures import check_policy
from ragstone.types import Prediction, Query

if TYPE_CHECKING:
    from ragstone.statistics.summary import Policy

_FEW: Final = 0.5
"""Share of common ids below which the two files are compared as a whole, for a message."""


def evaluate_blocks(
    answers: AnswerIndex,
    queries: Iterable[Query],
    metrics: Sequence[str],
    *,
    failures: Policy = "wrong",
) -> Evaluation:
    """Return the means of answer metrics over all queries, without their texts.

    Args:
        answers: the answers.
        queries: queries with gold answers, read once.
        metrics: names such as "F1".
        failures: the failure policy.

    Raises:
        ConfigError: an unknown metric, a metric of rankings, or an unknown policy.
        NotPlain: the files have to be read as a whole.
    """
    check_policy(failures)
    parsed = parsed_metrics(metrics)
    scores, missing, codes = AnswerScores(parsed), list[str](), array("q")
    absent = array("q")
    for block in _blocks(queries):
        _require_plain(block)
        ids = [query.query_id for query in block]
        given = answers.read(ids)
        absent.extend(len(codes) + i for i, one in enumerate(ids) if one not in given)
        missing += [one for one in ids if one not in given]
        codes.extend(map(hash, ids))
        _add(scores, block, given)
    if _has_twice(codes) or len(codes) - len(missing) < _FEW * min(len(codes), len(answers)):
        raise NotPlain
    scales = scales_of(parsed, failures)
    return Evaluation(
        summaries=summaries_of(scores, np.frombuffer(absent, np.int64), scales),
        table=scores.table(),
        missing=tuple(missing),
        extra=tuple(answers.others()),
        scales=scales,
        beside=scores.beside(),
    )


def _blocks(queries: Iterable[Query]) -> Iterator[list[Query]]:
    block, characters = list[Query](), 0
    for query in queries:
        block.append(query)
        characters += len(query.text) + sum(map(len, query.gold_answers))
        if len(block) == BATCH or characters > limits.SCORED_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block


def _require_plain(block: Sequence[Query]) -> None:
    labelled = [query for query in block if query.labels]
    if metrics_of(labelled) or check_metrics_of(labelled):
        raise NotPlain
    if any(name in query.labels for query in labelled for name in CLUSTER_LABELS):
        raise NotPlain


def _add(scores: AnswerScores, block: list[Query], given: dict[str, Prediction]) -> None:
    none = "no answer was given"
    read = [given.get(q.query_id) or Prediction(q.query_id, None, none) for q in block]
    predictions = [with_passages_of_steps(one) for one in read]
    scores.add(block, predictions, list(map(recorded_context, predictions)))


def _has_twice(codes: array[int]) -> bool:
    found = np.sort(np.frombuffer(codes, np.int64)) if codes else np.zeros(0, np.int64)
    return not len(found) or bool((found[1:] == found[:-1]).any())
