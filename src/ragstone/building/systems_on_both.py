"""The same systems on two data sets, metric by metric: their means, and whether their order agrees.

The scores of a data set are those of an experiment that has run, or of a file of InspectorRAGet,
such as mtRAG's released evaluations.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from ragstone.core import limits
from ragstone.data.readers.inspector_raget import Inspection
from ragstone.data.readers.rows import listed
from ragstone.data.readers.scores import clusters_by_id
from ragstone.errors import ConfigError
from ragstone.results.joined import JoinedResults
from ragstone.statistics.bootstrap import Floats
from ragstone.statistics.ranking_agreement import PERSISTENCE
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.sensitivity import RankingAgreement, board_agreement
from ragstone.statistics.summary import (
    UNIT,
    Summary,
    cluster_numbers,
    clusters_of,
    summarise,
)
from ragstone.statistics.unpaired import unpaired_difference

Interval: TypeAlias = tuple[float, float]


class MetricPlace(NamedTuple):
    """A metric under a context setting; a file without settings has ""."""

    metric: str
    setting: str


@dataclass(frozen=True)
class SystemScores:
    """The scores of systems on one data set."""

    name: str
    values: Mapping[MetricPlace, Mapping[str, Mapping[str, float]]]
    """Place -> system -> query id -> value; failed queries have the failure policy's value."""
    ranges: Mapping[MetricPlace, Interval | None]
    clusters: Mapping[str, Hashable]


@dataclass(frozen=True)
class SystemOnBoth:
    """The means of one system on both data sets."""

    system: str
    a: Summary
    b: Summary
    difference: float | None
    interval: Interval | None


@dataclass(frozen=True)
class MetricOnBoth:
    """The shared systems by one metric on both data sets."""

    metric: str
    setting: str
    systems: Sequence[SystemOnBoth]
    agreement: RankingAgreement | None
    """Kendall's tau-b with its interval; None with fewer than two shared systems."""


def experiment_scores(joined: JoinedResults) -> SystemScores:
    """Return the scores of an experiment that has run.

    Raises:
        ConfigError: there are several experiments; name one as e.yaml#DATA.
    """
    names = [str(one.record.data.name) for one in joined.experiments]
    if len(names) != 1:
        raise ConfigError(
            f"--experiments: the source has several experiments, on {listed(names)}; name one data "
            "set of an experiment file, as e.yaml#DATA"
        )
    values: dict[MetricPlace, dict[str, dict[str, float]]] = {}
    ranges: dict[MetricPlace, Interval | None] = {}
    for row in joined.rows:
        place = MetricPlace(row.metric, row.factors["setting"])
        cases = ((query, row.scale.counted(score)) for query, score in row.scores().items())
        held = {query: case[0] for query, case in cases if case is not None}
        values.setdefault(place, {})[row.factors["system"]] = held
        ranges[place] = row.scale.range
    return SystemScores(names[0], values, ranges, joined.experiments[0].clusters)


def inspected_scores(found: Inspection) -> SystemScores:
    """Return the scores in a file of InspectorRAGet: means over raters, without a setting."""
    rated: dict[MetricPlace, dict[str, dict[str, list[float]]]] = {}
    for one in found.ratings:
        systems = rated.setdefault(MetricPlace(one.metric, ""), {})
        systems.setdefault(one.system, {}).setdefault(one.query_id, []).append(one.value)
    values = {
        place: {
            system: {query: sum(held) / len(held) for query, held in queries.items()}
            for system, queries in systems.items()
        }
        for place, systems in rated.items()
    }
    ids = [task["task_id"] for task in found.document["tasks"]]
    return SystemScores(found.name, values, dict.fromkeys(values, UNIT), clusters_by_id(ids))


def systems_on_both(a: SystemScores, b: SystemScores, *, seed: int = 0) -> list[MetricOnBoth]:
    """Return the shared systems by each shared metric and setting.

    A mean is over the queries for which every shared system has a value.

    Raises:
        ConfigError: no metric of a system is on both data sets.
    """
    found = [
        _on_both(place, shared, (a, b), seed)
        for place in a.values
        if place in b.values and (shared := _shared(a.values[place], b.values[place]))
    ]
    if not found:
        held = [
            f"{side.name} has {listed(sorted({s for one in side.values.values() for s in one}))}"
            for side in (a, b)
        ]
        raise ConfigError(
            "--experiments: no system has a score by the same metric and setting on both sets; "
            f"{'; '.join(held)}; give the systems the same names in both experiments"
        )
    return found


def _shared(a: Mapping[str, object], b: Mapping[str, object]) -> list[str]:
    return [system for system in a if system in b]


def _on_both(
    place: MetricPlace, shared: Sequence[str], sides: Sequence[SystemScores], seed: int
) -> MetricOnBoth:
    boards = [_Board.of(place, shared, side) for side in sides]
    systems = list(_systems(shared, boards))
    agreement = None
    if len(shared) > 1 and all(board.values.size for board in boards):
        bootstraps = [Bootstrap(resamples=limits.BOARD_RESAMPLES, seed=seed + i) for i in (0, 1)]
        drawn = [board.drawn(one) for board, one in zip(boards, bootstraps, strict=True)]
        means = [board.values.mean(axis=0) for board in boards]
        names = sides[0].name, sides[1].name
        whole = None if any(one is None for one in drawn) else [d for d in drawn if d is not None]
        agreement = board_agreement(names, means, whole, bootstraps[0], PERSISTENCE)
    return MetricOnBoth(*place, systems, agreement)


def _systems(shared: Sequence[str], boards: Sequence[_Board]) -> Iterator[SystemOnBoth]:
    for column, system in enumerate(shared):
        a, b = (board.summary(column) for board in boards)
        gap = unpaired_difference(a, b)
        yield SystemOnBoth(system, a, b, gap.difference, gap.interval)


@dataclass(frozen=True)
class _Board:
    """Values of shape (queries, systems), and the cluster of each query."""

    values: Floats
    clusters: Sequence[Hashable]
    range: Interval | None

    @classmethod
    def of(cls, place: MetricPlace, shared: Sequence[str], side: SystemScores) -> _Board:
        held = [side.values[place][system] for system in shared]
        queries = [query for query in held[0] if all(query in one for one in held)]
        values = np.array([[one[query] for one in held] for query in queries], dtype=np.float64)
        clusters = clusters_of(queries, side.clusters) or list[Hashable](queries)
        return cls(values.reshape(len(queries), len(shared)), clusters, side.ranges[place])

    def summary(self, column: int) -> Summary:
        return summarise(self.values[:, column], clusters=self.clusters, bounds=self.range)

    def drawn(self, bootstrap: Bootstrap) -> Floats | None:
        """Return resampled means, shape (resamples, systems); None with a single cluster."""
        members = cluster_numbers(self.clusters)
        groups = int(members.max()) + 1
        if groups < 2:  # noqa: PLR2004 - one cluster shows no spread
            return None
        parts = np.zeros((groups, self.values.shape[1] + 1))
        np.add.at(parts, members, np.c_[self.values, np.ones(len(members))])
        sums = bootstrap.sums(parts)
        means: Floats = sums[:, :-1] / sums[:, -1:]
        return means
