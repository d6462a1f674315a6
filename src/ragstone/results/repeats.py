"""The scores of a query whose answer or verdict was repeated.

A query's score is the mean over its repeats, so that an interval over queries contains the variance
between queries and between repeats. A failed repeat counts by the failure policy: as the worst
value, or not at all; under `bounds`, a query with a failed repeat counts as failed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.errors import DatasetError
from ragstone.types import Score

if TYPE_CHECKING:
    from ragstone.results.record import Record
    from ragstone.results.scored_rows import RepeatRows
    from ragstone.statistics.correctness import Correctness
    from ragstone.statistics.failures import Scale

Scores = Mapping[str, Mapping[str, Score]]
"""Metric -> query id -> score."""


def mean_scores(repeats: Sequence[RepeatRows], record: Record) -> dict[str, dict[str, Score]]:
    """Return metric -> query id -> mean score over the repeats that have the metric."""
    found: dict[str, dict[str, Score]] = {}
    for metric in dict.fromkeys(metric for rows in repeats for metric in rows.scores):
        held = [rows.scores[metric] for rows in repeats if metric in rows.scores]
        scale = record.scale(metric)
        query_ids = dict.fromkeys(query_id for scores in held for query_id in scores)
        found[metric] = {
            q: mean_score([scores[q] for scores in held if q in scores], scale) for q in query_ids
        }
    return found


def mean_score(scores: Sequence[Score], scale: Scale) -> Score:
    """Return the score of a query from those of its repeats.

    >>> from ragstone.statistics.failures import Scale
    >>> repeats = [Score("q", "EM", 1.0), Score("q", "EM", None, "failed", "time-out")]
    >>> mean_score(repeats, Scale()).value, mean_score(repeats, Scale(failures="exclude")).value
    (0.5, 1.0)
    >>> mean_score(repeats, Scale(failures="bounds")).status
    'failed'
    """
    if len(scores) == 1:
        return scores[0]
    values = [score.value for score in scores if score.value is not None]
    without = [score for score in scores if score.value is None]
    for status in ("failed", "unscored"):
        missing = [score for score in without if score.status == status]
        cases = scale.cases(status) if missing else None
        if missing and (not values or (cases and cases[0] != cases[1])):
            return missing[0]
        values += [cases[0] for _ in missing] if cases else []
    if not values:
        return without[0]
    reasons = list(dict.fromkeys(score.reason for score in scores if score.reason))
    more = f"{len(without)} of {len(scores)} repeats have no value: " if without else ""
    reason = more + "; ".join(reasons)
    first = scores[0]
    return Score(first.query_id, first.metric, math.fsum(values) / len(values), reason=reason)


def mean_labels(answers: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """Return query id -> mean of the labels of its answers that have one; None if none has."""
    if len(answers) == 1:
        return dict(answers[0])
    found: dict[str, float | None] = {}
    for query_id in dict.fromkeys(query_id for labels in answers for query_id in labels):
        given = [label for labels in answers if (label := labels.get(query_id)) is not None]
        found[query_id] = math.fsum(given) / len(given) if given else None
    return found


def mean_figures(
    answers: Sequence[Mapping[str, Mapping[str, float]]],
) -> Mapping[str, Mapping[str, float]]:
    """Return metric -> figures of all answers together, as means over the repeats."""
    first = answers[0]
    if len(answers) == 1:
        return first
    return {
        metric: {
            name: math.fsum(figures[metric][name] for figures in answers) / len(answers)
            for name in held
            if all(name in figures.get(metric, {}) for figures in answers)
        }
        for metric, held in first.items()
    }


def repeat_scores(
    answers: Sequence[RepeatRows], record: Record, rule: Correctness | None
) -> dict[str, dict[str, Score]]:
    """Return the scores of the metrics of repeats, such as pass@k.

    Args:
        answers: the rows of each answer, with its first verdicts.
        record: the record of the experiment.
        rule: calls an answer correct; None without a rule.
    """
    found: dict[str, dict[str, Score]] = {}
    for entry in record.metrics:
        if entry.kind == "repeats":
            metric = cast("RepeatMetric", parse_metric(entry.name))
            scale = record.scale(entry.name)
            found[entry.name] = {
                query_id: _score(metric, query_id, answers, scale, rule)
                for query_id in answers[0].predictions
            }
    return found


def _score(
    metric: RepeatMetric,
    query_id: str,
    answers: Sequence[RepeatRows],
    scale: Scale,
    rule: Correctness | None,
) -> Score:
    """Return the value of all answers to a query, or the reason why there is none."""
    texts: list[str | None] = []
    correct: list[bool] = []
    reason = ""
    failed = [rows for rows in answers if rows.predictions[query_id].answer is None]
    name = str(metric)
    if metric.needs_rule and rule is None:
        why = "there is no rule for correct answers"
        return Score(query_id, name, None, "not_applicable", why)
    if failed and (len(failed) == len(answers) or scale.policy == "bounds"):
        why = failed[0].predictions[query_id].reason
        return Score(query_id, name, None, "failed", why)
    for rows in answers:
        prediction = rows.predictions[query_id]
        if prediction.answer is None:
            if scale.cases("failed") is not None:
                texts.append(None)
                correct.append(False)
            continue
        if metric.needs_rule and rule is not None:
            label, why = _label(rows, query_id, rule)
            if label is None:
                reason = why
                continue
            correct.append(bool(label))
        texts.append(prediction.answer)
    if len(texts) < metric.least:
        least = f"it needs {metric.least} answers, and there are {len(texts)}"
        return Score(query_id, name, None, "not_applicable", reason or least)
    return Score(query_id, name, metric.value(texts, correct))


def _label(rows: RepeatRows, query_id: str, rule: Correctness) -> tuple[float | None, str]:
    """Return whether an answer is correct, or None and the reason."""
    score = rows.scores.get(rule.metric, {}).get(query_id)
    if score is None:
        return None, f"there is no {rule.metric}"
    try:
        return rule.label(score.value), score.reason
    except DatasetError as error:
        return None, str(error)
