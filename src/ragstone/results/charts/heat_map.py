"""Heat maps: a table of numbers, each cell coloured by its value.

Every cell shows its number, because not every reader can distinguish the colours.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from ragstone.results.charts.parts import BAR_ROW, SERIES, Spec, row_axis, row_names, whole
from ragstone.statistics.metric_correlations import CorrelationRow

_CELL: Final = 160
"""Maximum width of a cell, in pixels."""
_OPACITY: Final = 0.6
"""Maximum opacity of a cell: its text has a contrast of at least 4.5 : 1 in both schemes."""


def heat_map(what: str, cells: Sequence[Spec], *, low: float, high: float) -> Spec:
    """Return a heat map of cells with the fields `row`, `column`, `value`, `shown` and `note`.

    `what` is the subject of the chart. `value` may be None; `note` is small text below `shown`, if
    it fits. A value of `low` has no colour, one of `high` the strongest one, and values below `low`
    have another colour.
    """
    values = [
        cell | {"strength": 0 if (v := cell["value"]) is None else (v - low) / (high - low)}
        for cell in cells
    ]
    names = {cell["column"] for cell in cells}
    x = {
        "field": "column",
        "type": "nominal",
        "sort": None,
        "axis": _column_axis(names),
        "scale": {"range": [0, {"expr": f"min(width, {_CELL * len(names)})"}], "padding": 0},
    }
    place = {"x": x, "y": row_axis()}
    sign = {"condition": {"test": "datum.strength < 0", "value": SERIES[1]}, "value": SERIES[0]}
    opacity = {"value": {"expr": f"{_OPACITY} * abs(datum.strength)"}}
    fits = f"datum.note && width / {len(names)} >= 5.2 * length(datum.note)"
    layers = [
        row_names(-24),
        {
            "mark": {"type": "rect", "height": 30, "stroke": "var(--paper)", "strokeWidth": 2},
            "encoding": {**place, "fill": sign, "fillOpacity": opacity},
        },
        _texts(place, "shown", {"expr": f"{fits} ? -5 : 0"}, 12),
        _texts(place, "note", 8, 9.5) | {"transform": [{"filter": fits}]},
    ]
    texts = (f"{v['row']}, {v['column']}: {v['shown']} {v['note']}".strip() for v in values)
    height = BAR_ROW * len({cell["row"] for cell in cells})
    return whole(f"{what}. {'; '.join(texts)}.", values, layers, height)


def _texts(place: Spec, field: str, dy: float | Spec, size: float) -> Spec:
    """Return the layer that writes a field into the cells."""
    text = {"field": field, "type": "nominal"}
    return {
        "mark": {"type": "text", "fontSize": size, "dy": dy},
        "encoding": {**place, "text": text},
    }


def _column_axis(names: Collection[str]) -> Spec:
    """Return the axis of column names, slanted if the longest is wider than a cell."""
    wide = f"min(width / {len(names)}, {_CELL}) >= {6.5 * max(map(len, names))}"
    return {
        "orient": "top",
        "title": None,
        "domain": False,
        "ticks": False,
        "labelAngle": {"expr": f"{wide} ? 0 : -40"},
        "labelAlign": {"expr": f"{wide} ? 'center' : 'left'"},
        "labelBaseline": {"expr": f"{wide} ? 'bottom' : 'middle'"},
        "labelPadding": 6,
        "labelOverlap": False,
    }


def correlation_chart(rows: Sequence[CorrelationRow]) -> Spec:
    """Return the heat map of correlations: metrics down, groups of items across."""
    cells = []
    for row in rows:
        value, interval = row.correlation.value, row.correlation.interval
        note = (
            f"n={row.correlation.n:,}"
            if interval is None
            else f"[{interval[0]:z.2f}, {interval[1]:z.2f}]"
        )
        place = {"row": f"{row.metric} with {row.against}", "column": row.group}
        cells.append({**place, "value": value, "shown": row.shown, "note": note})
    title = "Correlation of metrics, with 95 % intervals"
    return heat_map(title, cells, low=0, high=1) | {"title": title}
