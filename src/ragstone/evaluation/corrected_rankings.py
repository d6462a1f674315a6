"""Ranking metrics by a judge's grades of passages, corrected by people's grades for some queries.

Each metric is computed per query by the judge's grades and, if people graded all passages that the
judge graded, by people's. The means and differences are then corrected as those of answers
(`ragstone.statistics.corrected`). nDCG and recall depend on all graded passages of a query, so that
grades of a part of them give no value by people.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.ranking_batch import Qrels, Run
from ragstone.components.metrics.score import score_rankings
from ragstone.core.schemas import table_to_scores
from ragstone.errors import ConfigError, DatasetError, did_you_mean
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.corrected_difference import (
    CorrectedDifference,
    GradedSystem,
    adjusted,
    all_differences,
    corrected_ranks,
)
from ragstone.statistics.prediction_powered import Calibrated
from ragstone.statistics.ranks import Place


@dataclass(frozen=True)
class CorrectedRankings:
    """The systems by one ranking metric, corrected by people's grades."""

    metric: str
    means: Mapping[str, Calibrated | str]
    """System -> corrected mean, or the reason why there is none."""
    differences: tuple[CorrectedDifference, ...]
    """Differences of all pairs of systems; in those from the baseline, it is the second system."""
    places: Mapping[str, Place]
    graded: int
    """Queries of which people graded all passages that the judge graded."""
    partly: int
    """Queries of which people graded a part of these passages; they count as not labelled."""


def corrected_rankings(
    runs: Mapping[str, Run],
    judge: Qrels,
    people: Qrels,
    metric: str,
    *,
    baseline: str | None = None,
    clusters: Mapping[str, Hashable] | None = None,
) -> CorrectedRankings:
    """Return the mean of a ranking metric per system, corrected by people's grades.

    Queries without a relevant passage, by the judge or by people, are left out: the metric is not
    defined for them.

    Args:
        runs: system -> query id -> ranking; a query without one has the value 0.
        judge: query id -> passage id -> the judge's grade, of all queries.
        people: the same by people, for a random sample of the queries.
        metric: such as `nDCG@10`, `R@5` or `MRR`.
        baseline: the system that the others are compared with; by default the best one.
        clusters: query id -> conversation; a query without one is a cluster on its own.

    Raises:
        ConfigError: an unknown metric or baseline.
        DatasetError: people graded no query of the judge's.

    >>> judge = {f"q{n}": {"a": n % 3 > 0, "b": 1} for n in range(60)}
    >>> people = {f"q{n}": {"a": n % 4 > 0, "b": 1} for n in range(20)}
    >>> runs = {"x": {q: {"a": 2.0, "b": 1.0} for q in judge}}
    >>> runs["y"] = {q: {"b": 2.0, "a": 1.0} for q in judge}
    >>> found = corrected_rankings(runs, judge, people, "R@1")
    >>> found.graded, {system: place.text for system, place in found.places.items()}
    (20, {'y': '1', 'x': '2'})
    """
    if baseline is not None and baseline not in runs:
        raise ConfigError(f"no system {baseline!r}{did_you_mean(baseline, runs)}")
    common = [q for q in judge if q in people]
    whole = {q: people[q] for q in common if set(judge[q]) <= set(people[q])}
    if not common:
        raise DatasetError("people graded none of the queries that the judge graded")
    lower = parse_metric(metric).direction == "lower"
    graded = {
        name: GradedSystem(_values(metric, judge, run, judge), _values(metric, whole, run, judge))
        for name, run in runs.items()
    }
    names = None if clusters is None else [clusters.get(q, ("", q)) for q in judge]
    means = {name: one.mean(names) for name, one in graded.items()}
    kept = {name: one.mean for name, one in means.items() if isinstance(one, Calibrated)}
    best = (min if lower else max)(kept, key=kept.__getitem__) if kept else next(iter(runs))
    differences = adjusted(all_differences(graded, baseline or best, clusters=names))
    ranks = corrected_ranks(differences, kept, lower_is_better=lower)
    partly = len(common) - len(whole)
    return CorrectedRankings(metric, means, tuple(differences), ranks, len(whole), partly)


def _values(metric: str, qrels: Qrels, run: Run, every: Qrels) -> Floats:
    """Return the metric of each query; NaN if it is not defined or not graded."""
    scores = {one.query_id: one for one in table_to_scores(score_rankings([metric], qrels, run))}
    found = np.full(len(every), np.nan)
    for place, query_id in enumerate(every):
        score = scores.get(query_id)
        if score is not None and score.status != "not_applicable":
            found[place] = score.value or 0.0
    return found
