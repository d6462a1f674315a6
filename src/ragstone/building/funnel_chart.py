"""The picture of a benchmark's making: one bar per step, and the composition of the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragstone.results.charts.amounts import amounts_chart
from ragstone.results.charts.parts import (
    BAR_ROW,
    SERIES,
    Spec,
    column,
    row_axis,
    row_names,
    tooltip,
    whole,
)


def build_chart(document: Mapping[str, Any]) -> Spec:
    """Return the picture of a built benchmark, given the content of its `build.json`.

    A part without data is left out: composition by source, relevant passages per query.
    """
    charts = {"Items after each step": _funnel(document["stages"])}
    by = "Queries by type" if "wanted" in document else "Queries by set"
    for key, title in (("composition", by), ("positives", "Relevant chunks")):
        if counts := document.get(key):
            named = {f"{name} relevant": n for name, n in counts.items()}
            rows = counts if key == "composition" else named
            charts[title] = amounts_chart(title, rows, sum(counts.values()))
    return column(charts)


def _funnel(stages: Sequence[Mapping[str, Any]]) -> Spec:
    rows = [("given", stages[0]["in"]), *((one["stage"], one["out"]) for one in stages)]
    values = [{"row": name, "count": count} for name, count in rows]
    axis = {"title": "items", "grid": False, "tickCount": 5, "format": ",d"}
    number: Spec = {"field": "count", "type": "quantitative"}
    layers: list[Spec] = [
        row_names(-22),
        {
            "mark": {"type": "bar", "height": 22, "color": SERIES[0]},
            "encoding": {
                "y": row_axis(),
                "x": {**number, "axis": axis},
                "tooltip": tooltip({"row": "Step", "count": "Items"}),
            },
        },
        {
            "mark": {"type": "text", "align": "left", "dx": 6, "fontSize": 11.5},
            "encoding": {"y": row_axis(), "x": number, "text": {**number, "format": ","}},
        },
    ]
    numbers = "; ".join(f"{name}: {count:,}" for name, count in rows)
    return whole(f"Items after each step. {numbers}.", values, layers, BAR_ROW * len(values))
