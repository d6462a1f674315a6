"""The result of a comparison under one metric: means, differences, ranks and flipped queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ragstone.core.tables import TextTable
from ragstone.data.readers.rows import listed
from ragstone.statistics.significance import pair_document
from ragstone.statistics.summary import summary_table
from ragstone.types import one_line

if TYPE_CHECKING:
    from ragstone.statistics.breakdown import DifferenceGroup
    from ragstone.statistics.failures import Scale
    from ragstone.statistics.flipped import FlippedQueries
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
    judge_notes: tuple[str, ...] = ()
    """The gains of the metric's judges by flagged probes."""
    by: Mapping[tuple[str, str], tuple[DifferenceGroup, ...]] = field(default_factory=dict)
    """Pair of systems -> their difference under each value of a label; empty without a label."""

    __repr__ = one_line

    @property
    def verdict(self) -> str:
        """The verdict on two systems, or on the system with the best mean of several."""
        if len(self.pairs) == 1:
            return self.pairs[0].verdict
        if not self.pairs or not self.ranks:
            return "no query counts for every system"
        best = self.ranks[0].system
        beaten = {p.a for p in self.pairs if p.b == best and p.outcome == "better"}
        beaten |= {p.b for p in self.pairs if p.a == best and p.outcome == "worse"}
        others = [name for p in self.pairs if best in (p.a, p.b) for name in {p.a, p.b} - {best}]
        of = {"better than": beaten, "not shown to be better than": set(others) - beaten}
        parts = [
            f"{phrase} {', '.join(name for name in others if name in names)}"
            for phrase, names in of.items()
            if names
        ]
        return f"{best} has the best mean, {' and '.join(parts)}"

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
        below += [f"  NOTE: {self.metric} {note}" for note in self.judge_notes]
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
            "judge_notes": list(self.judge_notes),
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
