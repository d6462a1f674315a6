"""Comparison of systems on their common queries: differences, tests and ranks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias, cast

from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.evaluation.comparison import Comparison
from ragstone.evaluation.metric_comparison import MetricComparison
from ragstone.evaluation.scored_systems import Column, ScoredSystems, Scores, scored_systems
from ragstone.statistics.breakdown import differences_by
from ragstone.statistics.failures import Scale, difference_of, summarise_scores
from ragstone.statistics.flipped import flipped_queries
from ragstone.statistics.paired import Correction, Difference, adjust
from ragstone.statistics.rank_stability import RankStability, rank_stability
from ragstone.statistics.significance import Family, judge
from ragstone.statistics.summary import Policy, Summary, clusters_of, few_clusters

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
    by: Mapping[str, Sequence[str]] | None = None,
) -> Comparison:
    """Compare two or more systems on their common queries, metric by metric.

    Sources of the tests and intervals: docs/statistics.md.

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
        failures: the failure policy: `wrong`, `exclude` or `bounds`. If a system failed
            on a query, the failure rate is compared too.
        margin: a difference within this margin on either side of 0 is one of equivalent systems.
        by: value of a label -> its queries (`ragstone.statistics.breakdown.groups_of`): the
            differences under each value too, with Holm's correction over the values.

    Raises:
        ConfigError: fewer than two systems, a name given twice, or an unknown name.
        DatasetError: no metric in common, a value that is not finite, a query with two values, or
            clusters without any of the queries.

    >>> from ragstone.types import Score
    >>> old = [Score(str(i), "EM", float(i % 4 == 0)) for i in range(40)]
    >>> new = [Score(str(i), "EM", float(i % 2 == 0)) for i in range(40)]
    >>> compare({"old": old, "new": new})["EM"].pairs[0].verdict
    'new is better than old by 0.2500 [0.1405, 0.4019], p=0.0016'
    """
    sides, lower = dict(_named(scores, names, baseline)), lower_is_better
    systems = scored_systems(sides, clusters=clusters, lower_is_better=lower, failures=failures)
    levels = (baseline, correction, confidence)
    settings = _Settings(systems.clusters, *levels, resamples, seed, margin, by or {})
    return _comparison(systems, metrics, settings)


@dataclass(frozen=True, slots=True)
class _Settings:
    clusters: Mapping[str, Hashable]
    baseline: str | None
    correction: Correction
    confidence: float
    resamples: int
    seed: int
    margin: float | None
    by: Mapping[str, Sequence[str]]

    def __post_init__(self) -> None:
        if self.margin is not None and not self.margin > 0:
            raise ConfigError(f"margin {self.margin} is not above 0; for example 0.02")


def _comparison(
    systems: ScoredSystems, metrics: Sequence[str] | None, settings: _Settings
) -> Comparison:
    shared, not_shared = systems.shared_metrics(metrics)
    found = [
        _compare_metric(systems.columns(metric), systems.scale(metric), settings)
        for metric in shared
    ]
    tests, judged = _judged(found, settings)
    judged = tuple(replace(one, judge_notes=systems.judge_notes(one.metric)) for one in judged)
    confidence, correction = settings.confidence, settings.correction
    return Comparison(
        systems=tuple(systems.tables),
        metrics=judged,
        not_shared=not_shared,
        confidence=confidence,
        correction=correction,
        tests=tests,
        clusters=systems.label,
        headline=systems.headline(shared),
        common=systems.common,
        scores=systems.tables,
        answered=systems.answered,
    )


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


def _compare_metric(
    columns: Mapping[str, Column], scale: Scale, settings: _Settings
) -> tuple[MetricComparison, list[_Gap]]:
    every = _ids(columns)
    metric = next(score.metric for column in columns.values() for score in column.values())
    known = [q for q in every if all(q in column for column in columns.values())]
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
    every_pair = (
        combinations(values, 2) if base is None else ((base, b) for b in values if b != base)
    )
    pairs = list(every_pair) if common else []
    options: Any = {"clusters": clusters, "confidence": settings.confidence}
    chosen = {name: {q: column[q] for q in common} for name, column in columns.items()}
    found = replace(
        found,
        flipped={(a, b): flipped_queries(chosen[a], chosen[b], scale) for a, b in pairs},
        by={
            (a, b): tuple(
                differences_by(chosen[a], chosen[b], settings.by, settings.clusters, scale)
            )
            for a, b in pairs
            if settings.by
        },
    )
    return found, [(a, b, difference_of(values[a], values[b], scale, **options)) for a, b in pairs]


def _summary(
    column: Column, known: Sequence[str], common: Sequence[str], scale: Scale, settings: _Settings
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


def _ids(columns: Mapping[str, Column]) -> list[str]:
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
