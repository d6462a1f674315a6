"""What is checked before anything is spent: settings, depths and metrics against the data."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.components.metrics.base import RankingMetric
from ragstone.core.schemas import table_to_queries
from ragstone.core.spec import COMPONENT_LISTS, parse_spec
from ragstone.errors import ConfigError

if TYPE_CHECKING:
    from ragstone.core.store import StoredTable
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import SystemEntry
    from ragstone.experiment.system import System
    from ragstone.protocols import ContextBuilder, Metric


def check_settings(
    builders: Sequence[ContextBuilder], systems: Sequence[System], dataset: Dataset
) -> None:
    """Raise `ConfigError` where a setting cannot be built from this data or by these systems."""
    names = [builder.setting for builder in builders]
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"the setting {name!r} is listed twice")
    generating = [system for system in systems if system.generator]
    if generating and not builders:
        raise ConfigError(
            f"system {generating[0].name!r} has a generator, but there are no 'settings'; "
            f"for example: settings: [none, gold, retrieved(5)]"
        )
    if builders and not generating:
        raise ConfigError("there are 'settings', but no system has a generator")
    for builder in builders:
        _check_setting(builder, generating, dataset)


def _check_setting(builder: ContextBuilder, generating: Sequence[System], dataset: Dataset) -> None:
    if builder.uses and not len(dataset.corpus):
        raise ConfigError(
            f"setting {builder.setting!r} shows passages, but the data set {dataset.name!r} has no "
            f"corpus; use the setting 'none'"
        )
    if builder.uses & {"gold", "noise"} and not dataset.qrels:
        raise ConfigError(
            f"setting {builder.setting!r} needs qrels, and the data set {dataset.name!r} has none; "
            f"use settings such as none and retrieved(5)"
        )
    if "retrieved" in builder.uses and not any(system.retriever for system in generating):
        raise ConfigError(
            f"setting {builder.setting!r} needs a retriever; no system with a generator has one"
        )


def check_depths(
    builders: Sequence[ContextBuilder], systems: Sequence[System], dataset: Dataset
) -> None:
    """Raise `ConfigError` unless `top_k` falls from step to step and the corpus is deep enough."""
    shown = max(
        (getattr(builder, "top_k", 0) for builder in builders if "retrieved" in builder.uses),
        default=0,
    )
    size = len(dataset.corpus)
    if shown > size:
        raise ConfigError(
            f"a setting shows {shown} passages; the corpus of {dataset.name!r} has only {size}; "
            f"lower the number in retrieved({shown})"
        )
    for system in systems:
        _check_depth(system, shown if system.generator else 0)


def _check_depth(system: System, shown: int) -> None:
    """Check that each step hands on at least as many passages as the next one takes."""
    steps = [
        (name, getattr(step, "depth", step.top_k), step.top_k)
        for name, step in (("retriever", system.retriever), ("reranker", system.reranker))
        if step is not None
    ]
    if shown:
        steps.append(("setting", shown, shown))
    for (before, _, wide), (after, narrow, _) in itertools.pairwise(steps):
        if narrow > wide:
            raise ConfigError(
                f"system {system.name!r}: the {after} takes {narrow} passages, but the {before} "
                f"hands on only {wide}; raise the {before}'s top_k or lower the {after}'s "
                f"{'depth' if after == 'reranker' else 'top_k'}"
            )


def check_written_depth(system: str, entry: SystemEntry, size: int) -> None:
    """Raise `ConfigError`, naming the system, where a `top_k` as written is more than the corpus.

    A default may be more: nobody asked for it, and rankings then hold the whole corpus.
    """
    for step, written in (("retriever", entry.retriever), ("reranker", entry.reranker)):
        if written is not None:
            _check_written(f"system {system!r}, {step}", written, size)


def _check_written(step: str, written: object, size: int) -> None:
    spec = parse_spec(written, where=step)
    top_k = spec.parameters.get("top_k")
    if isinstance(top_k, int) and top_k > size:
        raise ConfigError(
            f"{step} {spec.name!r}: top_k is {top_k}, and the corpus has only {size} passages; "
            f"lower top_k to {size} or less, or leave it out"
        )
    for name in COMPONENT_LISTS:
        for part in spec.parameters.get(name, ()):
            _check_written(step, part, size)


def check_metrics(
    metrics: Sequence[Metric], systems: Sequence[System], dataset: Dataset, correct: str
) -> None:
    """Raise `ConfigError` for metrics that the data or the systems cannot give."""
    answers = any(query.gold_answers for query in dataset.queries)
    for metric in metrics:
        if "qrels" in metric.requires and not dataset.qrels:
            raise ConfigError(
                f"metric {str(metric)!r} needs qrels, and the data set {dataset.name!r} has none; "
                f"remove it from 'metrics'"
            )
        if "gold_answers" in metric.requires and not answers:
            raise ConfigError(
                f"metric {str(metric)!r} needs gold answers, and no query of {dataset.name!r} has "
                f"any; remove it from 'metrics'"
            )
        _check_measured(metric, systems)
    if any(s.generator for s in systems) and correct not in [str(m) for m in metrics]:
        raise ConfigError(
            f"'correct' is {correct!r}, which is not among the metrics; add it, or set "
            f"'correct' to the metric whose value 1 means a right answer"
        )


def _check_measured(metric: Metric, systems: Sequence[System]) -> None:
    """Check that some system makes what the metric measures."""
    if isinstance(metric, RankingMetric):
        needed, found = "retriever", any(s.retriever or may_retrieve(s) for s in systems)
    else:
        needed, found = "generator", any(s.generator for s in systems)
    if not found:
        raise ConfigError(f"metric {str(metric)!r} needs a system with a {needed}; none has one")


def check_answered(systems: Sequence[System], answered: StoredTable) -> None:
    """Raise `ConfigError` where a generator cannot answer the queries that are to be answered."""
    for system in systems:
        check = getattr(system.generator, "check_queries", None)
        if check is not None:
            check(table_to_queries(answered.table))


def may_retrieve(system: System) -> bool:
    """Say whether a system may retrieve by itself, and tell which passages it found."""
    return system.retriever is None and getattr(system.generator, "may_retrieve", False)
