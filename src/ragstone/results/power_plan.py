"""The answer of `ragstone plan power`: the number of queries that shows a difference."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from statistics import NormalDist
from typing import Any, Final

from ragstone.core.tables import Shown, TextTable
from ragstone.statistics.power import SampleSize

_LEVEL: Final = NormalDist().inv_cdf(0.975)


@dataclass(frozen=True, slots=True)
class PowerRow:
    """The sample size under one assumption, or from one pilot."""

    mean: float
    """The mean of the scores; over both systems if a pilot has two."""
    correlation: float
    """The correlation of the two systems' scores."""
    size: SampleSize | None
    """None if no number of queries is enough."""
    detectable: float | None
    """The least difference that the queries of the data set show; None if they show none."""


@dataclass(frozen=True, slots=True)
class PowerPlan(Shown):
    """How many queries an experiment needs to show a difference."""

    metric: str
    difference: float
    power: float
    confidence: float
    tests: int
    """Number of comparisons that the experiment's systems make, which are corrected together."""
    alpha: float
    """The planned level of a single test."""
    source: str
    """Where the scores come from."""
    clusters: str
    """The label of the clusters that are drawn; "" if each query is drawn on its own."""
    available: int
    """Queries of the data set, after the sample."""
    rows: tuple[PowerRow, ...]
    pilot_error: float | None = None
    """Standard error of the number of queries, relative to it, because the pilot is a sample; None
    without a pilot of two systems."""

    @property
    def largest(self) -> SampleSize | None:
        """The size that is enough in every row; None if a row has none."""
        sizes = [row.size for row in self.rows]
        return None if None in sizes else max(filter(None, sizes), key=lambda one: one.queries)

    def parts(self) -> Iterator[str | TextTable]:
        """Yield the question, the table and the answer."""
        level = f"level {self.alpha:.3g}"
        if self.tests > 1:
            level += f": {1 - self.confidence:.3g}, after Holm over {self.tests} comparisons"
        yield (
            f"{self.metric}: a difference of {self.difference:g}, shown with a probability of "
            f"{self.power:.0%} ({level}).\nScores: {self.source}."
        )
        headers = ["mean", "correlation", "queries"]
        headers += [f"{self.clusters}s"] if self.clusters else []
        headers += ["simulated power", f"shown by {self.available:,} queries"]
        yield TextTable(headers, [self._cells(row) for row in self.rows])
        yield self.answer

    def _cells(self, row: PowerRow) -> list[str]:
        cells = [f"{row.mean:.2f}", f"{row.correlation:.2f}"]
        if row.size is None:
            cells += ["-"] * (3 if self.clusters else 2)
        else:
            cells.append(f"{row.size.queries:,}")
            cells += [f"{row.size.clusters:,}"] if self.clusters else []
            cells.append(f"{row.size.power:.1%} ± {row.size.error:.1%}")
        return [*cells, "-" if row.detectable is None else f"{row.detectable:.3f}"]

    @property
    def answer(self) -> str:
        """The answer in sentences."""
        size = self.largest
        if size is None:
            return "No number of queries is known to be enough."
        lines = [f"{size.queries:,} queries are enough{self._clusters_text(size)}."]
        if self.pilot_error is not None:
            lines.append(f"The size of the pilot leaves ± {_LEVEL * self.pilot_error:.0%} of that.")
        if size.queries > self.available:
            least = [row.detectable for row in self.rows]
            shown = None if None in least else max(filter(None, least))
            lines.append(
                f"The data set has {self.available:,}; they show no difference."
                if shown is None
                else f"The data set has {self.available:,}; the smallest difference that they show "
                f"is {shown:.3f}."
            )
        return " ".join(lines)

    def _clusters_text(self, size: SampleSize) -> str:
        return f", in {size.clusters:,} {self.clusters}s" if self.clusters else ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        found = asdict(self)
        size = self.largest
        more = {
            "queries": size.queries if size else None,
            "clusters_needed": size.clusters if size and self.clusters else None,
            "enough": None if size is None else size.queries <= self.available,
        }
        return {**found, "clusters": self.clusters or None, **more}
