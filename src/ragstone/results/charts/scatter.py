"""Points with intervals in two directions, each with its name beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle, islice

from ragstone.results.charts import parts
from ragstone.results.charts.parts import Spec

_HEIGHT = 340
_LABEL_LIMIT = 210


def scatter_chart(
    points: Sequence[Spec],
    what: str,
    *,
    x_title: str,
    y_title: str,
    titles: Mapping[str, str],
    references: Sequence[Spec] = (),
    logarithmic: bool = False,
) -> Spec:
    """Return the chart.

    Args:
        points: `label` (of the point), `name` (of its series), `x`, `x_low`, `x_high`, and the
            fields of `mean_fields`, which are those of the vertical axis.
        what: subject of the chart, for its description.
        x_title: title of the horizontal axis.
        y_title: title of the vertical axis.
        titles: titles of `label` and `name` in the tooltip.
        references: `label` and `mean` of dashed horizontal lines.
        logarithmic: whether the horizontal axis is logarithmic.
    """
    keys = parts.series_keys(point["name"] for point in points)
    ordered = sorted(points, key=lambda one: (one["x"], one["mean"]))
    values = [
        # Names are above and below their points in turn, so that neighbours overlap less.
        one | {"series": keys[one["name"]], "above": place % 2 == 0}
        for place, one in enumerate(ordered)
    ]
    x = _axis("x", x_title, [v[f] for v in values for f in ("x", "x_low", "x_high")], logarithmic)
    ends = [v[field] for v in values for field in ("low", "high")]
    y = _axis("mean", y_title, [*ends, *(one["mean"] for one in references)], logarithmic=False)
    place = {"x": x, "y": y}
    numbers = "; ".join(
        f"{v['label']} ({v['name']}): {v['x']:.4g}, {v['mean']:.3f}" for v in values
    )
    lines = "; ".join(f"{one['label']}: {one['mean']:.3f}" for one in references)
    description = f"{what}, with 95 % intervals. {numbers}." + (f" Lines: {lines}." * bool(lines))
    layers = [
        *_references(references, y),
        *_marks(place, list(keys.values()), titles, (x_title, y_title)),
        *(_label(place, above=above) for above in (True, False)),
    ]
    return parts.whole(description, values, layers, _HEIGHT, keys)


def _axis(field: str, title: str, shown: Sequence[float], logarithmic: bool) -> Spec:
    axis = {"title": title, "tickCount": 5}
    if logarithmic:
        scale: Spec = {"type": "log", "domain": [min(shown) / 1.6, max(shown) * 1.6]}
        axis["format"] = "~s"
    else:
        low, high = parts.fitted_domain(shown)
        scale = {"domain": [low, high]}
        axis["format"] = parts.number_form(high - low)
    return {"field": field, "type": "quantitative", "scale": scale | {"nice": False}, "axis": axis}


def _marks(
    place: Spec, names: Sequence[str], titles: Mapping[str, str], axes: tuple[str, str]
) -> list[Spec]:
    legend = {"title": None, "labelExpr": "names[datum.value]"}
    series = {"field": "series", "type": "nominal", "legend": legend}
    colours, shapes = (
        series | {"scale": {"domain": names, "range": [*islice(cycle(marks), len(names))]}}
        for marks in (parts.SERIES, parts.SHAPES)
    )
    shown = {**titles, "x": axes[0], "x_low": "from", "x_high": "to", "mean": axes[1]}
    shown |= {"low": "from ", "high": "to ", "n": "n", "failed": "failed"}
    rule = {"type": "rule", "strokeWidth": 1.5, "opacity": 0.45}
    across = {**place, "x": place["x"] | {"field": "x_low"}, "x2": {"field": "x_high"}}
    along = {**place, "y": place["y"] | {"field": "low"}, "y2": {"field": "high"}}
    return [
        *({"mark": rule, "encoding": {**ends, "color": colours}} for ends in (across, along)),
        {
            "mark": {"type": "point", "filled": True, "size": 90, "opacity": 1},
            "encoding": {
                **place,
                "color": colours,
                "shape": shapes,
                "tooltip": parts.tooltip(shown),
            },
        },
    ]


def _label(place: Spec, *, above: bool) -> Spec:
    """Return the layer of the names above their points, or below them."""
    mark = {"type": "text", "align": "left", "dx": 7, "dy": -9 if above else 12}
    return {
        "transform": [{"filter": f"datum.above === {str(above).lower()}"}],
        "mark": mark | {"limit": _LABEL_LIMIT, "fontSize": 11},
        "encoding": {**place, "text": {"field": "label", "type": "nominal"}},
    }


def _references(references: Sequence[Spec], y: Spec) -> list[Spec]:
    """Return dashed lines with their names at the right end."""
    if not references:
        return []
    data = {"values": list(references)}
    dashed = {"type": "rule", "strokeDash": [5, 4], "color": parts.INK, "opacity": 0.6}
    text = {"type": "text", "align": "right", "dy": -6, "fontSize": 11, "limit": _LABEL_LIMIT}
    at_end = {"x": {"value": "width"}, "y": y, "text": {"field": "label", "type": "nominal"}}
    return [
        {"data": data, "mark": dashed, "encoding": {"y": y}},
        {"data": data, "mark": text, "encoding": at_end},
    ]
