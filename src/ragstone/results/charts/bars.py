"""Stacked bars: the counts of each row as shares that sum to 1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import cycle
from typing import Final, Literal, NamedTuple, TypeAlias

from ragstone.results.charts import parts
from ragstone.results.charts.parts import Spec

Colours: TypeAlias = tuple[str, ...]
PLAIN: Final = ""
RISING: Final = "M-.5,1L.5,-1"
DOTS: Final = "M0,-.12A.12,.12 0 1,1 0,.12A.12,.12 0 1,1 0,-.12"
UPRIGHT: Final = "M0,1L0,-1"
FALLING: Final = "M-.5,-1L.5,1"
DASHES: Final = "M-.35,0L.35,0"
CROSSED: Final = "M-.5,1L.5,-1M-.5,-1L.5,1"
DOUBLE: Final = "M-.35,.5L.35,.5M-.35,-.5L.35,-.5"
PATTERNS: Final = (PLAIN, RISING, DOTS, UPRIGHT, FALLING, DASHES, CROSSED, DOUBLE)
"""Marks that are repeated along a segment, as SVG paths: the parts differ without colour too."""
_SQUARE: Final = "M-1,-1H1V1H-1V-1"
_FORMS: Final[Mapping[str, str]] = {"share": ".0%", "count": ","}
_EVERY: Final = 11
"""Distance of two marks of a pattern, in pixels."""


class Look(NamedTuple):
    """How the segments of one part are drawn."""

    fill: str
    ink: str
    """The colour of text and of the pattern."""
    pattern: str


def bars_chart(
    what: str,
    rows: Mapping[str, Mapping[str, int]],
    looks: Mapping[str, Look] | None = None,
    *,
    shown: Literal["share", "count"] = "share",
) -> Spec:
    """Return one bar per row; `rows` is row -> part -> count, and no row is empty.

    `what` is the subject of the chart. `looks` are those of the parts (default: the colours of
    series). `shown` is the number in a segment, if it fits.
    """
    looks = looks or _default_looks(part for counts in rows.values() for part in counts)
    # The subject makes keys unique among the charts of a column.
    keys = parts.series_keys(looks, prefix=what)
    values = [
        value | {"pattern": looks[value["name"]].pattern}
        for row, counts in rows.items()
        for value in _segments(row, counts, keys)
    ]
    numbers = "; ".join(
        f"{v['row']}: {v['name']} {v['share']:.3f} ({v['count']} of {v['n']})" for v in values
    )
    fills, inks, patterns = zip(*looks.values(), strict=True)
    layers = [
        parts.row_names(-22),
        _bars(_colour(keys, fills)),
        _pattern(_colour(keys, inks), shown),
        _legend(keys, fills, inks, patterns),
        _texts(_colour(keys, inks), shown),
    ]
    description = f"{what}, shares that sum to 1. {numbers}."
    spec = parts.whole(description, values, layers, parts.BAR_ROW * len(rows), keys)
    return spec | {
        "resolve": {"scale": dict.fromkeys(("color", "fill", "stroke", "shape"), "independent")}
    }


def _default_looks(names: Iterable[str]) -> dict[str, Look]:
    looks = map(Look, parts.SERIES, parts.ON_SERIES, PATTERNS)
    return dict(zip(dict.fromkeys(names), cycle(list(looks)), strict=False))


def _segments(row: str, counts: Mapping[str, int], keys: Mapping[str, str]) -> Iterator[Spec]:
    """Yield the segments of a bar; their ends are computed from counts, so the last one is 1."""
    n, before = sum(counts.values()), 0
    for name, count in counts.items():
        after = before + count
        place = {"row": row, "series": keys[name], "name": name, "count": count, "n": n}
        ends = {"start": before / n, "middle": (before + after) / 2 / n, "end": after / n}
        yield {**place, **ends, "share": count / n}
        before = after


def _bars(colour: Spec) -> Spec:
    axis = {"format": ".0%", "tickCount": 5, "title": None, "grid": False}
    titles = {"row": "Row", "name": "Part", "share": "Share", "count": "Queries", "n": "of"}
    return {
        "mark": {"type": "bar", "height": 24, "stroke": "var(--paper)", "strokeWidth": 1.5},
        "encoding": {
            "y": parts.row_axis(),
            "x": {**parts.quantity("start"), "axis": axis},
            "x2": {"field": "end"},
            "color": colour | {"legend": None},
            "tooltip": parts.tooltip(titles),
        },
    }


def _pattern(colour: Spec, shown: str) -> Spec:
    """Return the layer of marks along each segment, which leave room for its number."""
    first, last = (f"datum.{end} {sign} 6 / width" for end, sign in (("start", "+"), ("end", "-")))
    free = f"abs(datum.at - datum.middle) * width > 8 + 3.5 * length({_text(shown)})"
    return {
        "transform": [
            {"filter": "datum.pattern"},
            {"calculate": f"sequence({first}, {last}, {_EVERY} / width)", "as": "at"},
            {"flatten": ["at"]},
            {"filter": f"!({_fits(shown)}) || {free}"},
        ],
        "mark": {"type": "point", "size": 560, "strokeWidth": 1.2, "opacity": 0.55, "aria": False},
        "encoding": {
            "y": parts.row_axis(),
            "x": {"field": "at", "type": "quantitative"},
            "shape": {"field": "pattern", "type": "nominal", "scale": None},
            "color": colour | {"legend": None},
        },
    }


def _legend(
    keys: Mapping[str, str], fills: Colours, inks: Colours, patterns: tuple[str, ...]
) -> Spec:
    """Return a layer without marks whose legend has the colours and the patterns."""
    scale = {"domain": list(keys.values()), "range": [_SQUARE + mark for mark in patterns]}
    legend = {"title": None, "labelExpr": "names[datum.value]", "symbolSize": 150}
    shape = {"field": "series", "type": "nominal", "scale": scale, "legend": legend}
    return {
        "transform": [{"filter": "false"}],
        "mark": {"type": "point", "filled": True, "aria": False},
        "encoding": {
            "y": parts.row_axis(),
            "shape": shape,
            "stroke": _colour(keys, inks) | {"legend": legend},
            "fill": _colour(keys, fills) | {"legend": legend},
        },
    }


def _text(shown: str) -> str:
    return f"format(datum.{shown}, '{_FORMS[shown]}')"


def _fits(shown: str) -> str:
    return f"datum.share * width >= 12 + 7 * length({_text(shown)})"


def _texts(colour: Spec, shown: str) -> Spec:
    """Return the layer that writes a number into its segment if it fits."""
    return {
        "mark": {"type": "text", "fontSize": 11.5, "fontWeight": 600},
        "transform": [{"filter": _fits(shown)}],
        "encoding": {
            "y": parts.row_axis(),
            "x": {"field": "middle", "type": "quantitative"},
            "text": {"field": shown, "format": _FORMS[shown]},
            "color": colour | {"legend": None},
        },
    }


def _colour(keys: Mapping[str, str], colours: Colours) -> Spec:
    scale = {"domain": list(keys.values()), "range": list(colours)}
    return {"field": "series", "type": "nominal", "scale": scale}
