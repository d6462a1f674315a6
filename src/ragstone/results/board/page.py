"""A table over experiments as one HTML file that loads nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from ragstone.core.atomic_files import write_document
from ragstone.results.board.cells import BoardCell
from ragstone.results.board.ranking import Line, lines
from ragstone.results.board.shown import (
    average_lines,
    average_rows,
    average_title,
    header_rows,
    mean_of_cell,
    row_heads,
    turn_text,
)
from ragstone.results.board.table import BoardTable
from ragstone.results.page import asset, render_page

_TEXTS: Final[dict[str, Any]] = {
    "mean": mean_of_cell,
    "turn": turn_text,
    "average_title": average_title,
    "average_rows": average_rows,
    "average_lines": average_lines,
}


@dataclass(frozen=True)
class BarScale:
    """The values at the ends of the bars of one metric."""

    low: float
    high: float

    def place(self, value: float) -> str:
        """Return where a value is, in percent of the bar."""
        span = self.high - self.low
        share = (value - self.low) / span if span else 0.5
        return f"{100 * min(max(share, 0.0), 1.0):.1f}%"


def write_board(table: BoardTable, path: Path, reports: Mapping[str, Path] | None = None) -> Path:
    """Write the page and return its path; `StoreError` if it cannot be written.

    `reports` are the names and files of the reports of single data sets, in the same folder.
    """
    return write_document(path, render_board(table, reports).encode(), "leaderboard")


def render_board(table: BoardTable, reports: Mapping[str, Path] | None = None) -> str:
    """Return the HTML of the page."""
    return render_page(
        "board.html",
        asset("report.css") + asset("board.css"),
        [asset(name) for name in ("page.js", "board.js")],
        table=table,
        headers=header_rows(table),
        names=row_heads(table),
        reports={name: quote(path.name) for name, path in (reports or {}).items()},
        verdict=verdict(table),
        scales={metric: _scale(table, metric) for metric in table.metrics},
        **_TEXTS,
    )


def _scale(table: BoardTable, metric: str) -> BarScale | None:
    """Return the ends of the bars: the metric's range if it has one, else those of the values."""
    cells = [c for c in table.cells.values() if c.metric == metric and c.kind != "count"]
    ranges = {cell.parts[0].measured.scale.range for cell in cells}
    if len(ranges) == 1 and None not in ranges:
        low, high = next(iter(ranges)) or (0.0, 1.0)
        return BarScale(low, high)
    values = [value for c in cells for value in (c.summary.mean, *(c.summary.interval or ()))]
    known = [value for value in values if value is not None]
    return BarScale(min(known), max(known)) if known else None


def verdict(table: BoardTable) -> str:
    """Return the result of the corrected tests of the first metric, as one sentence."""
    cells = list(table.cells.values())
    every = lines(cells, table.axes, table.request.best)
    found = [line for line in every if line.metric == table.metrics[0]]
    if not found:
        return f"{table.metrics[0]} of {', '.join(table.head[:1])}"
    what, best = table.metrics[0], Counter(line.name(c) for line in found if (c := _first(line)))
    if not best:
        return f"All means of {what} are equal where they are compared."
    name, times = best.most_common(1)[0]
    if len(found) == 1:
        first = found[0].cells[0]
        tied = sum(cell.group == 1 for cell in found[0].cells) - 1
        told = f"{tied} others are not told apart from it" if tied else "no other is as good"
        return f"{name} has the best {what}, {mean_of_cell(first)}; {told}."
    shown = sum(any(cell.best for cell in line.cells) for line in found)
    alone = sum(sum(cell.best for cell in line.cells) == 1 for line in found)
    often = f"all {times}" if times == len(found) else f"{times} of {len(found)}"
    lead = f"{name} has the best mean {what} in {often} comparisons"
    if not shown:
        return f"No corrected test tells cells apart by {what}. {lead}."
    one = f", a single best one in {alone}" if alone else ""
    return f"{lead}. Corrected tests show a best group in {shown}{one}."


def _first(line: Line) -> BoardCell | None:
    """Return the cell with the best mean; None if another one has the same."""
    first, second, *_ = line.cells
    return None if first.summary.mean == second.summary.mean else first
