"""Parts of every chart: axes, series, layers, and the frame around them.

Charts are plain data for Vega-Lite. Colours are CSS variables of the report, so that a chart
follows light and dark; widths follow the page. `render.py` replaces both with values for a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from ragstone.statistics.summary import Summary

Spec: TypeAlias = dict[str, Any]

SCHEMA: Final = "https://vega.github.io/schema/vega-lite/v6.json"
SERIES: Final = tuple(f"var(--series-{number})" for number in range(1, 9))
SHAPES: Final = (
    "circle", "square", "diamond", "triangle-up", "triangle-down", "cross", "triangle-right",
    "triangle-left",
)  # fmt: skip
MOST_SERIES: Final = len(SERIES)
"""Series that can be told apart in one chart; of more systems the best are drawn."""
LINE: Final = 18
"""Pixels from one series to the next within a row."""
WIDE: Final = 0.4
"""A span of means on whose axis one decimal is enough."""
BAR_ROW: Final = 58
"""Pixels of a bar or cell, its name and the gap after it."""
INK: Final = "var(--ink)"
ON_STRONG: Final = "var(--on-strong)"
ON_MIDDLE: Final = "var(--on-middle)"
"""Colours of text on a strong and on a middle tone; `ON_SERIES` has one for each series."""
ON_SERIES: Final = (
    ON_STRONG, ON_MIDDLE, ON_STRONG, ON_STRONG, ON_MIDDLE, ON_MIDDLE, ON_STRONG, ON_MIDDLE,
)  # fmt: skip
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

    Vega-Lite writes the members of a domain into expressions, which cannot contain every name that
    people give. So series have keys.
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
    """Return one picture of several charts below each other: title -> chart."""
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
        "resolve": {"scale": {"color": "independent"}},
    }


def series_keys(names: Iterable[str], prefix: str = "s") -> dict[str, str]:
    """Return name -> key of its series, in the order of first appearance."""
    return {name: f"{prefix}{place}" for place, name in enumerate(dict.fromkeys(names))}


def mean_fields(summary: Summary) -> Spec:
    """Return a mean, the ends of its interval and n, as fields of a row."""
    low, high = summary.interval or (summary.mean, summary.mean)
    return {"mean": summary.mean, "low": low, "high": high, "n": summary.n}


def series_encoding(domain: Sequence[str]) -> tuple[Spec, Spec]:
    """Return colour and shape of a series: either alone is enough to tell it apart."""
    legend = {"title": None, "labelExpr": "names[datum.value]"}
    head = {"field": "series", "type": "nominal", "legend": legend}
    places = [place % len(SERIES) for place in range(len(domain))]
    colours = {"domain": list(domain), "range": [SERIES[place] for place in places]}
    shapes = {"domain": list(domain), "range": [SHAPES[place] for place in places]}
    return head | {"scale": colours}, head | {"scale": shapes}


def quantity(field: str, domain: Sequence[float] = (0, 1)) -> Spec:
    """Return the axis of a mean or a share."""
    form = ".1f" if domain[1] - domain[0] > WIDE else ".2f"
    axis = {"tickCount": 5, "format": form, "title": None}
    return {"field": field, "type": "quantitative", "scale": {"domain": [*domain]}, "axis": axis}


def row_axis() -> Spec:
    """Return an axis of rows without labels: names stand above their rows, at any width."""
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
    """Return what is told of the point under the pointer: field -> its name."""
    numbers = {"mean", "low", "high", "share"}
    form = {"format": ".3f", "type": "quantitative"}
    return [
        {"field": field, "title": title, **(form if field in numbers else {})}
        for field, title in titles.items()
    ]
