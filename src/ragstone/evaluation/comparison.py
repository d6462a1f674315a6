"""The result of `ragstone.compare`: systems compared under each metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ragstone.core.schemas import PAIRS, to_table, with_texts
from ragstone.core.tables import Tabular, TextTable, to_markdown
from ragstone.errors import UnknownMetric, did_you_mean
from ragstone.evaluation.answered import Answered, not_known
from ragstone.evaluation.changes import ChangeCount, change_counts, changes_tables
from ragstone.evaluation.difference_plots import difference_plots
from ragstone.evaluation.flipped_texts import (
    FlippedQuery,
    ShownFlips,
    flipped_texts,
    flips_table,
    flips_text,
    shown_flips,
)
from ragstone.evaluation.usage import UsageRow, usage_of
from ragstone.statistics.significance import pair_document
from ragstone.statistics.summary import summaries_table
from ragstone.types import Score, brief

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.evaluation.metric_comparison import MetricComparison
    from ragstone.statistics.paired import Correction


@dataclass(frozen=True, slots=True)
class Comparison(Tabular):
    """Systems compared under some metrics; `comparison[metric]` has the pairs of one.

    The page docs/statistics.md has the sources of the tests and intervals.
    """

    systems: tuple[str, ...]
    """Names of the systems, in the order given."""
    metrics: tuple[MetricComparison, ...]
    """The pairs of each metric that all systems have."""
    not_shared: Mapping[str, tuple[str, ...]]
    """Metric that is not compared -> the systems without it."""
    confidence: float
    """Level of the intervals, above 0 and below 1."""
    correction: Correction
    """Multiple-testing correction of the p values."""
    tests: int
    """Number of p values that were corrected together."""
    clusters: str
    """Name of the clusters, such as "conversation"; empty if each query is a cluster."""
    headline: str
    """The metric of the verdict."""
    common: tuple[str, ...]
    """The queries that every system has a score of."""
    scores: Mapping[str, Mapping[str, Mapping[str, Score]]]
    """System -> metric -> query id -> score."""
    answered: Mapping[str, Answered]
    """System -> the texts behind its scores, as far as they are known."""

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

    @property
    def verdict(self) -> str:
        """The verdict by the headline metric, as one sentence."""
        return f"{self.headline}: {self[self.headline].verdict}."

    @property
    def population(self) -> list[str]:
        """Lines on the queries compared, the intervals, and the metrics that are not compared."""
        lines = [
            f"Population: {len(self.common):,} queries that every system has a score of.",
            f"Intervals: {self.confidence:.0%}, over {self.clusters or 'queries'}.",
        ]
        for metric, lacking in self.not_shared.items():
            lines.append(f"{metric} is not compared: no scores of {', '.join(lacking)}.")
        return lines

    @property
    def usage(self) -> list[UsageRow]:
        """Time, tokens and cost of each system, over the common queries."""
        known = self.answered.items()
        return [usage_of(held.among(self.common), name) for name, held in known]

    @property
    def not_known(self) -> dict[str, dict[str, str]]:
        """System -> usage that its answers do not report -> why, or for how many."""
        return {name: not_known(held.among(self.common)) for name, held in self.answered.items()}

    def flipped(self) -> dict[str, FlippedQuery]:
        """Return query id -> texts of every flipped query, those of the headline metric first."""
        ordered = sorted(self.metrics, key=lambda one: one.metric != self.headline)
        return flipped_texts(ordered, self.scores, self.answered)

    def changes(self, metric: str = "") -> list[ChangeCount]:
        """Return the causes of the changes of one metric, or of all, with their queries."""
        every = (change for one in self.flipped().values() for change in one.changes)
        return change_counts(change for change in every if metric in ("", change.metric))

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the verdict, differences drawn, metrics, cost, causes of changes and queries."""
        yield "\n".join([self.verdict, *self.population])
        yield from difference_plots(self.metrics)
        yield from self._tables()
        yield from changes_tables(self.changes(self.headline), self.answered)
        yield from (flips_text(flips, self.headline) for flips in self._shown_flips())

    def _shown_flips(self) -> Iterator[ShownFlips]:
        return shown_flips(self[self.headline], self.flipped())

    def _tables(self) -> Iterator[str | TextTable]:
        for one in self.metrics:
            yield one.table(self.clusters)
        yield self._usage_table()

    def _usage_table(self) -> TextTable | str:
        """Return failures, time, tokens and cost of each system, and the unknown ones."""
        reasons = any(one.tokens_reasoning is not None for one in self.usage)
        rows = [
            [
                one.system,
                *(f"{count:,}" for count in (one.answered, one.failed)),
                *("-" if v is None else f"{v:.3g}" for v in (one.seconds_p50, one.seconds_p95)),
                *("-" if v is None else f"{v:,}" for v in _tokens(one, reasons=reasons)),
                "-" if one.cost is None else f"{one.cost:.4g}",
            ]
            for one in self.usage
            if one.answered + one.failed
        ]
        below = list(self.not_known_lines())
        if not rows:
            return "\n".join(below)
        headers = ["system", "answered", "failed", "p50 s", "p95 s", "tokens in", "out"]
        headers += ["reasoning", "cost"] if reasons else ["cost"]
        title = f"Answers, time and cost: {len(self.common):,} common queries"
        return TextTable(headers, rows, title, [f"  {line}" for line in below])

    def not_known_lines(self) -> Iterator[str]:
        """Yield a line per system and reason for the seconds, tokens or cost that are not known."""
        for name, found in self.not_known.items():
            for reason in dict.fromkeys(found.values()):
                fields = ", ".join(field for field, why in found.items() if why == reason)
                yield f"{name}: {fields} not known: {reason}"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded; docs/statistics.md describes each key."""
        return {
            "systems": self.systems,
            "confidence": self.confidence,
            "correction": self.correction,
            "tests": self.tests,
            "clusters": self.clusters or None,
            "headline": self.headline,
            "verdict": self.verdict,
            "queries": len(self.common),
            "not_shared": self.not_shared,
            "metrics": {one.metric: one.to_dict() for one in self.metrics},
            "usage": {
                one.system: {**_usage_document(one), "not_known": self.not_known[one.system]}
                for one in self.usage
            },
            "changes": [asdict(one) for one in self.changes()],
            "flipped": {query: found.to_dict() for query, found in self.flipped().items()},
        }

    def to_markdown(self) -> str:
        """Return the verdict, the means, the cost and some flipped queries, for a pull request."""
        head = f"### {to_markdown([self.verdict])}"
        flips = (flips_table(one, self.headline) for one in self._shown_flips())
        changes = changes_tables(self.changes(self.headline), self.answered)
        rest = to_markdown([" ".join(self.population), *self._tables(), *changes, *flips])
        return f"{head}\n\n{rest}\n"

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


def _tokens(row: UsageRow, *, reasons: bool) -> list[int | None]:
    return [row.tokens_in, row.tokens_out, *([row.tokens_reasoning] if reasons else [])]


def _usage_document(row: UsageRow) -> dict[str, Any]:
    return {name: value for name, value in asdict(row).items() if name not in {"system", "setting"}}
