"""Checks before anything is spent: settings, depths and metrics against the data."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.base import RankingMetric, ranks_documents
from ragstone.components.metrics.row_checks import LABEL
from ragstone.core.spec import parse_spec
from ragstone.core.user_code import is_ours
from ragstone.data.lazy_rows import QueryRows
from ragstone.errors import ConfigError
from ragstone.experiment.names import check_names

if TYPE_CHECKING:
    from ragstone.components.metrics.base import AnswerMetric
    from ragstone.core.stored_table import StoredTable
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import SystemSpec
    from ragstone.experiment.system import System
    from ragstone.protocols import ContextSetting

_LOG: Final = logging.getLogger(__name__)


def check_settings(
    settings: Sequence[ContextSetting], systems: Sequence[System], dataset: Dataset
) -> None:
    """Raise `ConfigError` if a setting cannot be built from this data or by these systems."""
    if not dataset.query_table.num_rows:
        problem = f"the data set {dataset.name!r} has no query; an experiment needs one"
        if dataset.source.reader == "documents":
            problem += (
                ". The questions on documents are another file: data: {path: qa.csv, documents: "
                "docs}, or `ragstone try SYSTEM qa.csv --documents docs`"
            )
        raise ConfigError(problem)
    check_names("setting", [setting.setting for setting in settings], "leave one of them out")
    generating = [system for system in systems if system.generator]
    if generating and not settings:
        raise ConfigError(
            f"system {generating[0].name!r} has a generator, but there are no 'settings'; "
            f"for example: settings: [none, gold, retrieved(5)]"
        )
    if settings and not generating:
        raise ConfigError("there are 'settings', but no system has a generator")
    for setting in settings:
        _check_setting(setting, generating, dataset)


def setting_problem(setting: ContextSetting, dataset: Dataset) -> str:
    """Return why a setting cannot be built from this data, or ""."""
    if setting.uses and not len(dataset.corpus):
        return f"shows passages, but the data set {dataset.name!r} has no corpus"
    if setting.uses & {"gold", "noise", "qrels"} and not dataset.qrels:
        return f"needs qrels, and the data set {dataset.name!r} has none"
    return ""


def _check_setting(setting: ContextSetting, generating: Sequence[System], dataset: Dataset) -> None:
    if problem := setting_problem(setting, dataset):
        others = "retrieved(5), none" if len(dataset.corpus) else "none"
        raise ConfigError(f"setting {setting.setting!r} {problem}; use settings such as {others}")
    if "retrieved" in setting.uses and not any(system.retriever for system in generating):
        raise ConfigError(
            f"setting {setting.setting!r} needs a retriever; no system with a generator has one"
        )
    if not any(system.answers_under(setting) for system in generating):
        raise ConfigError(
            f"setting {setting.setting!r} is for systems of your own, which report their context, "
            "and none is in the file; use settings such as none and retrieved(5)"
        )
    for system in generating:
        if system.generator and setting.uses and system.answers_under(setting):
            system.generator.check_setting(setting.setting)


def check_depths(
    settings: Sequence[ContextSetting], systems: Sequence[System], dataset: Dataset
) -> None:
    """Raise `ConfigError` unless `top_k` falls from step to step and the corpus is deep enough."""
    shown = max((setting.shows for setting in settings), default=0)
    size = dataset.corpus.depth
    if shown > size:
        corpus = "smallest collection" if dataset.collections else "corpus"
        raise ConfigError(
            f"a setting shows {shown} passages; the {corpus} of {dataset.name!r} has only {size}; "
            f"lower the number in retrieved({shown})"
        )
    for system in systems:
        _check_depth(system, shown if system.generator else 0)


def _check_depth(system: System, shown: int) -> None:
    """Check that each step hands on at least as many passages as the next one takes."""
    steps = []
    if system.retriever:
        steps.append(("retriever", system.retriever.top_k, system.retriever.top_k))
    if system.reranker:
        steps.append(("reranker", system.reranker.reads, system.reranker.top_k))
    if shown:
        steps.append(("setting", shown, shown))
    for (before, _, wide), (after, narrow, _) in itertools.pairwise(steps):
        if narrow > wide:
            raise ConfigError(
                f"system {system.name!r}: the {after} takes {narrow} passages, but the {before} "
                f"hands on only {wide}; raise the {before}'s top_k or lower the {after}'s "
                f"{'depth' if after == 'reranker' else 'top_k'}"
            )


def check_written_depth(system: str, entry: SystemSpec, size: int) -> None:
    """Raise `ConfigError` if a `top_k` in the file is larger than the corpus.

    A default may be larger: rankings then contain the whole corpus.
    """
    for step, written in (("retriever", entry.retriever), ("reranker", entry.reranker)):
        if isinstance(written, str | Mapping):
            _check_written(f"system {system!r}, {step}", written, size)


def _check_written(step: str, written: object, size: int) -> None:
    spec = parse_spec(written, where=step)
    top_k = spec.parameters.get("top_k")
    if isinstance(top_k, int) and top_k > size:
        raise ConfigError(
            f"{step} {spec.name!r}: top_k is {top_k}, and the corpus has only {size} passages; "
            f"lower top_k to {size} or less, or leave it out"
        )
    for parts in spec.parameters.values():
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, str | Mapping):
                _check_written(step, part, size)


def check_metrics(
    metrics: Sequence[RankingMetric | AnswerMetric],
    systems: Sequence[System],
    dataset: Dataset,
    settings: Sequence[ContextSetting] = (),
) -> None:
    """Raise `ConfigError` for metrics that the data, systems or settings cannot give."""
    for metric in metrics:
        if problem := data_problem(metric, dataset):
            raise ConfigError(
                f"metric {str(metric)!r} {problem}; remove it from 'metrics'",
                key="metrics",
                value=str(metric),
            )
        _check_measured(metric, systems)
        _check_level(metric, dataset)
        _check_planted(metric, settings)


def plants_attacks(settings: Sequence[ContextSetting]) -> bool:
    """Return whether a setting plants attacks in its contexts; your own setting may."""
    from ragstone.components.context_settings.gold_injected import GoldInjected

    return any(isinstance(s, GoldInjected) or not is_ours(type(s)) for s in settings)


def _check_planted(
    metric: RankingMetric | AnswerMetric, settings: Sequence[ContextSetting]
) -> None:
    """Check that a setting plants attacks if the metric reads them."""
    if "attacks" in metric.requires and not plants_attacks(settings):
        raise ConfigError(
            f"metric {str(metric)!r} needs a setting with planted attacks; add one such as "
            "gold+injected(2) to 'settings', or remove the metric",
            key="metrics",
            value=str(metric),
        )


def _check_level(metric: RankingMetric | AnswerMetric, dataset: Dataset) -> None:
    """Check that passages name their documents; warn of passages where documents are judged."""
    if ranks_documents(metric):
        if not dataset.corpus.has_documents:
            raise ConfigError(
                f"metric {str(metric)!r} needs the documents of the passages, and the corpus of "
                f"{dataset.name!r} names none; add the field 'document' to its rows, or remove "
                f"level={getattr(metric, 'level', '')}",
                key="metrics",
                value=str(metric),
            )
    elif (
        isinstance(metric, RankingMetric)
        and dataset.judged != "passage"
        and "languages" not in metric.requires
    ):
        _LOG.warning(
            "%s judges documents, so every passage of a relevant one counts for %s; measure the "
            "documents with %s",
            *(dataset.name, metric, replace(metric, level="document")),
        )


def data_problem(metric: RankingMetric | AnswerMetric, dataset: Dataset) -> str:
    """Return the need of a metric that a data set does not meet, or ""."""
    data: dict[str, tuple[str, Callable[[], bool]]] = {
        "qrels": ("qrels", lambda: bool(dataset.qrels)),
        "subtopics": ("subtopics (`ragstone rank` reads them)", lambda: False),
        "checks": ("checks", lambda: any(LABEL in query.labels for query in dataset.queries)),
        "gold_answers": ("gold answers", lambda: any(q.gold_answers for q in dataset.queries)),
        "collections": ("collections", lambda: bool(dataset.collections)),
    }
    for needed in sorted(metric.requires & data.keys()):
        noun, is_given = data[needed]
        if not is_given():
            return f"needs {noun}, and the data set {dataset.name!r} has none"
    return ""


def _check_measured(metric: RankingMetric | AnswerMetric, systems: Sequence[System]) -> None:
    """Check that some system makes the metric's input: rankings or answers."""
    if isinstance(metric, RankingMetric):
        needed, found = "retriever", any(s.retriever or s.may_retrieve for s in systems)
    else:
        needed, found = "generator", any(s.generator for s in systems)
    if not found:
        raise ConfigError(
            f"metric {str(metric)!r} needs a system with a {needed}; none has one", key="metrics"
        )


def check_answered(systems: Sequence[System], tables: Sequence[StoredTable]) -> None:
    """Raise `ConfigError` if a generator cannot answer the queries of a table together."""
    for table in {table.digest: table for table in tables}.values():
        queries = QueryRows(table.table)
        for system in systems:
            if system.generator is not None:
                system.generator.check_queries(queries)
