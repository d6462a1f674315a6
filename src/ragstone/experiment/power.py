"""The number of queries that an experiment needs to show a difference, before it is run.

The scores come from a pilot (files of scores, or stored results), or from assumptions.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import comb
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from ragstone.components.metrics.parse import parse_metric
from ragstone.core.schemas import columns
from ragstone.core.store import Store
from ragstone.data.readers.scores import clusters_by_id, read_scores
from ragstone.errors import ConfigError, DatasetError, StoreError, UnknownMetric, did_you_mean
from ragstone.experiment.clusters import query_clusters
from ragstone.results.power_plan import PowerPlan, PowerRow
from ragstone.results.results import Results
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.correctness import Correctness
from ragstone.statistics.paired import POWER
from ragstone.statistics.power import (
    DRAWS,
    Gaps,
    assumed_population,
    detectable_difference,
    intraclass_correlation,
    population,
    sample_size,
)
from ragstone.statistics.significance import Family
from ragstone.statistics.summary import check_confidence, clusters_of

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset
    from ragstone.experiment.config import ExperimentFile
    from ragstone.experiment.metric_set import MetricSet
    from ragstone.experiment.system import SharedInputs, System
    from ragstone.protocols import ContextSetting, Judge
    from ragstone.types import Score

MEANS: Final = (0.5, 0.7, 0.9)
CORRELATIONS: Final = (0.2, 0.5, 0.8)
"""Assumed correlations of two systems' scores of a query; systems that share a retriever or a
generator have the higher ones."""
WITHIN: Final = 0.2
"""Assumed correlation of the differences of two queries of a cluster."""
_PLAN_DRAWS: Final = 1000
"""Simulated comparisons for the line of a plan, which is printed without delay."""

_Values = Mapping[str, float]
"""Query id -> value."""


class _Planned(Protocol):
    """The parts of an `Experiment` on which its power depends."""

    @property
    def file(self) -> ExperimentFile: ...

    @property
    def dataset(self) -> Dataset: ...

    @property
    def store(self) -> Store: ...

    @property
    def shared(self) -> SharedInputs: ...

    @property
    def systems(self) -> list[System]: ...

    @property
    def settings(self) -> list[ContextSetting]: ...

    @property
    def metrics(self) -> tuple[MetricSet, MetricSet, MetricSet]: ...

    @property
    def judges(self) -> tuple[Judge, ...]: ...


@dataclass(frozen=True, slots=True)
class _Pilot:
    """Differences like those of the experiment, with their properties."""

    source: str
    clustered: bool
    populations: tuple[tuple[float, float, Gaps], ...]
    """Mean of the scores, correlation of the systems, and the differences."""
    error: float | None = None
    """As `PowerPlan.pilot_error`."""

    @property
    def need(self) -> float:
        """A number in proportion to the number of queries needed."""
        _, _, gaps = self.populations[0]
        return gaps.size * gaps.spread**2


def plan_power(
    experiment: _Planned,
    *,
    pilot: Sequence[Path] = (),
    difference: float = 0.05,
    power: float = POWER,
    confidence: float = 0.95,
    metric: str | None = None,
    means: Sequence[float] = (),
    correlations: Sequence[float] = (),
    seed: int = 0,
) -> PowerPlan:
    """Return the number of queries at which the experiment shows a difference.

    Args:
        experiment: its data set, metrics and number of systems count; nothing is run.
        pilot: a file of scores, two files of two systems, or a store with results of this
            experiment (default: the results in the experiment's store, else assumptions).
        difference: the difference of means that should be found.
        power: the probability of finding it.
        confidence: 1 minus the level of the tests, before the correction.
        metric: a metric of the experiment (default: the headline).
        means: assumed means of 0/1 scores, instead of a pilot.
        correlations: assumed correlations of two systems' scores.
        seed: seed of the simulation.

    Raises:
        ConfigError: an unknown metric, or a number outside its range.
        DatasetError: a pilot without scores of the metric.
    """
    planner = _Planner(
        experiment,
        metric,
        confidence=confidence,
        means=means,
        correlations=correlations,
        seed=seed,
    )
    return planner.plan(pilot, difference, power)


def power_line(experiment: _Planned) -> str:
    """Return one line on the smallest difference that an experiment can show; "" if none."""
    planner = _Planner(experiment, means=(0.5,), correlations=(0.5,))
    found = None
    # A damaged store is reported by the run.
    with contextlib.suppress(StoreError):
        found = planner.stored()
    found = found or planner.assumed()
    _, _, gaps = found.populations[0]
    least = planner.detectable(gaps, POWER, _PLAN_DRAWS)
    if least is None:
        return ""
    return (
        f"power: {planner.available:,} queries show differences of {least:.2g} or more in "
        f"{planner.metric} with a probability of {POWER:.0%} ({found.source}; more: "
        "ragstone plan power)"
    )


class _Planner:
    """The metric, the number of tests, the queries and the clusters of an experiment."""

    def __init__(
        self,
        experiment: _Planned,
        metric: str | None = None,
        *,
        confidence: float = 0.95,
        means: Sequence[float] = (),
        correlations: Sequence[float] = (),
        seed: int = 0,
    ) -> None:
        check_confidence(confidence)
        self.experiment, self.seed, self.confidence = experiment, seed, confidence
        self.means, self.correlations = means, correlations
        self.metric = _metric(experiment, metric)
        self.is_ranking = self.metric in map(str, experiment.metrics[0].metrics)
        self.tests = _tests(experiment, ranking=self.is_ranking)
        self.alpha = Family(1 - confidence, self.tests, "holm").planned_alpha
        shared = experiment.shared
        table = shared.ranked if self.is_ranking else shared.answered
        ids = set(columns(table.table)["query_id"])
        every = query_clusters(experiment.dataset)
        named = {q: cluster for q, cluster in every.items() if q in ids}
        self.available = len(named)
        counts = Counter(named.values())
        self.sizes = list(counts.values())
        self.clusters = named if len(counts) < len(named) else {}
        kind = max(counts, key=lambda name: counts[name], default="").partition(" ")[0]
        self.kind = kind if self.clusters else ""

    def plan(self, pilot: Sequence[Path], difference: float, power: float) -> PowerPlan:
        """Return the plan from a pilot, from stored results or from assumptions."""
        given = self.of_files(pilot) if pilot else None
        found = given or (None if self.means else self.stored()) or self.assumed()
        return PowerPlan(
            metric=self.metric,
            difference=difference,
            power=power,
            confidence=self.confidence,
            tests=self.tests,
            alpha=self.alpha,
            source=found.source,
            clusters=(self.kind or "cluster") if found.clustered else "",
            available=self.available,
            rows=tuple(self._row(*one, difference, power) for one in found.populations),
            pilot_error=found.error,
        )

    def _row(
        self, mean: float, correlation: float, gaps: Gaps, difference: float, power: float
    ) -> PowerRow:
        size = sample_size(gaps, difference, power=power, alpha=self.alpha, seed=self.seed)
        return PowerRow(mean, correlation, size, self.detectable(gaps, power))

    def detectable(self, gaps: Gaps, power: float, draws: int = DRAWS) -> float | None:
        """Return the least difference that the queries of the data set show."""
        count = round(self.available / gaps.size)
        return detectable_difference(
            gaps, count, power=power, alpha=self.alpha, draws=draws, seed=self.seed
        )

    def assumed(self) -> _Pilot:
        """Return the differences of 0/1 scores under each assumption."""
        for mean in self.means:
            if not 0 < mean < 1:
                raise ConfigError(f"mean {mean:g} is not between 0 and 1")
        found = [
            (mean, r, assumed_population(_labels(mean), r, self.sizes, WITHIN, self.seed))
            for mean, r in product(self.means or MEANS, self.correlations or CORRELATIONS)
        ]
        source = "assumed to be 0 or 1"
        if len(found) == 1:
            source += f", mean {found[0][0]:g}, correlation {found[0][1]:g}"
        if self.clusters:
            source += f", correlation within a {self.kind} {WITHIN:g}"
        return _Pilot(source, bool(self.clusters), tuple(found))

    def of_files(self, paths: Sequence[Path]) -> _Pilot:
        """Return the differences of one or two files of scores, or of the results in a store."""
        if len(paths) == 1 and paths[0].is_dir():
            stored = self.stored(Store(paths[0]))
            if stored is None:
                raise DatasetError(
                    f"the store {paths[0]} has no scores of {self.metric} for experiment "
                    f"{self.experiment.file.name!r}; give files of scores instead"
                )
            return stored
        if len(paths) > 2:  # noqa: PLR2004 - a pair of systems
            raise ConfigError(f"a pilot has one or two files of scores, found {len(paths)}")
        read = [self._column(path) for path in paths]
        source = " and ".join(path.name for path in paths)
        return self._pair(source, *read) if len(read) > 1 else self._one(source, read[0])

    def stored(self, store: Store | None = None) -> _Pilot | None:
        """Return the differences of the stored systems that need the most queries, or None."""
        try:
            results = Results.load(store or self.experiment.store, self.experiment.file.name)
        except StoreError:
            return None
        groups: dict[str, dict[str, _Values]] = {}
        for rows in results.rankings if self.is_ranking else results.trials:
            if values := _values(rows.scores.get(self.metric, {}).values()):
                groups.setdefault(rows.setting, {})[rows.system] = values
        pairs = []
        for setting, held in groups.items():
            for a, b in combinations(held, 2):
                if held[a].keys() & held[b].keys():
                    named = f"stored, {a} and {b}{_under(setting)}"
                    pairs.append(self._pair(named, held[a], held[b]))
        if pairs:
            return max(pairs, key=lambda one: one.need)
        for setting, held in groups.items():
            for system, values in held.items():
                return self._one(f"stored, {system}{_under(setting)}", values)
        return None

    def _pair(self, source: str, first: _Values, second: _Values) -> _Pilot:
        common = [query_id for query_id in first if query_id in second]
        if not common:
            raise DatasetError(
                f"{source} have no query in common; a pilot has two systems' scores of the same "
                "queries"
            )
        a, b = (np.array([side[q] for q in common]) for side in (first, second))
        named = self._clusters(common)
        gaps = population(a, b, named)
        varied = np.ptp(a) > 0 and np.ptp(b) > 0
        correlation = float(np.corrcoef(a, b)[0, 1]) if varied else 0.0
        error = gaps.sampling_error(len(set(named or common)))
        mean = float(a.mean() + b.mean()) / 2
        source += f", {len(common):,} queries"
        return _Pilot(source, named is not None, ((mean, correlation, gaps),), error)

    def _one(self, source: str, values: _Values) -> _Pilot:
        """Return the differences of one system from others like it, by correlation."""
        given, named = np.array(list(values.values())), self._clusters(list(values))
        within = intraclass_correlation(given, named) if named else 0.0
        sizes = list(Counter(named or ()).values())
        found = [
            (float(given.mean()), r, assumed_population(given, r, sizes, within, self.seed))
            for r in self.correlations or CORRELATIONS
        ]
        source += f", {len(values):,} queries; the other system has an assumed correlation"
        return _Pilot(source, bool(named), tuple(found))

    def _clusters(self, query_ids: Sequence[str]) -> list[Any] | None:
        """Return the cluster of each query, or None if each is a cluster."""
        named = clusters_of(query_ids, self.clusters or clusters_by_id(query_ids))
        return named if named and len(set(named)) < len(named) else None

    def _column(self, path: Path) -> _Values:
        scores = read_scores(path)
        found = _values(one for one in scores if one.metric == self.metric)
        if not found:
            known = list(dict.fromkeys(one.metric for one in scores))
            raise DatasetError(
                f"{path} has no scores of {self.metric}, only of {', '.join(known) or 'nothing'}; "
                "choose one of the experiment's metrics with --metric"
            )
        return found


def _values(scores: Iterable[Score]) -> _Values:
    """Return query id -> value; a failed query counts as 0 if the values are from 0 to 1."""
    listed = list(scores)
    found = {one.query_id: one.value for one in listed if one.value is not None}
    if all(0 <= value <= 1 for value in found.values()):
        found |= {one.query_id: 0.0 for one in listed if one.status == "failed"}
    return found


def _under(setting: str) -> str:
    return f" under {setting}" if setting else ""


def _labels(mean: float) -> Floats:
    """Return a thousand values of 0 and 1 with a mean."""
    return (np.arange(1000) < round(1000 * mean)).astype(np.float64)


def _metric(experiment: _Planned, asked: str | None) -> str:
    """Return the name of a metric of the experiment; the headline if none is asked for."""
    names = [str(one) for kind in experiment.metrics for one in kind.metrics]
    names += [name for judge in experiment.judges for name in judge.metrics]
    if asked is None:
        return _headline(experiment.file, names)
    if asked in names:
        return asked
    with contextlib.suppress(UnknownMetric, ConfigError):
        if (name := str(parse_metric(asked))) in names:
            return name
    raise UnknownMetric(f"the experiment has no metric {asked!r}{did_you_mean(asked, names)}")


def _headline(file: ExperimentFile, names: Sequence[str]) -> str:
    """Return the headline metric of a file: its own, else that of correct answers or the first."""
    planned = file.analysis.headline if file.analysis else None
    rule = Correctness.parse(file.correct).among(names) if file.correct else None
    return planned or file.headline or (rule.metric if rule else names[0])


def _tests(experiment: _Planned, *, ranking: bool) -> int:
    """Return the number of pairs of systems that are compared by one metric, at least 1."""
    if ranking:
        pairs = comb(sum(system.retriever is not None for system in experiment.systems), 2)
    else:
        answering = [system for system in experiment.systems if system.generator]
        pairs = sum(
            comb(sum("retrieved" not in one.uses or s.retriever is not None for s in answering), 2)
            for one in experiment.settings
        )
    return max(1, pairs)
