"""The scores of several systems, read from evaluations, results or files: columns and clusters."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from arro3.core import Table

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import table_to_scores
from ragstone.data.matching_ids import check_systems
from ragstone.data.readers.scores import clusters_by_id, read_score_rows
from ragstone.errors import ConfigError, DatasetError, UnknownMetric, did_you_mean
from ragstone.evaluation.answered import Answered
from ragstone.evaluation.evaluation import Evaluation
from ragstone.statistics.failures import FAILURE_RATE, Scale, check_policy, failure_scores
from ragstone.statistics.summary import Policy, range_of
from ragstone.types import Score


@runtime_checkable
class Evaluated(Protocol):
    """The results of an experiment."""

    def evaluation(self, system: str = "", setting: str = "") -> Evaluation:
        """Return the scores of one system under one setting; a single one needs no name."""
        ...


Scores: TypeAlias = Evaluation | Evaluated | Iterable[Score] | Table | Path | str
"""The scores of one system: an evaluation, results, scores, a SCORES table, or a file."""
Column: TypeAlias = dict[str, Score]
"""Query id -> score under one metric."""


@dataclass(frozen=True, slots=True)
class ScoredSystems:
    """The scores of at least two systems, metric by metric."""

    tables: Mapping[str, Mapping[str, Column]]
    """System -> metric -> query id -> score."""
    evaluations: Mapping[str, Evaluation]
    """System -> its evaluation, if its scores are one."""
    clusters: Mapping[str, Hashable]
    """Query id -> conversation or document; empty if each query is a cluster."""
    label: str
    """Name of the clusters; empty if there are none."""
    lower_is_better: Collection[str]
    failures: Policy
    answered: Mapping[str, Answered] = field(default_factory=dict)
    """System -> the texts behind its scores."""

    @property
    def common(self) -> tuple[str, ...]:
        """The queries that every system has a score of, in the order of the first system."""
        first, *others = (dict.fromkeys(chain(*held.values())) for held in self.tables.values())
        return tuple(q for q in first if all(q in other for other in others))

    def headline(self, metrics: Sequence[str]) -> str:
        """Return the headline metric of the experiments if it is among some metrics, or the first.

        The failure rate comes last.
        """
        named = [one.headline for one in self.evaluations.values() if one.headline in metrics]
        return min([*named, *metrics], key=lambda metric: metric == FAILURE_RATE)

    def columns(self, metric: str) -> dict[str, Column]:
        """Return the scores of each system under a metric that all of them have."""
        return {name: held[metric] for name, held in self.tables.items()}

    def scale(self, metric: str) -> Scale:
        """Return the range and direction of a metric: of the evaluations, or of Ragstone's metric.

        A range that a value exceeds is left out.
        """
        known = (e.scales[metric] for e in self.evaluations.values() if metric in e.scales)
        scale = next(known, None)
        if scale is None:
            scale = Scale()
            if ":" not in metric:
                with contextlib.suppress(ConfigError):
                    found = parse_metric(metric)
                    scale = Scale(found.range, found.direction)
        if metric in self.lower_is_better:
            scale = replace(scale, direction="lower")
        given = [s.value for column in self.columns(metric).values() for s in column.values()]
        numbers = np.array([value for value in given if value is not None])
        if len(numbers) and range_of(numbers, scale.range) is None:
            scale = replace(scale, range=None)
        return replace(scale, failures=self.failures)

    def judge_notes(self, metric: str) -> tuple[str, ...]:
        """Return the gains of a metric's judges by flagged probes, each note once."""
        notes = (one.judge_notes.get(metric) for one in self.evaluations.values())
        return tuple(dict.fromkeys(filter(None, notes)))

    def shared_metrics(
        self, wanted: Sequence[str] | None
    ) -> tuple[list[str], dict[str, tuple[str, ...]]]:
        """Return the metrics of all systems, and metric -> systems without it for the others."""
        every = list(dict.fromkeys(metric for held in self.tables.values() for metric in held))
        unknown = [metric for metric in wanted or () if metric not in every]
        if unknown:
            raise UnknownMetric(f"no system has {unknown[0]!r}{did_you_mean(unknown[0], every)}")
        chosen = (
            list(dict.fromkeys([*wanted, *{FAILURE_RATE}.intersection(every)])) if wanted else every
        )
        absent = {m: tuple(n for n, held in self.tables.items() if m not in held) for m in every}
        shared = [metric for metric in chosen if not absent[metric]]
        if not shared:
            tables = self.tables.items()
            has = "; ".join(f"{n} has {', '.join(held) or 'none'}" for n, held in tables)
            raise DatasetError(f"the systems have no metric in common: {has}")
        return shared, {m: names for m, names in absent.items() if names and m in chosen}


def scored_systems(
    sides: Mapping[str, Scores],
    *,
    clusters: Mapping[str, Hashable] | None = None,
    lower_is_better: Iterable[str] = (),
    failures: Policy = "wrong",
) -> ScoredSystems:
    """Return the scores of several systems, by name.

    Args:
        sides: name -> scores.
        clusters: query id -> cluster. None for the clusters of the evaluations, else those of the
            ids; {} for none.
        lower_is_better: metrics for which lower is better, besides those that Ragstone knows.
        failures: the failure policy.

    Raises:
        ConfigError: results of several systems or settings, or an unknown policy.
        DatasetError: a query with two values of a metric, or no query in common.
    """
    check_policy(failures)
    chosen = {name: _selected(given, name) for name, given in sides.items()}
    read = {name: _read(given) for name, given in chosen.items()}
    tables = {name: _by_metric(scores, name) for name, (scores, _) in read.items()}
    check_systems({name: set().union(*held.values()) for name, held in tables.items()})
    added = failure_scores(tables)
    if added:
        tables = {name: held | {FAILURE_RATE: added[name]} for name, held in tables.items()}
    evaluations = {name: side for name, side in chosen.items() if isinstance(side, Evaluation)}
    label, groups = _labelled_clusters(clusters, evaluations.values(), tables.values())
    lower = {FAILURE_RATE, *lower_is_better}
    answered = {name: texts for name, (_, texts) in read.items()}
    return ScoredSystems(tables, evaluations, groups, label, lower, failures, answered)


def data_changes(before: Evaluation, after: Evaluation) -> Iterator[str]:
    """Yield how the data of two evaluations differ, as far as both know them."""
    if before.corpus_digest and after.corpus_digest not in ("", before.corpus_digest):
        yield "the corpora differ"
    golds = before.gold_answers, after.gold_answers
    changed = [q for q in golds[0] if q in golds[1] and golds[0][q] != golds[1][q]]
    if changed:
        yield f"the gold answers of {len(changed):,} queries differ"


def _selected(scores: Scores, name: str) -> Scores:
    """Return the scores of the only system and setting of some results; others unchanged."""
    if not isinstance(scores, Evaluated):
        return scores
    try:
        return scores.evaluation()
    except ConfigError as error:
        raise error.with_message(f"{name}: {error}") from error


def _read(scores: Scores) -> tuple[Iterable[Score], Answered]:
    """Return the scores of one system, and the texts behind them."""
    if isinstance(scores, Path | str):
        found = read_score_rows(Path(scores))
        return found.scores, Answered(found.queries, found.predictions)
    if isinstance(scores, Evaluation):
        return table_to_scores(scores.table), scores.answered
    if isinstance(scores, Table):
        return table_to_scores(scores), Answered()
    return cast("Iterable[Score]", scores), Answered()


def _by_metric(scores: Iterable[Score], name: str) -> dict[str, Column]:
    """Return metric -> query id -> score of one system."""
    columns: dict[str, Column] = {}
    for score in scores:
        column = columns.setdefault(score.metric, {})
        if column.setdefault(score.query_id, score) is not score:
            raise DatasetError(
                f"{name}: query {score.query_id!r} has a second value for {score.metric}; keep one"
            )
    return columns


def _labelled_clusters(
    clusters: Mapping[str, Hashable] | None,
    evaluations: Iterable[Evaluation],
    tables: Iterable[Mapping[str, Column]],
) -> tuple[str, Mapping[str, Hashable]]:
    """Return the given clusters, those of the evaluations or those of the ids, with a name."""
    if clusters is None:
        clusters = {query_id: c for one in evaluations for query_id, c in one.clusters.items()}
        if not clusters:
            by_id = clusters_by_id({q for table in tables for held in table.values() for q in held})
            return "conversation" if by_id else "", by_id
    return "clusters" if clusters else "", clusters
