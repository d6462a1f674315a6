"""Checks of the keys about reading the results: correct answers, oracle, headline, analysis.

They need the names of the metrics and settings, and are made before anything is spent.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.core.schemas import table_to_queries
from ragstone.core.user_code import is_ours
from ragstone.errors import ConfigError, did_you_mean
from ragstone.experiment.config import DEFAULT_CORRECT
from ragstone.results.record import is_oracle
from ragstone.statistics.correctness import Correctness

if TYPE_CHECKING:
    from ragstone.components.metrics.base import Metric, RankingMetric
    from ragstone.experiment.analysis_file import AnalysisSpec
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.system import SharedInputs, System
    from ragstone.protocols import ContextSetting, Judge
    from ragstone.types import Query


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
        metrics: its metrics.
        judges: its judges.
    """
    answer = [metric for metric in metrics if isinstance(metric, AnswerMetric)]
    _check_correctness(file, answer, judges)
    _check_repeat_metrics(
        file, metrics, {*map(str, answer), *(n for j in judges for n in j.metrics)}
    )
    _check_oracle(file.oracle, settings)
    directions = {str(metric): metric.direction for metric in metrics}
    directions |= {name: judge.direction for judge in judges for name in judge.metrics}
    planned = file.analysis.headline if file.analysis else None
    for key, name in (("headline", file.headline), ("analysis.headline", planned)):
        if name is not None and directions.get(name, "neutral") == "neutral":
            problem = "has no better direction" if name in directions else "is not a metric"
            hint = did_you_mean(name, [n for n, d in directions.items() if d != "neutral"])
            raise ConfigError(
                f"{key!r} is {name!r}, which {problem} here{hint}", key=key, value=name
            )
    if planned and file.headline and planned != file.headline:
        raise ConfigError(
            f"'analysis.headline' is {planned!r} and 'headline' is {file.headline!r}; leave one "
            "out",
            key="analysis.headline",
            value=planned,
        )


def check_analysis(
    file: ExperimentFile,
    systems: Sequence[System],
    shared: SharedInputs,
    ranking: Sequence[RankingMetric | AnswerMetric],
) -> None:
    """Raise `ConfigError` if the planned analysis contradicts the file.

    Args:
        file: the experiment file.
        systems: its systems.
        shared: its queries, of which the analysis may choose some.
        ranking: its ranking metrics.
    """
    if (analysis := file.analysis) is None:
        return
    names = [system.name for system in systems]
    named = [name for pair in analysis.comparisons for name in pair]
    for name in filter(None, (*named, analysis.baseline)):
        if name not in names:
            raise _wrong("comparisons", f"no system is called {name!r}{did_you_mean(name, names)}")
    if analysis.baseline and analysis.comparisons:
        raise _wrong("baseline", "'baseline' and 'comparisons' exclude each other; leave one out")
    if len(names) < 2:  # noqa: PLR2004 - a comparison has two sides
        raise _wrong(
            "comparisons", f"a comparison needs two systems, and there is only {names[0]!r}"
        )
    pairs = [frozenset(pair) for pair in analysis.comparisons]
    for a, b in analysis.comparisons:
        if a == b or pairs.count(frozenset((a, b))) > 1:
            problem = "compares a system with itself" if a == b else "is there twice"
            raise _wrong("comparisons", f"the comparison [{a}, {b}] {problem}")
    headline = analysis.headline or file.headline
    if headline:
        _check_measured(
            headline, list(map(str, ranking)), systems, [*named, analysis.baseline or ""]
        )
    answers = any(system.generator for system in systems)
    table = shared.answered if answers else shared.ranked
    _check_population(file, analysis, table_to_queries(table.table))


def _check_measured(
    headline: str, ranking: Sequence[str], systems: Sequence[System], named: Sequence[str]
) -> None:
    """Check that the systems of the comparisons make the headline metric's input."""
    for system in systems:
        retrieves = system.retriever or system.may_retrieve
        makes = retrieves if headline in ranking else system.generator
        if system.name in named and not makes:
            part = "retriever" if headline in ranking else "generator"
            raise _wrong(
                "comparisons", f"{headline} measures a {part}, and system {system.name!r} has none"
            )


def _check_population(
    file: ExperimentFile, analysis: AnalysisSpec, queries: Sequence[Query]
) -> None:
    known = {label for query in queries for label in query.labels}
    for label in analysis.population:
        if label not in known:
            hint = did_you_mean(label, known)
            raise _wrong("population", f"no query of the sample has the label {label!r}{hint}")
    if not any(query.has_labels(analysis.population) for query in queries):
        raise _wrong(
            "population",
            f"no query has the labels {analysis.population!r} and is in the sample "
            f"({file.sample.model_dump(exclude_defaults=True) or 'all queries'})",
        )


def _wrong(key: str, problem: str) -> ConfigError:
    return ConfigError(f"'analysis.{key}': {problem}", key=f"analysis.{key}")


def _check_correctness(
    file: ExperimentFile, metrics: Sequence[RankingMetric | AnswerMetric], judges: Sequence[Judge]
) -> None:
    """Raise `ConfigError` if the rule for correct answers names no metric or has no threshold.

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


def _check_repeat_metrics(
    file: ExperimentFile, metrics: Sequence[Metric], measured: Collection[str]
) -> None:
    """Check that there is a rule for correct answers if a metric of repeats reads it."""
    rule = Correctness.parse(file.correct).among(measured) if file.correct else None
    for metric in metrics:
        if rule is None and isinstance(metric, RepeatMetric) and metric.needs_rule:
            raise ConfigError(
                f"metric {str(metric)!r} needs a rule for correct answers; name one with the key "
                "'correct', such as correct: Match, and add its metric to 'metrics'",
                key="metrics",
                value=str(metric),
            )


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
