"""Stacked bars: the counts of each row as shares that sum to 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from ragstone.results.charts import parts
from ragstone.results.charts.parts import Spec


def bars_chart(
    what: str,
    rows: Mapping[str, Mapping[str, int]],
    colours: Mapping[str, tuple[str, str]] | None = None,
    *,
    shown: Literal["share", "count"] = "share",
) -> Spec:
    """Return one bar per row; `rows` is row -> part -> count, and no row is empty.

    `what` is the subject of the chart. `colours` is part -> its colour and the colour of text on it
    (default: those of series). `shown` is the number in a segment, if it fits.
    """
    names = colours or dict.fromkeys(part for counts in rows.values() for part in counts)
    # The subject makes keys unique among the charts of a column.
    keys = parts.series_keys(names, prefix=what)
    values = [value for row, counts in rows.items() for value in _segments(row, counts, keys)]
    numbers = "; ".join(
        f"{v['row']}: {v['name']} {v['share']:.3f} ({v['count']} of {v['n']})" for v in values
    )
    default = parts.SERIES, parts.ON_SERIES
    fills, inks = zip(*colours.values(), strict=True) if colours else default
    layers = [parts.row_names(-22), _bars(_colour(keys, fills)), _texts(_colour(keys, inks), shown)]
    description = f"{what}, shares that sum to 1. {numbers}."
    spec = parts.whole(description, values, layers, parts.BAR_ROW * len(rows), keys)
    return spec | {"resolve": {"scale": {"color": "independent"}}}


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
    legend = {"title": None, "labelExpr": "names[datum.value]", "symbolType": "square"}
    axis = {"format": ".0%", "tickCount": 5, "title": None, "grid": False}
    titles = {"row": "Row", "name": "Part", "share": "Share", "count": "Queries", "n": "of"}
    return {
        "mark": {"type": "bar", "height": 24, "stroke": "var(--paper)", "strokeWidth": 1.5},
        "encoding": {
            "y": parts.row_axis(),
            "x": {**parts.quantity("start"), "axis": axis},
            "x2": {"field": "end"},
            "color": colour | {"legend": legend},
            "tooltip": parts.tooltip(titles),
        },
    }


def _texts(colour: Spec, shown: str) -> Spec:
    """Return the layer that writes a number into its segment if it fits."""
    form = {"share": ".0%", "count": ","}[shown]
    fits = f"datum.share * width >= 12 + 7 * length(format(datum.{shown}, '{form}'))"
    return {
        "mark": {"type": "text", "fontSize": 11.5, "fontWeight": 600},
        "transform": [{"filter": fits}],
        "encoding": {
            "y": parts.row_axis(),
            "x": {"field": "middle", "type": "quantitative"},
            "text": {"field": shown, "format": form},
            "color": colour | {"legend": None},
        },
    }


def _colour(keys: Mapping[str, str], colours: tuple[str, ...]) -> Spec:
    scale = {"domain": list(keys.values()), "range": list(colours)}
    return {"field": "series", "type": "nominal", "scale": scale}
