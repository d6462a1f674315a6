"""Checks of what the experiment file says about reading the results: correct answers, the oracle.

They need the names of the metrics and settings, and are made before anything is spent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.core.user_code import is_ours
from ragstone.errors import ConfigError, did_you_mean
from ragstone.experiment.config import DEFAULT_CORRECT
from ragstone.results.record import is_oracle
from ragstone.statistics.correctness import Correctness

if TYPE_CHECKING:
    from ragstone.components.metrics.base import AnswerMetric, RankingMetric
    from ragstone.experiment.config import ExperimentFile
    from ragstone.protocols import ContextSetting, Judge


def check_rules(
    file: ExperimentFile,
    settings: Sequence[ContextSetting],
    metrics: Sequence[RankingMetric | AnswerMetric],
    judges: Sequence[Judge],
) -> None:
    """Raise `ConfigError` if a rule of the file contradicts its metrics or settings.

    Args:
        file: the experiment file.
        settings: its settings.
        metrics: its answer metrics.
        judges: its judges.
    """
    _check_correctness(file, metrics, judges)
    _check_oracle(file.oracle, settings)


def _check_correctness(
    file: ExperimentFile, metrics: Sequence[RankingMetric | AnswerMetric], judges: Sequence[Judge]
) -> None:
    """Raise `ConfigError` if the rule for correct answers names no metric or lacks a threshold.

    Args:
        file: the experiment file, whose key `correct` is the rule.
        metrics: the answer metrics.
        judges: the judges.
    """
    measured: dict[str, RankingMetric | AnswerMetric | Judge] = {str(m): m for m in metrics}
    measured |= {name: judge for judge in judges for name in judge.metrics}
    if file.correct is None or not any(system.generator for system in file.systems):
        return
    rule = Correctness.parse(file.correct)
    found = rule.among(measured)
    if found is None:
        if file.correct == DEFAULT_CORRECT and "correct" not in file.model_fields_set:
            return
        raise ConfigError(
            f"'correct' is {file.correct!r}, and {rule.metric!r} is not among the metrics of "
            "answers; add it, name another one or write correct: null"
            f"{did_you_mean(rule.metric, measured)}",
            key="correct",
            value=file.correct,
        )
    _check_threshold(found, measured[found.metric])


def _check_threshold(rule: Correctness, metric: RankingMetric | AnswerMetric | Judge) -> None:
    """Check that a graded metric has a threshold that divides its values."""
    low, high = metric.range or (-math.inf, math.inf)
    better = {"lower": "<=", "higher": ">="}.get(metric.direction, ">=")
    if rule.operator is None or rule.threshold is None:
        if metric.graded:
            middle = (low + high) / 2 if metric.range else 0.5
            own = "" if is_ours(type(metric)) else ", or declare graded = False in its class"
            raise ConfigError(
                f"'correct' is {rule.metric!r}, whose values are not only 0 and 1; give the "
                f"threshold of a correct answer, such as correct: '{rule.metric} {better} "
                f"{middle:g}'{own}",
                key="correct",
                value=str(rule),
            )
    elif not low <= rule.threshold <= high:
        raise ConfigError(
            f"'correct' is '{rule}', but the values of {rule.metric} are from {low:g} to {high:g}",
            key="correct",
            value=str(rule),
        )
    elif metric.direction != "neutral" and rule.operator[0] != better[0]:
        raise ConfigError(
            f"'correct' is '{rule}', but {metric.direction} values of {rule.metric} are better; "
            f"write correct: '{rule.metric} {better} {rule.threshold:g}'",
            key="correct",
            value=str(rule),
        )


def _check_oracle(oracle: str | None, settings: Sequence[ContextSetting]) -> None:
    """Raise `ConfigError` unless the file's oracle is one of its settings with gold passages."""
    known = [setting.setting for setting in settings if is_oracle(setting.setting)]
    if oracle is not None and oracle not in known:
        raise ConfigError(
            f"'oracle' is {oracle!r}, which is not among the settings with gold passages alone "
            f"(gold, gold(n)){did_you_mean(oracle, known)}",
            key="oracle",
            value=oracle,
        )
