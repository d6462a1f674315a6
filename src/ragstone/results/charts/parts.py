"""What the report's charts are made of: axes, series, layers, and the frame around them.

Plain data for Vega-Lite. Colours are the page's own CSS variables, so that a chart follows light
and dark; widths follow the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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
        "labelColor": "var(--ink)",
        "labelFontSize": 12,
        "labelLimit": 300,
        "symbolSize": 90,
        "symbolOpacity": 1,
        "columns": {"expr": "width < 640 ? 1 : 4"},
        "columnPadding": 24,
        "rowPadding": 4,
        "offset": 14,
    },
    "text": {"color": "var(--ink)", "fontSize": 12},
}


def whole(
    description: str,
    values: Sequence[Spec],
    layers: Sequence[Spec],
    height: float,
    names: Mapping[str, str],
) -> Spec:
    """Return a whole chart; `names` holds what the keys of series are called.

    Series go by keys, as Vega-Lite writes the members of a domain into expressions, and people give
    systems names that no expression can hold.
    """
    return {
        "$schema": SCHEMA,
        "description": description,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
        "padding": {"left": 2, "right": 10, "top": 6, "bottom": 6},
        "params": [{"name": "names", "value": dict(names)}],
        "data": {"values": list(values)},
        "layer": list(layers),
        "config": CONFIG,
    }


def line_layers(
    x: Spec,
    keys: Mapping[str, str],
    what: str,
    *,
    named: str = "System",
    domain: Sequence[float] = (0, 1),
) -> list[Spec]:
    """Return intervals, lines and points of some series over places on an axis.

    `what` is the axis' name, `named` what the series are, `domain` what the means lie between.
    """
    colour, shape = series_encoding(list(keys.values()))
    shared = {"x": x, "color": colour}
    mean = quantity("mean", domain)
    titles = {"name": named, what.lower(): what, "mean": "Mean", "low": "from", "high": "to"}
    return [
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


def series_keys(names: Iterable[str]) -> dict[str, str]:
    """Return name -> key of its series, in the order of first appearance."""
    return {name: f"s{place}" for place, name in enumerate(dict.fromkeys(names))}


def mean_fields(summary: Summary) -> Spec:
    """Return a mean, the ends of its interval and n, as fields of a row."""
    low, high = summary.interval or (summary.mean, summary.mean)
    return {"mean": summary.mean, "low": low, "high": high, "n": summary.n}


def shift(place: int, series: int) -> float:
    """Return how far a series stands beside the cutoff, lest intervals hide each other."""
    return 0.05 * (place - (series - 1) / 2)


def even_axis(cutoffs: Sequence[float], title: str = "k") -> Spec:
    """Return an axis with cutoffs, or other numbers, at even distances."""
    axis = {
        "values": list(range(len(cutoffs))),
        "labelExpr": f"{list(cutoffs)}[round(datum.value)]",
        "title": title,
        "grid": False,
    }
    scale = {"domain": [-0.35, len(cutoffs) - 0.65], "nice": False, "zero": False}
    return {"field": "place", "type": "quantitative", "axis": axis, "scale": scale}


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
