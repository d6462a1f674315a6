"""The result of `ragstone.compare`: systems side by side under each metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragstone.core.schemas import PAIRS, to_table, with_texts
from ragstone.core.tables import Tabular, TextTable
from ragstone.errors import UnknownMetric, did_you_mean
from ragstone.statistics.summary import summaries_table
from ragstone.types import brief

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.statistics.paired import Correction
    from ragstone.statistics.rank_stability import RankStability
    from ragstone.statistics.significance import Pair
    from ragstone.statistics.summary import Summary


@dataclass(frozen=True, slots=True)
class MetricComparison:
    """All systems under one metric, on the queries for which every one of them has a value."""

    metric: str
    n: int
    """Queries compared."""
    left_out: int
    """Queries that some system has a value or a failure for, and some system has no value for."""
    absent: Mapping[str, int]
    """System -> number of those queries without a score of that system."""
    summaries: Mapping[str, Summary]
    """System -> mean over the queries compared, in the order given; `failed` and
    `not_applicable` are those of the queries left out."""
    pairs: tuple[Pair, ...]
    """Empty if no query is left to compare."""
    ranks: tuple[RankStability, ...]
    """Best first; of three systems or more."""

    def table(self, clusters: str = "") -> TextTable:
        """Return the means as a table, the verdicts below it."""
        title = f"{self.metric}: {self.n:,} queries that all have"
        if clusters and self.pairs:
            title += f" in {self.pairs[0].difference.clusters:,} clusters"
        headers = ["system", "mean", "interval", "n", "failed", "n/a"]
        verdicts = [f"  {pair.verdict}" for pair in self.pairs] or [
            "  nothing to compare: no query has a value from every system"
        ]
        return TextTable(
            [*headers, *(["rank"] if self.ranks else [])],
            [self._row(name, summary) for name, summary in self.summaries.items()],
            title=f"{title}{self._left_out()}",
            below=verdicts,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return {
            "n": self.n,
            "left_out": self.left_out,
            "absent": self.absent,
            "systems": {name: summary.to_dict() for name, summary in self.summaries.items()},
            "pairs": [
                {
                    **asdict(pair.difference),
                    **{k: v for k, v in asdict(pair).items() if k != "difference"},
                    "difference": pair.difference.difference,
                }
                for pair in self.pairs
            ],
            "ranks": [asdict(place) for place in self.ranks],
        }

    def _row(self, name: str, summary: Summary) -> list[str]:
        mean, interval, n, _, failed, not_applicable = summary.cells()
        ranks = [_place(p.rank, p.interval) for p in self.ranks if p.system == name]
        return [name, mean, interval, n, failed, not_applicable, *ranks]

    def _left_out(self) -> str:
        if not self.left_out:
            return ""
        absent = ", ".join(f"{name} lacks {n:,}" for name, n in self.absent.items() if n)
        return f", {self.left_out:,} left out" + (f" ({absent})" if absent else "")


@dataclass(frozen=True, slots=True)
class Comparison(Tabular):
    """Some systems under some metrics."""

    systems: tuple[str, ...]
    metrics: tuple[MetricComparison, ...]
    not_shared: Mapping[str, tuple[str, ...]]
    """Metric -> the systems without it; such metrics are not compared."""
    confidence: float
    correction: Correction
    tests: int
    """Number of p values that were corrected together."""
    clusters: str
    """What the clusters are, such as "conversation"; empty if each query is on its own."""

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
        """Yield a line on the intervals and metrics that are not compared, and a table each."""
        head = [f"Intervals: {self.confidence:.0%}, bootstrap over {self.clusters or 'queries'}."]
        for metric, lacking in self.not_shared.items():
            head.append(f"{metric} is not compared: {', '.join(lacking)} lacks it.")
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

    def to_arrow(self, *, summary: bool = False) -> Table:
        """Return one row per metric and pair, or one row per system and metric with `summary`."""
        if summary:
            systems = [(one.metric, name) for one in self.metrics for name in one.summaries]
            return with_texts(
                summaries_table(self[metric].summaries[name] for metric, name in systems),
                system=[name for _, name in systems],
                metric=[metric for metric, _ in systems],
            )
        rows = [(one.metric, pair, pair.difference) for one in self.metrics for pair in one.pairs]
        bounds = [found.interval or (None, None) for _, _, found in rows]
        return to_table(
            PAIRS,
            {
                "metric": [metric for metric, _, _ in rows],
                "a": [pair.a for _, pair, _ in rows],
                "b": [pair.b for _, pair, _ in rows],
                "difference": [found.difference for _, _, found in rows],
                "low": [low for low, _ in bounds],
                "high": [high for _, high in bounds],
                "p": [found.p for _, _, found in rows],
                "adjusted_p": [pair.adjusted_p for _, pair, _ in rows],
                "n": [found.n for _, _, found in rows],
                "verdict": [pair.verdict for _, pair, _ in rows],
            },
        )


def _place(rank: int, interval: tuple[float, float] | None) -> str:
    return f"{rank}" if interval is None else f"{rank} [{interval[0]:.0f}-{interval[1]:.0f}]"
