"""Plain bars: a number of items per row, with its share of all and an interval."""

from __future__ import annotations

from collections.abc import Mapping

from ragstone.results.charts import parts
from ragstone.results.charts.parts import Spec
from ragstone.statistics.proportions import share_interval


def amounts_chart(what: str, counts: Mapping[str, int], n: int, *, unit: str = "queries") -> Spec:
    """Return one bar per row.

    Args:
        what: subject of the chart, for its description.
        counts: row -> number of items.
        n: number of all items; an item may be in several rows, or in none.
        unit: noun for an item.
    """
    values: list[Spec] = []
    for row, count in counts.items():
        low, high = share_interval(count, n)
        ends = {"mean": count / n, "low": low, "high": high}
        values.append({"row": row, "count": count, "n": n, "failed": 0, **ends})
    widest = max(value["high"] for value in values)
    axis = {"format": ".0%", "tickCount": 5, "title": f"share of {n:,} {unit}", "grid": False}
    scale = {"domain": [0, min(1.0, widest * 1.2)], "nice": False}
    x = {"type": "quantitative", "axis": axis, "scale": scale}
    titles = {"row": "Value", "count": unit.capitalize(), "mean": "Share", "low": "from"}
    shown = parts.tooltip({**titles, "high": "to", "n": "of"})
    place: Spec = {"y": parts.row_axis()}
    text: Spec = {"type": "text", "align": "left", "dx": 6, "fontSize": 11.5}
    layers = [
        parts.row_names(-22),
        {
            "mark": {"type": "bar", "height": 22, "color": parts.SERIES[0], "opacity": 0.85},
            "encoding": {**place, "x": {**x, "field": "mean"}, "tooltip": shown},
        },
        {
            "mark": {"type": "rule", "strokeWidth": 1.75, "color": parts.INK},
            "encoding": {**place, "x": {**x, "field": "low"}, "x2": {"field": "high"}},
        },
        {
            "mark": text,
            "encoding": {
                **place,
                "x": {**x, "field": "high"},
                "text": {"field": "count", "type": "quantitative", "format": ","},
            },
        },
    ]
    numbers = "; ".join(f"{v['row']}: {v['count']:,} ({v['mean']:.3f})" for v in values)
    description = f"{what}, shares of {n:,} {unit} with 95 % intervals. {numbers}."
    return parts.whole(description, values, layers, parts.BAR_ROW * len(values))
