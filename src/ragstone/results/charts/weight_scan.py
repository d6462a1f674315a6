"""The charts of text-weight scans: a line a value of a label, the best weight of each ringed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from ragstone.results.charts.parts import (
    MOST_SERIES,
    Spec,
    even_axis,
    line_layers,
    mean_fields,
    quantity,
    series_encoding,
    series_keys,
    shift,
    whole,
)

if TYPE_CHECKING:
    from ragstone.results.weight_scan import ScanTable
    from ragstone.statistics.weight_scan import LabelScan

_MARGIN: Final = 0.02


def scan_chart(table: ScanTable) -> Spec:
    """Return the curves of a scan, all queries first and then the values with most queries."""
    rows = drawn(table)
    keys = series_keys(row.label for row in rows)
    values = [
        {"name": row.label, "series": keys[row.label], "weight": f"{weight:g}"}
        | {
            "best": weight == row.best and not row.all_equal,
            "place": place + shift(number, len(rows)),
        }
        | mean_fields(point)
        for number, row in enumerate(rows)
        for place, (weight, point) in enumerate(zip(table.weights, row.curve, strict=True))
    ]
    axis = even_axis(table.weights, "text weight")
    domain = _domain(values)
    named = table.label.replace("_", " ").capitalize() or "Queries"
    layers = line_layers(axis, keys, "Weight", named=named, domain=domain)
    layers.append(
        {
            "transform": [{"filter": "datum.best"}],
            "mark": {"type": "point", "filled": False, "size": 260, "strokeWidth": 2, "opacity": 1},
            "encoding": {
                "x": axis,
                "y": quantity("mean", domain),
                "color": series_encoding(list(keys.values()))[0],
            },
        }
    )
    best = [f"{row.label} {'all equal' if row.all_equal else f'{row.best:g}'}" for row in rows]
    told = "; ".join(f"{v['name']} at {v['weight']}: {v['mean']:.3f}" for v in values)
    what = f"{table.metric} by text weight, with 95 % intervals. Best: {', '.join(best)}. {told}."
    return whole(what, values, layers, 260, {key: name for name, key in keys.items()})


def drawn(table: ScanTable) -> list[LabelScan]:
    """Return the rows that are drawn, in the table's order."""
    every, *rows = table.rows
    most = sorted(rows, key=lambda row: -row.curve[0].n)[: MOST_SERIES - 1]
    return [every, *(row for row in rows if row in most)]


def _domain(values: Sequence[Spec]) -> tuple[float, float]:
    """Return what all intervals lie between, in tenths where it is wide and twentieths else."""
    low = min(value["low"] for value in values) - _MARGIN
    high = max(value["high"] for value in values) + _MARGIN
    return max(0.0, int(low * 20) / 20), min(1.0, -int(-high * 20 // 1) / 20)
