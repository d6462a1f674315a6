"""Comparison of systems on their common queries: differences, tests and ranks."""

from __future__ import annotations

import contextlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from arro3.core import Table

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import table_to_scores
from ragstone.data.matching_ids import check_systems
from ragstone.data.readers.scores import clusters_by_id, read_scores
from ragstone.errors import ConfigError, DatasetError, UnknownMetric, did_you_mean
from ragstone.evaluation.comparison import Comparison, MetricComparison
from ragstone.evaluation.score_files import Evaluation
from ragstone.statistics.failures import (
    FAILURE_RATE,
    Scale,
    check_policy,
    difference_of,
    failure_scores,
    summarise_scores,
)
from ragstone.statistics.paired import Correction, Difference, adjust
from ragstone.statistics.rank_stability import RankStability, rank_stability
from ragstone.statistics.significance import Family, judge
from ragstone.statistics.summary import Policy, Summary, clusters_of, few_clusters, range_of
from ragstone.types import Score


@runtime_checkable
class Evaluated(Protocol):
    """The results of an experiment."""

    def evaluation(self, system: str = "", setting: str = "") -> Evaluation:
        """Return the scores of one system under one setting; a single one needs no name."""
        ...


Scores: TypeAlias = Evaluation | Evaluated | Iterable[Score] | Table | Path | str
"""The scores of one system: an evaluation, results, scores, a SCORES table, or a file."""
_Column: TypeAlias = dict[str, Score]
"""Query id -> score under one metric."""
_Gap: TypeAlias = tuple[str, str, Difference]
"""A pair of systems and the difference of the second from the first."""


def compare(
    *scores: Scores | Mapping[str, Scores],
    names: Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    clusters: Mapping[str, Hashable] | None = None,
    baseline: str | None = None,
    correction: Correction = "holm",
    confidence: float = 0.95,
    lower_is_better: Iterable[str] = (),
    resamples: int = 10_000,
    seed: int = 0,
    failures: Policy = "wrong",
    margin: float | None = None,
) -> Comparison:
    """Compare two or more systems on their common queries, metric by metric.

    Args:
        scores: one mapping from name to scores, or one argument per system. Scores are an
            `Evaluation`, the `Results` of an experiment with one system and one setting (of others
            choose with `results.evaluation(system, setting)`), `Score` records, a SCORES table, or
            the path of a file of scores.
        names: names of the systems, if `scores` is not a mapping (default: the files' stems, or
            A, B, ...).
        metrics: metrics to compare, in order (default: those of all systems).
        clusters: query id -> conversation or source document. Whole clusters are drawn and change
            sign together; a query without one is a cluster on its own. The default is the clusters
            of the evaluations and results, else the part of the id before "::" if all ids have one
            (the turns of a conversation). {} for none.
        baseline: the system to compare the others with (default: all pairs).
        correction: multiple-testing correction of the p values, over all pairs and metrics.
        confidence: level of the intervals, which are not corrected. A difference is significant if
            its corrected p is below 1 - `confidence`.
        lower_is_better: metrics such as latency; the direction of Ragstone's metrics is known.
        resamples: number of resampled leaderboards, for the stability of ranks.
        seed: seed of the resampled leaderboards.
        failures: what counts for a failed query: `wrong`, `exclude` or `bounds`. If a system failed
            on a query, the failure rate is compared too.
        margin: a difference within this margin on either side of 0 is one of equivalent systems.

    Raises:
        ConfigError: fewer than two systems, a name given twice, or an unknown name.
        DatasetError: no metric in common, a value that is not finite, a query with two values, or
            clusters without any of the queries.

    >>> old = [Score(str(i), "EM", float(i % 4 == 0)) for i in range(40)]
    >>> new = [Score(str(i), "EM", float(i % 2 == 0)) for i in range(40)]
    >>> compare({"old": old, "new": new})["EM"].pairs[0].verdict
    'new is better than old by 0.2500 [0.1405, 0.4019], p=0.0016'
    """
    lower = {FAILURE_RATE, *lower_is_better}
    settings = _Settings(
        clusters, baseline, correction, confidence, lower, resamples, seed, failures, margin
    )
    sides = {name: _selected(given, name) for name, given in _named(scores, names, baseline)}
    return _comparison(sides, metrics, settings)


@dataclass(frozen=True, slots=True)
class _Settings:
    clusters: Mapping[str, Hashable] | None
    baseline: str | None
    correction: Correction
    confidence: float
    lower_is_better: set[str]
    resamples: int
    seed: int
    failures: Policy
    margin: float | None

    def __post_init__(self) -> None:
        check_policy(self.failures)
        if self.margin is not None and not self.margin > 0:
            raise ConfigError(f"margin {self.margin} is not above 0; for example 0.02")


def _comparison(
    sides: Mapping[str, Scores], metrics: Sequence[str] | None, settings: _Settings
) -> Comparison:
    tables = _with_failures(_tables(sides))
    shared, not_shared = _shared_metrics(tables, metrics)
    label, groups = _labelled_clusters(settings.clusters, sides.values(), tables.values())
    settings = replace(settings, clusters=groups)
    found = [
        _compare_metric(
            {name: held[metric] for name, held in tables.items()},
            _scale(metric, sides.values(), settings),
            settings,
        )
        for metric in shared
    ]
    tests, judged = _judged(found, settings)
    systems, confidence, correction = tuple(sides), settings.confidence, settings.correction
    return Comparison(systems, judged, not_shared, confidence, correction, tests, label)


def _named(
    scores: Sequence[Scores | Mapping[str, Scores]],
    names: Sequence[str] | None,
    baseline: str | None,
) -> list[tuple[str, Scores]]:
    """Return the systems' names and scores."""
    if len(scores) == 1 and isinstance(scores[0], Mapping) and names is None:
        names, scores = list(scores[0]), list(scores[0].values())
    if any(isinstance(one, Mapping) for one in scores):
        raise ConfigError("give one mapping from name to scores, or one argument per system")
    if len(scores) < 2:  # noqa: PLR2004 - a comparison has two sides
        raise ConfigError(f"a comparison needs at least two systems, found {len(scores)}")
    given = names or [
        Path(one).name.split(".")[0] if isinstance(one, Path | str) else chr(ord("A") + place % 26)
        for place, one in enumerate(scores)
    ]
    if len(given) != len(scores) or len(set(given)) < len(given):
        raise ConfigError(
            f"{len(scores)} systems need as many different names, found {', '.join(given)}; name "
            "each one: names=[...], or NAME=FILE on the command line"
        )
    if baseline is not None and baseline not in given:
        raise ConfigError(f"unknown baseline {baseline!r}{did_you_mean(baseline, given)}")
    return list(zip(given, cast("Sequence[Scores]", scores), strict=True))


def _selected(scores: Scores, name: str) -> Scores:
    """Return the scores of the only system and setting of some results; others unchanged."""
    if not isinstance(scores, Evaluated):
        return scores
    try:
        return scores.evaluation()
    except ConfigError as error:
        raise error.with_message(f"{name}: {error}") from error


def _tables(sides: Mapping[str, Scores]) -> dict[str, dict[str, _Column]]:
    """Return system -> metric -> query id -> score; systems have queries in common."""
    tables = {name: _by_metric(given, name) for name, given in sides.items()}
    check_systems({name: set().union(*held.values()) for name, held in tables.items()})
    return tables


def _by_metric(scores: Scores, name: str) -> dict[str, _Column]:
    """Return metric -> query id -> score of one system."""
    if isinstance(scores, Path | str):
        held: Iterable[Score] = read_scores(Path(scores))
    elif isinstance(scores, Evaluation | Table):
        held = table_to_scores(scores.table if isinstance(scores, Evaluation) else scores)
    else:
        held = cast("Iterable[Score]", scores)
    columns: dict[str, _Column] = {}
    for score in held:
        column = columns.setdefault(score.metric, {})
        if column.setdefault(score.query_id, score) is not score:
            raise DatasetError(
                f"{name}: query {score.query_id!r} has a second value for {score.metric}; keep one"
            )
    return columns


def _shared_metrics(
    tables: Mapping[str, Mapping[str, _Column]], wanted: Sequence[str] | None
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """Return the metrics of all systems, and metric -> systems without it for the others."""
    every = list(dict.fromkeys(metric for held in tables.values() for metric in held))
    unknown = [metric for metric in wanted or () if metric not in every]
    if unknown:
        raise UnknownMetric(f"no system has {unknown[0]!r}{did_you_mean(unknown[0], every)}")
    chosen = [*wanted, *{FAILURE_RATE}.intersection(every)] if wanted else every
    absent = {m: tuple(name for name, held in tables.items() if m not in held) for m in every}
    shared = [metric for metric in chosen if not absent[metric]]
    if not shared:
        has = "; ".join(f"{name} has {', '.join(held) or 'none'}" for name, held in tables.items())
        raise DatasetError(f"the systems have no metric in common: {has}")
    return shared, {metric: names for metric, names in absent.items() if names and metric in chosen}


def _labelled_clusters(
    clusters: Mapping[str, Hashable] | None,
    sides: Iterable[Scores],
    tables: Iterable[Mapping[str, _Column]],
) -> tuple[str, Mapping[str, Hashable]]:
    """Return the given clusters, those of the evaluations or those of the ids, with a name."""
    if clusters is None:
        evaluations = [side for side in sides if isinstance(side, Evaluation)]
        clusters = {query_id: c for one in evaluations for query_id, c in one.clusters.items()}
        if not clusters:
            by_id = clusters_by_id({q for table in tables for held in table.values() for q in held})
            return "conversation" if by_id else "", by_id
    return "clusters" if clusters else "", clusters


def _scale(metric: str, sides: Iterable[Scores], settings: _Settings) -> Scale:
    """Return the range and direction of a metric: of the evaluations, or of Ragstone's metric."""
    evaluations = (one for one in sides if isinstance(one, Evaluation))
    known = [one.scales[metric] for one in evaluations if metric in one.scales]
    scale = known[0] if known else Scale()
    if not known and ":" not in metric:
        with contextlib.suppress(ConfigError):
            found = parse_metric(metric)
            scale = Scale(found.range, found.direction)
    if metric in settings.lower_is_better:
        scale = replace(scale, direction="lower")
    return replace(scale, failures=settings.failures)


def _compare_metric(
    columns: Mapping[str, _Column], scale: Scale, settings: _Settings
) -> tuple[MetricComparison, list[_Gap]]:
    every = _ids(columns)
    metric = next(score.metric for column in columns.values() for score in column.values())
    known = [q for q in every if all(q in column for column in columns.values())]
    given = [score.value for column in columns.values() for score in column.values()]
    numbers = np.array([value for value in given if value is not None])
    if len(numbers) and range_of(numbers, scale.range) is None:
        scale = replace(scale, range=None)
    cases = {name: {q: scale.counted(column[q]) for q in known} for name, column in columns.items()}
    common = [q for q in known if all(held[q] is not None for held in cases.values())]
    if settings.clusters and common and settings.clusters.keys().isdisjoint(common):
        raise DatasetError(
            f"the clusters contain none of the queries of {metric}: the scores have queries such "
            f"as {common[0]!r}, the clusters {next(iter(settings.clusters))!r}"
        )
    clusters = clusters_of(common, settings.clusters)
    values = {n: [c for q in common if (c := held[q]) is not None] for n, held in cases.items()}
    out = set(every) - set(common)
    found = MetricComparison(
        metric=metric,
        n=len(common),
        left_out=len(out),
        absent={n: tuple(q for q in every if q not in held) for n, held in columns.items()},
        summaries={
            name: _summary(column, known, common, scale, settings)
            for name, column in columns.items()
        },
        pairs=(),
        ranks=_ranks(values, clusters, scale, settings),
        scale=scale,
        few_clusters=few_clusters(clusters or ()),
    )
    base = settings.baseline
    pairs = combinations(values, 2) if base is None else ((base, b) for b in values if b != base)
    options: Any = {"clusters": clusters, "confidence": settings.confidence}
    return found, [
        (a, b, difference_of(values[a], values[b], scale, **options)) for a, b in pairs if common
    ]


def _summary(
    column: _Column, known: Sequence[str], common: Sequence[str], scale: Scale, settings: _Settings
) -> Summary:
    """Return the mean over the common queries, and the counts over the known ones."""

    def over(query_ids: Sequence[str]) -> Summary:
        return summarise_scores(
            [column[q].value for q in query_ids],
            [column[q].status for q in query_ids],
            scale,
            clusters=clusters_of(query_ids, settings.clusters),
            confidence=settings.confidence,
        )

    found, whole = over(common), over(known)
    counts = replace(found, unscored=whole.unscored, not_applicable=whole.not_applicable)
    if scale.policy != "exclude":
        return counts
    return replace(counts, failed=whole.failed, mean_of_all=whole.mean_of_all)


def _ranks(
    values: Mapping[str, Sequence[tuple[float, float]]],
    clusters: Sequence[Hashable] | None,
    scale: Scale,
    settings: _Settings,
) -> tuple[RankStability, ...]:
    """Return the ranks of three systems or more; the pair ranks two systems."""
    if len(values) < 3 or not all(values.values()):  # noqa: PLR2004 - as above
        return ()
    return tuple(
        rank_stability(
            {name: [worst for worst, _ in held] for name, held in values.items()},
            clusters=clusters,
            higher_is_better=scale.direction != "lower",
            confidence=settings.confidence,
            resamples=settings.resamples,
            seed=settings.seed,
        )
    )


def _with_failures(tables: dict[str, dict[str, _Column]]) -> dict[str, dict[str, _Column]]:
    """Return the tables with the failure rate, if a system failed on a query."""
    added = failure_scores(tables)
    return {n: held | {FAILURE_RATE: added[n]} if added else held for n, held in tables.items()}


def _ids(columns: Mapping[str, _Column]) -> list[str]:
    return list(dict.fromkeys(query_id for column in columns.values() for query_id in column))


def _judged(
    found: Sequence[tuple[MetricComparison, list[_Gap]]], settings: _Settings
) -> tuple[int, tuple[MetricComparison, ...]]:
    """Return the number of tests, and the comparisons with pairs corrected over all tests."""
    p_values = [gap.p for _, gaps in found for _, _, gap in gaps]
    family = Family(1 - settings.confidence, len(p_values), settings.correction, settings.margin)
    adjusted = iter(adjust(p_values, settings.correction))
    judged = []
    for one, gaps in found:
        failed = {name: summary.failed for name, summary in one.summaries.items()}
        pairs = [
            judge(a, b, gap, next(adjusted), family, scale=one.scale, failed=(failed[a], failed[b]))
            for a, b, gap in gaps
        ]
        judged.append(replace(one, pairs=tuple(pairs)))
    return len(p_values), tuple(judged)
