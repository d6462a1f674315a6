"""The chart of a text-weight scan: one line per value of a label, its best weight ringed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragstone.results.charts.lines import lines_chart
from ragstone.results.charts.parts import MOST_SERIES, Spec, mean_fields

if TYPE_CHECKING:
    from ragstone.results.weight_scan import ScanTable
    from ragstone.statistics.weight_scan import LabelScan


def scan_chart(table: ScanTable) -> Spec:
    """Return the curves of a scan: all queries first, then the values with the most queries."""
    rows = drawn(table)
    points = [
        {"name": row.label, "weight": f"{weight:g}", "place": place, **mean_fields(mean)}
        | {"best": weight == row.best and not row.all_equal}
        for row in rows
        for place, (weight, mean) in enumerate(zip(table.weights, row.curve, strict=True))
    ]
    best = [f"{row.label} {'all equal' if row.all_equal else f'{row.best:g}'}" for row in rows]
    spec = lines_chart(
        points,
        "weight",
        table.weights,
        f"{table.metric} by text weight (best: {', '.join(best)})",
        title="text weight",
        named=table.label.replace("_", " ").capitalize() or "Queries",
        domain=_domain(points),
    )
    encoding = spec["layer"][-1]["encoding"]
    ring = {
        "transform": [{"filter": "datum.best"}],
        "mark": {"type": "point", "filled": False, "size": 260, "strokeWidth": 2, "opacity": 1},
        "encoding": {channel: encoding[channel] for channel in ("x", "y", "color")},
    }
    return spec | {"layer": [*spec["layer"], ring]}


def drawn(table: ScanTable) -> list[LabelScan]:
    """Return the rows that the chart contains, in the table's order."""
    every, *rows = table.rows
    most = sorted(rows, key=lambda row: -row.curve[0].n)[: MOST_SERIES - 1]
    return [every, *(row for row in rows if row in most)]


def _domain(points: Sequence[Spec]) -> tuple[float, float]:
    """Return the limits of all intervals, rounded outwards to a multiple of 0.05."""
    low = min(point["low"] for point in points) - 0.02
    high = max(point["high"] for point in points) + 0.02
    return max(0.0, int(low * 20) / 20), min(1.0, -int(-high * 20 // 1) / 20)
