"""Means with intervals as lines over evenly spaced places, one line per series."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.results.charts.parts import (
    Spec,
    quantity,
    series_encoding,
    series_keys,
    tooltip,
    whole,
)


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
    keys = series_keys(point["name"] for point in points)
    # Series are 0.05 apart at one place, so that their intervals stay visible.
    shifts = {name: 0.05 * (i - (len(keys) - 1) / 2) for i, name in enumerate(keys)}
    values = [
        p | {"series": keys[p["name"]], "place": p["place"] + shifts[p["name"]]} for p in points
    ]
    colour, shape = series_encoding(list(keys.values()))
    shared = {"x": _even_axis(ticks, title or along), "color": colour}
    mean = quantity("mean", domain)
    titles = {"name": named, along: along.capitalize(), "mean": "Mean", "low": "from", "high": "to"}
    layers = [
        {
            "mark": {"type": "rule", "strokeWidth": 1.5, "opacity": 0.5},
            "encoding": {**shared, "y": quantity("low", domain), "y2": {"field": "high"}},
        },
        {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {**shared, "y": mean}},
        {
            "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
            "encoding": {**shared, "y": mean, "shape": shape, "tooltip": tooltip(titles)},
        },
    ]
    told = "; ".join(f"{p['name']} {along} {p[along]}: {p['mean']:.3f}" for p in points)
    return whole(f"{what}, with 95 % intervals. {told}.", values, layers, 240, keys)


def _even_axis(ticks: Sequence[float], title: str) -> Spec:
    axis = {
        "values": list(range(len(ticks))),
        "labelExpr": f"{list(ticks)}[round(datum.value)]",
        "title": title,
        "grid": False,
    }
    scale = {"domain": [-0.35, len(ticks) - 0.65], "nice": False, "zero": False}
    return {"field": "place", "type": "quantitative", "axis": axis, "scale": scale}
