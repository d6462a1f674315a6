"""The result of `ragstone.compare`: systems compared under each metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.core.schemas import PAIRS, to_table, with_texts
from ragstone.core.tables import Tabular, TextTable, to_markdown
from ragstone.data.readers.rows import listed
from ragstone.errors import UnknownMetric, did_you_mean
from ragstone.statistics.significance import pair_document
from ragstone.statistics.summary import summaries_table, summary_table
from ragstone.types import brief, one_line

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.statistics.breakdown import DifferenceGroup
    from ragstone.statistics.failures import Scale
    from ragstone.statistics.flipped import FlippedQueries
    from ragstone.statistics.paired import Correction
    from ragstone.statistics.rank_stability import RankStability
    from ragstone.statistics.significance import SystemPair
    from ragstone.statistics.summary import Summary


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """All systems under one metric, on the queries that count for every one of them."""

    metric: str
    n: int
    """Queries compared."""
    left_out: int
    """Queries with a score of some system that do not count for every system."""
    absent: Mapping[str, tuple[str, ...]]
    """System -> queries that other systems have a score of."""
    summaries: Mapping[str, Summary]
    """System -> mean over the queries compared; `not_applicable` and `unscored` count queries that
    are left out."""
    pairs: tuple[SystemPair, ...]
    """Empty if no query is left to compare."""
    ranks: tuple[RankStability, ...]
    """Best first; of three systems or more."""
    scale: Scale
    few_clusters: str = ""
    """A warning if the queries are in fewer than 15 clusters."""
    flipped: Mapping[tuple[str, str], FlippedQueries] = field(default_factory=dict)
    """Pair of systems -> the queries on which the second is better or worse."""
    by: Mapping[tuple[str, str], tuple[DifferenceGroup, ...]] = field(default_factory=dict)
    """Pair of systems -> their difference under each value of a label; empty without a label."""

    __repr__ = one_line

    def table(self, clusters: str = "") -> TextTable:
        """Return the means as a table, with the verdicts below it."""
        title = f"{self.metric}: {self.n:,} queries compared"
        if clusters and self.pairs:
            title += f", in {self.pairs[0].difference.clusters:,} clusters"
        if self.left_out:
            title += f", {self.left_out:,} left out"
        means = summary_table(list(self.summaries.items()), title, "system")
        below = [line for pair in self.pairs for line in self._pair_lines(pair)]
        below += [
            f"  {name} has no score of {len(ids):,} queries: {listed(ids)}"
            for name, ids in self.absent.items()
            if ids
        ]
        if self.pairs and self.few_clusters:
            below.append(f"  {self.few_clusters}")
        if any(one.failed for one in self.summaries.values()) and self.scale.worst is None:
            below.append("  The metric has no worst value, so failed queries are left out.")
        headers, rows = means.headers, means.rows
        if self.ranks:
            ranks = {place.system: _place(place) for place in self.ranks}
            headers, rows = [*headers, "rank"], [[*row, ranks[str(row[0])]] for row in rows]
        return TextTable(headers, rows, title, below or ["  no query counts for every system"])

    def _pair_lines(self, pair: SystemPair) -> Iterator[str]:
        """Yield the verdict, the differences under each value of a label, and flipped queries."""
        yield f"  {pair.verdict}"
        for one in self.by.get((pair.a, pair.b), ()):
            yield f"    {group_text(one)}"
        flipped = self.flipped.get((pair.a, pair.b))
        for word, ids in (("better", flipped.better), ("worse", flipped.worse)) if flipped else ():
            if ids:
                yield f"    {word} in {pair.b} on {len(ids):,}: {listed(ids)}"

    def _pair_document(self, pair: SystemPair) -> dict[str, Any]:
        key, found = (pair.a, pair.b), pair_document(pair)
        if key in self.flipped:
            found["flipped"] = asdict(self.flipped[key])
        if key in self.by:
            found["by"] = {one.value: _group_document(one) for one in self.by[key]}
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return {
            "n": self.n,
            "left_out": self.left_out,
            "absent": {name: len(ids) for name, ids in self.absent.items()},
            "absent_queries": self.absent,
            "systems": {name: summary.to_dict() for name, summary in self.summaries.items()},
            "pairs": [self._pair_document(pair) for pair in self.pairs],
            "ranks": [asdict(place) for place in self.ranks],
        }


def _place(place: RankStability) -> str:
    interval = place.interval
    return str(place.rank) + (f" [{interval[0]:.0f}-{interval[1]:.0f}]" if interval else "")


def group_text(one: DifferenceGroup) -> str:
    """Return the difference under one value of a label as a line."""
    found = one.difference
    interval = "" if found.interval is None else " [{:+.4f}, {:+.4f}]".format(*found.interval)
    return (
        f"{one.value}: {found.difference:+.4f}{interval}, {found.n:,} queries, "
        f"p={one.p_adjusted:.2g}"
    )


def _group_document(one: DifferenceGroup) -> dict[str, Any]:
    return {**asdict(one.difference), "adjusted_p": one.p_adjusted}


@dataclass(frozen=True, slots=True)
class Comparison(Tabular):
    """Systems compared under some metrics."""

    systems: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    not_shared: Mapping[str, tuple[str, ...]]
    """Metric that is not compared -> the systems without it."""
    confidence: float
    correction: Correction
    tests: int
    """Number of p values that were corrected together."""
    clusters: str
    """Name of the clusters, such as "conversation"; empty if each query is a cluster."""

    def __repr__(self) -> str:
        """Return one line: the systems and the metrics."""
        metrics = (metric.metric for metric in self.metrics)
        return brief(self, f"{' / '.join(self.systems)}: {', '.join(metrics)}")

    def __getitem__(self, metric: str) -> MetricComparison:
        """Return one metric's comparison."""
        found = {held.metric: held for held in self.metrics}
        if metric not in found:
            raise UnknownMetric(f"no comparison for {metric!r}{did_you_mean(metric, found)}")
        return found[metric]

    def parts(self) -> Iterator[str | TextTable]:
        """Yield a line on the intervals and the metrics left out, and one table per metric."""
        head = [f"Intervals: {self.confidence:.0%}, over {self.clusters or 'queries'}."]
        for metric, lacking in self.not_shared.items():
            head.append(f"{metric} is not compared: no scores of {', '.join(lacking)}.")
        yield "\n".join(head)
        for one in self.metrics:
            yield one.table(self.clusters)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/statistics.md describes each key."""
        return {
            "systems": self.systems,
            "confidence": self.confidence,
            "correction": self.correction,
            "tests": self.tests,
            "clusters": self.clusters or None,
            "not_shared": self.not_shared,
            "metrics": {one.metric: one.to_dict() for one in self.metrics},
        }

    def to_markdown(self) -> str:
        """Return a table of the means, the verdicts and the flipped queries, for a pull request."""
        return f"{to_markdown(self.parts())}\n"

    def to_arrow(self, *, summary: bool = False) -> Table:
        """Return one row per metric and pair, or one row per system and metric with `summary`."""
        if summary:
            systems = [(one.metric, name) for one in self.metrics for name in one.summaries]
            return with_texts(
                summaries_table(self[metric].summaries[name] for metric, name in systems),
                system=[name for _, name in systems],
                metric=[metric for metric, _ in systems],
            )
        rows = []
        for one in self.metrics:
            for found in map(pair_document, one.pairs):
                low, high = found["interval"] or (None, None)
                rows.append({**found, "metric": one.metric, "low": low, "high": high})
        return to_table(PAIRS, {name: [row[name] for row in rows] for name in PAIRS.names})
