"""The HTML page of people's ratings: charts of means and correlations, and all tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ragstone.core.atomic_files import write_document
from ragstone.results.charts import parts
from ragstone.results.charts.heat_map import heat_map
from ragstone.results.charts.means import rows_chart
from ragstone.results.charts.parts import Spec
from ragstone.results.html import chart_page
from ragstone.results.ratings_report import ALL, RatingsReport
from ragstone.results.wording import ABSENT

_TITLE: Final = "Means of the systems by property"
_CORRELATIONS: Final = "Spearman correlation of metrics with people's ratings"
_LARGE: Final = 10.0
"""A mean above it is on a scale of percent or the like, which has its own chart."""


def write_ratings(report: RatingsReport, path: Path) -> None:
    """Write the page of a report; `StoreError` if it cannot be written."""
    write_document(path, render_ratings(report).encode(), "page")


def render_ratings(report: RatingsReport) -> str:
    """Return the HTML of the page."""
    return chart_page(
        "tables",
        kind_of_page="Ratings",
        heading=f"Ratings of {report.name}",
        charts=dict(_charts(report)),
        tables=list(report.parts()),
        notes=(),
    )


def _charts(report: RatingsReport) -> Iterator[tuple[str, Spec]]:
    """Yield title and chart; properties on one scale share a chart."""
    columns = {name: of.systems for name, of in report.whole.properties.items()}
    columns[ALL] = report.whole.all
    means = [
        (name, system, one)
        for name, of in columns.items()
        for system, one in of.items()
        if one.mean is not None
    ]
    many = len({system for _, system, _ in means}) > parts.MOST_SERIES
    for number, title in enumerate((_TITLE, f"{_TITLE} (large scales)")):
        points = [
            {"row": system, "name": name} | parts.mean_fields(one)
            if many
            else {"row": name, "name": system} | parts.mean_fields(one)
            for name, system, one in means
            if ((one.mean or 0.0) > _LARGE) == bool(number)
        ]
        if points:
            yield title, _means(points, many=many, prefix=f"r{number}")
    if report.correlations:
        yield _CORRELATIONS, _correlations(report)


def _means(points: list[Spec], *, many: bool, prefix: str) -> Spec:
    """Return the chart of some means; systems are rows if there are more of them than colours."""
    names = ("System", "Property") if many else ("Property", "System")
    shown = dict.fromkeys(point["name"] for point in points)
    kept = set(list(shown)[: parts.MOST_SERIES])
    points = [point for point in points if point["name"] in kept]
    titles = dict(zip(("row", "name"), names, strict=True))
    domain = parts.means_domain(points)
    return rows_chart(points, titles, _TITLE, domain=domain, prefix=prefix)


def _correlations(report: RatingsReport) -> Spec:
    cells: list[Spec] = []
    for one in report.correlations:
        value, interval = one.plain.value, one.plain.interval
        shown = ABSENT if value is None else f"{value:z.2f}"
        note = "" if interval is None else f"[{interval[0]:z.2f}, {interval[1]:z.2f}]"
        place = {"row": one.metric, "column": one.property, "value": value}
        cells.append({**place, "shown": shown, "note": note})
    return heat_map(_CORRELATIONS, cells, low=0, high=1)
