"""A plot as a file, as plain data and as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.atomic_files import write_document
from ragstone.core.tables import TextTable
from ragstone.results.charts.parts import Spec, column
from ragstone.results.charts.render import check_chart_path, write_chart
from ragstone.results.html import chart_page
from ragstone.results.plots.request import PlotRequest
from ragstone.results.plots.table import NOT_CHARTS, PLOTS, find_plot, make_charts

_PAGES: Final = {".html", ".htm"}
_DRAWING: Final = frozenset(
    {
        "series",
        "place",
        "start",
        "middle",
        "end",
        "strength",
        "above",
        "segment",
        "shown",
        "pattern",
    }
)
"""Fields of a chart's data that only place a mark and contain no fact."""


@dataclass(frozen=True)
class DrawnPlot:
    """A plot of some results."""

    name: str
    shows: str
    charts: Mapping[str, Spec]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers of the charts as plain data (docs/plots.md lists the keys)."""
        charts = [{"title": title, "rows": rows_of(spec)} for title, spec in self.charts.items()]
        return {"plot": self.name, "shows": self.shows, "charts": charts, "notes": [*self.notes]}

    @property
    def tables(self) -> list[TextTable]:
        """The numbers of the charts as tables."""
        return [_table(title, rows_of(spec)) for title, spec in self.charts.items()]

    def __str__(self) -> str:
        """Return the tables and the notes."""
        notes = [f"note: {one}" for one in self.notes]
        return "\n\n".join([*map(str, self.tables), *(["\n".join(notes)] if notes else [])])


def draw(request: PlotRequest) -> DrawnPlot:
    """Return the plot that a request names; `ConfigError` if something is missing for it."""
    charts = make_charts(request)
    return DrawnPlot(request.plot, find_plot(request.plot).shows, charts, tuple(request.notes))


def check_plot_path(path: Path) -> None:
    """Raise `ConfigError` for an unknown suffix, `MissingDependency` without the extra `plot`."""
    if path.suffix.lower() not in _PAGES:
        check_chart_path(path)


def write_plot(plot: DrawnPlot, path: Path) -> None:
    """Write a plot as SVG, PNG, HTML or Vega-Lite JSON; `StoreError` if it cannot be written."""
    if path.suffix.lower() in _PAGES:
        write_document(path, render_plot(plot).encode(), "plot")
        return
    specs = list(plot.charts.values())
    write_chart(
        specs[0] | {"title": next(iter(plot.charts))} if len(specs) == 1 else column(plot.charts),
        path,
    )


def render_plot(plot: DrawnPlot) -> str:
    """Return the HTML of the page."""
    rows = limits.REPORT_OPEN_ROWS
    return chart_page("plot", plot=plot, tables=plot.tables, open_rows=rows)


def rows_of(spec: Spec) -> list[dict[str, Any]]:
    """Return the data of a chart without the fields that only place marks."""
    return [
        {key: value for key, value in row.items() if key not in _DRAWING}
        for row in spec["data"]["values"]
        if "series" in row or "row" in row
    ]


def listed_plots() -> list[dict[str, str | None]]:
    """Return every plot, then the figures that are not charts (`ragstone plot --list --json`)."""
    drawn = [
        {"name": one.name, "shows": one.shows, "needs": one.needs, "not_a_chart": None}
        for one in PLOTS.values()
    ]
    others = [
        {"name": name, "shows": None, "needs": None, "not_a_chart": why}
        for name, why in NOT_CHARTS.items()
    ]
    return [*drawn, *others]


def plots_table() -> TextTable:
    """Return the list of the plots as a table."""
    heads = ["name", "shows", "needs"]
    rows = [
        [one["name"], one["shows"] or f"not drawn: {one['not_a_chart']}", one["needs"] or ""]
        for one in listed_plots()
    ]
    return TextTable(heads, rows, "Plots")


def _table(title: str, rows: list[dict[str, Any]]) -> TextTable:
    heads = list(dict.fromkeys(key for row in rows for key in row))
    return TextTable(heads, [[_text(row.get(head)) for head in heads] for row in rows], title)


def _text(value: object) -> str:
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 1e5 else f"{value:.3g}"  # noqa: PLR2004
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)
