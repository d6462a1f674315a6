"""Parts of every chart: axes, series, layers, and the frame around them.

Charts are plain data for Vega-Lite. Colours are CSS variables of the report, so that they follow
its light or dark scheme; widths follow the page. `render.py` replaces both with values for a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle, islice
from types import MappingProxyType
from typing import Any, Final, Literal, TypeAlias

from ragstone.statistics.summary import Summary

Spec: TypeAlias = dict[str, Any]

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SERIES: Final = tuple(f"var(--series-{number})" for number in range(1, 9))
SHAPES: Final = (
    "circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "triangle-right",
    "triangle-left",
)  # fmt: skip
MOST_SERIES: Final = len(SERIES)
"""Maximum number of series in a chart: there are no more distinct colours."""
LINE: Final = 18
"""Distance of two series within a row, in pixels."""
WIDE: Final = 0.4
"""Length of an axis of means from which one decimal is enough."""
NARROW: Final = 0.05
"""Length of an axis of means up to which three decimals are needed."""
BAR_ROW: Final = 58
"""Height of a bar or cell with its name and the gap after it, in pixels."""
INK: Final = "var(--ink)"
ON_STRONG: Final = "var(--on-strong)"
ON_MIDDLE: Final = "var(--on-middle)"
"""Colours of text on a strong and on a middle tone."""
ON_SERIES: Final = (
    ON_STRONG, ON_MIDDLE, ON_STRONG, ON_STRONG, ON_MIDDLE, ON_MIDDLE, ON_STRONG, ON_MIDDLE,
)  # fmt: skip
"""Colours of text on the colours of the series."""
_MUTED: Final = "var(--muted)"
_RULE: Final = "var(--rule)"

CONFIG: Final[Spec] = {
    "background": "transparent",
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": _MUTED,
        "titleColor": _MUTED,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "gridColor": _RULE,
        "domainColor": _RULE,
        "tickColor": _RULE,
    },
    "legend": {
        "orient": "bottom",
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 300,
        "symbolSize": 90,
        "symbolOpacity": 1,
        "columns": {"expr": "width < 640 ? 1 : 4"},
        "columnPadding": 24,
        "rowPadding": 4,
        "offset": 14,
    },
    "text": {"color": INK, "fontSize": 12},
    "title": {"color": INK, "fontSize": 14, "anchor": "start", "offset": 14},
}


def whole(
    description: str,
    values: Sequence[Spec],
    layers: Sequence[Spec],
    height: float,
    keys: Mapping[str, str] = MappingProxyType({}),
) -> Spec:
    """Return a whole chart; `keys` is name of a series -> its key.

    Vega-Lite writes the members of a domain into expressions, which cannot contain every name. So
    domains contain keys.
    """
    return {
        "$schema": SCHEMA,
        "description": description,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "right": 10, "top": 6, "bottom": 6},
        "params": [{"name": "names", "value": {key: name for name, key in keys.items()}}],
        "data": {"values": list(values)},
        "layer": list(layers),
        "config": CONFIG,
    }


def column(charts: Mapping[str, Spec]) -> Spec:
    """Return one picture of charts below each other; `charts` is title -> chart."""
    parts = list(charts.values())
    own = ("width", "height", "data", "layer", "resolve")
    names = {key: name for part in parts for key, name in part["params"][0]["value"].items()}
    return {
        **{name: parts[0][name] for name in ("$schema", "padding", "config")},
        "description": " ".join(part["description"] for part in parts),
        "params": [{"name": "names", "value": names}],
        "spacing": 36,
        "vconcat": [
            {"title": title, **{name: chart[name] for name in own if name in chart}}
            for title, chart in charts.items()
        ],
        "resolve": {
            "scale": dict.fromkeys(("color", "fill", "stroke", "shape", "yOffset"), "independent")
        },
    }


def series_keys(names: Iterable[str], prefix: str = "s") -> dict[str, str]:
    """Return name -> key of its series, in the order of first appearance."""
    return {name: f"{prefix}{place}" for place, name in enumerate(dict.fromkeys(names))}


def mean_fields(summary: Summary) -> Spec:
    """Return a mean, the ends of its interval and n, as fields of a row."""
    low, high = summary.interval or (summary.mean, summary.mean)
    return {
        "mean": summary.mean,
        "low": low,
        "high": high,
        "n": summary.n,
        "failed": summary.failed,
    }


def fitted_domain(shown: Iterable[float], room: float = 0.06) -> tuple[float, float]:
    """Return the limits of an axis that fits some values, with some room.

    Values from 0 to 1 stay within these limits.

    >>> fitted_domain([0.4, 0.6, 0.9]), fitted_domain([-1.0, 4.0], room=0.1)
    ((0.37, 0.93), (-1.5, 4.5))
    """
    held = list(shown)
    low, high = min(held, default=0.0), max(held, default=1.0)
    more = max((high - low) * room, 0.01)
    ends = round(low - more, 6), round(high + more, 6)
    return (max(0.0, ends[0]), min(1.0, ends[1])) if low >= 0 and high <= 1 else ends


def means_domain(points: Iterable[Spec]) -> tuple[float, float]:
    """Return the limits of an axis that fits the intervals of some points."""
    return fitted_domain(point[end] for point in points for end in ("low", "high"))


def mean_layers(
    axis: Literal["x", "y"],
    place: Spec,
    keys: Mapping[str, str],
    titles: Mapping[str, str],
    domain: Sequence[float] = (0, 1),
) -> tuple[Spec, Spec]:
    """Return the layers of intervals and of means, which encode series by colour and shape.

    `axis` and `domain` are the axis of the means and its limits, `place` is the encoding of the
    other axis. `keys` is name of a series -> its key; `titles` are those of fields in the tooltip.
    """
    names = list(keys.values())
    legend = {"title": None, "labelExpr": "names[datum.value]"}
    series = {"field": "series", "type": "nominal", "legend": legend}
    colours, shapes = (
        series | {"scale": {"domain": names, "range": [*islice(cycle(marks), len(names))]}}
        for marks in (SERIES, SHAPES)
    )
    shown = tooltip({**titles, "mean": "Mean", "low": "from", "high": "to", "n": "n"})
    low, mean, high = quantity("low", domain), quantity("mean", domain), {"field": "high"}
    intervals = {
        "mark": {"type": "rule", "strokeWidth": 1.75, "opacity": 0.5},
        "encoding": {**place, "color": colours, axis: low, f"{axis}2": high},
    }
    means = {
        "mark": {"type": "point", "filled": True, "size": 80, "opacity": 1},
        "encoding": {**place, "color": colours, axis: mean, "shape": shapes, "tooltip": shown},
    }
    return intervals, means


def number_form(length: float) -> str:
    """Return the format of the numbers at an axis of means of this length.

    >>> number_form(1.0), number_form(0.2), number_form(0.02)
    ('.1f', '.2f', '.3f')
    """
    return ".1f" if length > WIDE else ".2f" if length > NARROW else ".3f"


def quantity(field: str, domain: Sequence[float] = (0, 1)) -> Spec:
    """Return the axis of a mean or a share."""
    form = number_form(domain[1] - domain[0])
    axis = {"tickCount": 5, "format": form, "title": None}
    return {"field": field, "type": "quantitative", "scale": {"domain": [*domain]}, "axis": axis}


def row_axis() -> Spec:
    """Return an axis of rows without labels: `row_names` writes names above the rows."""
    return {"field": "row", "type": "nominal", "sort": None, "axis": None, "scale": {"padding": 0}}


def row_names(dy: float) -> Spec:
    """Return the layer that writes a row's name above it."""
    mark = {"type": "text", "align": "left", "x": 0, "dy": dy, "fontWeight": 600}
    return {
        "transform": [{"aggregate": [], "groupby": ["row"]}],
        "mark": mark | {"limit": {"expr": "width"}},
        "encoding": {"y": row_axis(), "text": {"field": "row"}},
    }


def tooltip(titles: Mapping[str, str]) -> list[Spec]:
    """Return the tooltip of a mark; `titles` is field -> its title."""
    numbers = {"mean", "low", "high", "share"}
    form = {"format": ".3f", "type": "quantitative"}
    return [
        {"field": field, "title": title, **(form if field in numbers else {})}
        for field, title in titles.items()
    ]
