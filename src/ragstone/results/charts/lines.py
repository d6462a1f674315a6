"""Means with intervals as lines over evenly spaced places, one line per series."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.results.charts import parts
from ragstone.results.charts.parts import Spec


def lines_chart(
    points: Sequence[Spec],
    along: str,
    ticks: Sequence[float],
    what: str,
    *,
    title: str = "",
    named: str = "System",
    domain: Sequence[float] = (0, 1),
) -> Spec:
    """Return the chart of points with the fields `name`, `place` and those of `mean_fields`.

    Args:
        points: `place` is the index of a tick.
        along: another field of a point, the name of its place.
        ticks: numbers at the places.
        what: subject of the chart, for its description.
        title: title of the axis of places (default: `along`).
        named: title of the series.
        domain: limits of the means.
    """
    keys = parts.series_keys(point["name"] for point in points)
    # Series are 0.05 apart at one place, so that their intervals stay visible.
    shifts = {name: 0.05 * (i - (len(keys) - 1) / 2) for i, name in enumerate(keys)}
    values = [
        p | {"series": keys[p["name"]], "place": p["place"] + shifts[p["name"]]} for p in points
    ]
    titles = {"name": named, along: along.capitalize()}
    place = {"x": _even_axis(ticks, title or along)}
    rules, means = parts.mean_layers("y", place, keys, titles, domain)
    on_line = {channel: means["encoding"][channel] for channel in ("x", "y", "color")}
    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": on_line}
    numbers = "; ".join(f"{p['name']} {along} {p[along]}: {p['mean']:.3f}" for p in points)
    description = f"{what}, with 95 % intervals. {numbers}."
    return parts.whole(description, values, [rules, line, means], 240, keys)


def _even_axis(ticks: Sequence[float], title: str) -> Spec:
    axis = {
        "values": list(range(len(ticks))),
        "labelExpr": f"{list(ticks)}[round(datum.value)]",
        "title": title,
        "grid": False,
    }
    scale = {"domain": [-0.35, len(ticks) - 0.65], "nice": False, "zero": False}
    return {"field": "place", "type": "quantitative", "axis": axis, "scale": scale}
