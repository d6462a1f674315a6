"""Means with intervals: as lines over evenly spaced places, or as rows of points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragstone.results.charts import parts
from ragstone.results.charts.parts import LINE, Spec
from ragstone.statistics.summary import Summary


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
    """Return one line per series, with intervals.

    Args:
        points: `name` of the series, `place` (index of a tick), and the fields of `mean_fields`.
        along: another field of the points, the name of the place.
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


def rows_chart(
    points: Sequence[Spec],
    titles: Mapping[str, str],
    what: str,
    *,
    domain: Sequence[float] = (0, 1),
    confidence: float = 0.95,
    prefix: str = "s",
) -> Spec:
    """Return a row per name; the series of a row are below each other.

    The points have the fields `row`, `name` (of the series) and those of `mean_fields`; `titles`
    contains the titles of `row` and `name`, and `what` is the subject of the chart. `domain` are
    the limits of the means, and `confidence` is that of the intervals. `prefix` separates the
    series of two charts in one picture.
    """
    keys = parts.series_keys((point["name"] for point in points), prefix)
    values = [point | {"series": keys[point["name"]]} for point in points]
    # The first slot of a row stays empty for the row's name.
    slots = {"field": "series", "type": "nominal", "scale": {"domain": ["", *keys.values()]}}
    place = {"y": parts.row_axis(), "yOffset": slots}
    layers = [
        parts.row_names(-LINE * len(keys) / 2),
        *parts.mean_layers("x", place, keys, titles, domain),
    ]
    numbers = "; ".join(f"{v['row']}, {v['name']}: {v['mean']:.3f}" for v in values)
    height = len({value["row"] for value in values}) * (LINE * (len(keys) + 1) + 8)
    description = f"{what}, with {100 * confidence:g} % intervals. {numbers}."
    return parts.whole(description, values, layers, height, keys)


def composition_chart(label: str, shares: Mapping[str, Mapping[str, Summary]]) -> Spec:
    """Return the chart of shares of queries: data set -> value of a label -> share."""
    points = [
        {"row": value, "name": dataset, **parts.mean_fields(share)}
        for dataset, values in shares.items()
        for value, share in values.items()
    ]
    title = f"Shares of queries by label {label}"
    return rows_chart(points, {"row": "Value", "name": "Data set"}, title) | {"title": title}
