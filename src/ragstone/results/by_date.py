"""The results of the queries up to a date and after it, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any, Final

from ragstone.errors import ConfigError
from ragstone.results.two_groups import GroupRow, group_rows, group_table

if TYPE_CHECKING:
    from ragstone.core.tables import TextTable
    from ragstone.data.query_dates import QueryDates
    from ragstone.results.reader import StoredResults

_NAMES: Final = ("before", "after")


@dataclass(frozen=True)
class DateTable:
    """The results before and after a date."""

    day: date
    label: str
    """The label that has the dates."""
    before: int
    """Queries up to the date."""
    after: int
    undated: int
    mixed: int
    """Queries whose conversation or document has queries on both sides; they are left out."""
    rows: tuple[GroupRow, ...]
    headline: str
    """The metric of the sentence."""

    @property
    def sentence(self) -> str:
        """The differences of the headline metric, and the queries that are left out."""
        of = [row for row in self.rows if row.metric == self.headline]
        differing = [row for row in of if row.worse is not None]
        if differing:
            listed = "; ".join(f"{row.place} {row.difference or 0:+.3f}" for row in differing)
            text = f"{self.headline} differs: {listed}."
        else:
            text = f"The newer queries are not shown to differ ({self.headline})."
        out = {"have no date": self.undated, "share a document with the other side": self.mixed}
        return " ".join([text, *(f"{n:,} queries {why}." for why, n in out.items() if n)])

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, numbers unrounded."""
        return {
            "date": self.day.isoformat(),
            "label": self.label,
            "queries": {"before": self.before, "after": self.after},
            "left_out": {"undated": self.undated, "mixed": self.mixed},
            "rows": [row.document(*_NAMES) for row in self.rows],
            "sentence": self.sentence,
        }

    def table(self) -> TextTable:
        """Return the rows with the sentence below."""
        title = f"Queries up to {self.day.isoformat()} and after it (label {self.label})"
        return group_table([*self.rows], _NAMES, title, self.sentence)


def date_table(results: StoredResults, dates: QueryDates, day: date) -> DateTable:
    """Return the results of the queries up to a day and after it.

    Raises:
        ConfigError: one side has no query.
    """
    newer = {q: n for q, n in dates.after(day).items() if q in results.all_queries}
    clusters = {q: results.clusters.get(q, q) for q in newer}
    new = {clusters[q] for q in newer if newer[q]}
    mixed = new & {clusters[q] for q in newer if not newer[q]}
    before, after = (
        {q for q in newer if newer[q] is side and clusters[q] not in mixed}
        for side in (False, True)
    )
    if not before or not after:
        days = sorted(dates.dates[q] for q in newer)
        span = f"; the dates are from {days[0]} to {days[-1]}" if days else ""
        raise ConfigError(
            f"{results.name}: {len(before):,} queries are up to {day} and {len(after):,} after it, "
            f"so there is nothing to compare{span}",
            key="after",
            value=str(day),
        )
    rows = tuple(group_rows(results, before, after))
    names = [row.metric for row in rows]
    headline = results.record.headline
    return DateTable(
        day,
        dates.label,
        len(before),
        len(after),
        len(results.all_queries) - len(newer),
        len(newer) - len(before) - len(after),
        rows,
        headline if headline in names else next(iter(names), ""),
    )
