"""The charts and the HTML page of effects and of sensitivity."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ragstone.core import limits
from ragstone.core.atomic_files import write_document
from ragstone.results.charts import parts
from ragstone.results.charts.heat_map import heat_map
from ragstone.results.charts.means import rows_chart
from ragstone.results.charts.parts import MOST_SERIES, Spec
from ragstone.results.charts.render import check_chart_path, write_chart
from ragstone.results.crossed.effects import EffectsReport
from ragstone.results.crossed.report import CrossedReport
from ragstone.results.crossed.sensitivity import SensitivityReport
from ragstone.results.html import chart_page
from ragstone.results.wording import ABSENT
from ragstone.statistics.cell_means import Interval
from ragstone.statistics.sensitivity import Sensitivity

_PAGES: Final = {".html", ".htm"}


def check_output(path: Path) -> None:
    """Raise `ConfigError` for an unknown suffix, `MissingDependency` without the extra `plot`."""
    if path.suffix.lower() not in _PAGES:
        check_chart_path(path)


def write_crossed(report: CrossedReport, path: Path) -> None:
    """Write the page or the chart of a report; `StoreError` if it cannot be written."""
    charts = dict(_charts(report))
    if path.suffix.lower() in _PAGES:
        write_document(path, render_crossed(report).encode(), "page")
    else:
        write_chart(parts.column(charts), path)


def render_crossed(report: CrossedReport) -> str:
    """Return the HTML of the page."""
    name = "Effects" if isinstance(report, EffectsReport) else "Sensitivity"
    return chart_page(
        "tables",
        kind_of_page=name,
        heading=f"{name} of {report.scores.metric}",
        notes=report.notes,
        charts=dict(_charts(report)),
        tables=[p if isinstance(p, str) else p.without_plot() for p in report.tables()],
    )


def _charts(report: CrossedReport) -> Iterator[tuple[str, Spec]]:
    """Yield title and chart."""
    if isinstance(report, EffectsReport):
        yield "Share of the variance of scores", _shares(report)
        if report.effects.means:
            yield f"Marginal means of {report.scores.metric}", _level_means(report)
    elif isinstance(report, SensitivityReport):
        for number, one in enumerate(report.found):
            if one.spreads:
                yield f"Means by {one.factor}", _spreads(report, one, f"{number}s")
            if one.agreements:
                title = (
                    f"Kendall's tau of the orders under each {one.factor}; diagonal: of two samples"
                )
                yield title, _agreements(one)


def _point(row: str, name: str, mean: float, interval: Interval | None, n: int) -> Spec:
    low, high = interval or (mean, mean)
    return {"row": row, "name": name, "mean": mean, "low": low, "high": high, "n": n}


def _shares(report: EffectsReport) -> Spec:
    points = [
        _point(one.name, "share", one.variance_share, one.interval, report.design.n)
        for one in report.shown[: limits.EFFECT_CHART_ROWS]
    ]
    titles = {"row": "Source"}
    what = f"Share of the variance of {report.scores.metric}"
    domain = parts.means_domain(points)
    return rows_chart(points, titles, what, domain=domain, confidence=report.confidence, prefix="v")


def _level_means(report: EffectsReport) -> Spec:
    points = [
        _point(f"{one.factor}: {one.level}", "mean", one.mean, one.interval, one.n)
        for one in report.effects.means[: limits.EFFECT_CHART_ROWS]
    ]
    titles = {"row": "Level"}
    what = f"Marginal means of {report.scores.metric}"
    domain = parts.means_domain(points)
    return rows_chart(points, titles, what, domain=domain, confidence=report.confidence)


def _spreads(report: SensitivityReport, one: Sensitivity, prefix: str) -> Spec:
    points = [
        _point(spread.system, level, mean, interval, one.n)
        for spread in one.spreads[: limits.EFFECT_CHART_ROWS]
        for level, mean, interval in spread.means[:MOST_SERIES]
    ]
    titles = {"row": "System", "name": one.factor.capitalize()}
    what = f"{report.scores.metric} of each system by {one.factor}"
    domain = parts.means_domain(points)
    return rows_chart(
        points, titles, what, domain=domain, confidence=report.confidence, prefix=prefix
    )


def _agreements(one: Sensitivity) -> Spec:
    shown = one.levels[: limits.EFFECT_CHART_ROWS]
    pairs = {frozenset((pair.a, pair.b)): pair for pair in one.agreements}
    own = {sample.level: sample for sample in one.samples}
    cells: list[Spec] = []
    for a in shown:
        for b in shown:
            found = own.get(a) if a == b else pairs[frozenset((a, b))]
            tau = None if found is None else found.tau
            note = "" if found is None or not found.tau_interval else _between(found.tau_interval)
            text = ABSENT if tau is None else f"{tau:.2f}"
            cells.append({"row": a, "column": b, "value": tau, "shown": text, "note": note})
    what = f"Kendall's tau between the orders of systems under each {one.factor}"
    return heat_map(what, cells, low=0.0, high=1.0)


def _between(interval: Interval) -> str:
    return f"{interval[0]:.2f} to {interval[1]:.2f}"
