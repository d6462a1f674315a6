"""Means with intervals as points, one row per name, the series of a row below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.results.charts.parts import (
    LINE,
    Spec,
    mean_fields,
    quantity,
    row_axis,
    row_names,
    series_encoding,
    series_keys,
    tooltip,
    whole,
)

if TYPE_CHECKING:
    from ragstone.statistics.summary import Summary


def rows_chart(values: Sequence[Spec], titles: Mapping[str, str], what: str) -> Spec:
    """Return the chart of values with the fields `row`, `name` and those of `mean_fields`.

    Args:
        values: one per row and series.
        titles: the fields `row` and `name` -> their titles.
        what: the subject of the chart, for its description.
    """
    keys = series_keys(value["name"] for value in values)
    values = [value | {"series": keys[value["name"]]} for value in values]
    series = list(keys.values())
    # The first slot of a row stays empty for the row's name.
    slots = {"field": "series", "type": "nominal", "scale": {"domain": ["", *series]}}
    colour, shape = series_encoding(series)
    shared = {"y": row_axis(), "yOffset": slots, "color": colour}
    told_on_hover = tooltip({**titles, "mean": "Mean", "low": "from", "high": "to", "n": "n"})
    layers = [
        row_names(-LINE * len(series) / 2),
        {
            "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.55},
            "encoding": {**shared, "x": quantity("low"), "x2": {"field": "high"}},
        },
        {
            "mark": {"type": "point", "filled": True, "size": 95, "opacity": 1},
            "encoding": {**shared, "x": quantity("mean"), "shape": shape, "tooltip": told_on_hover},
        },
    ]
    told = "; ".join(f"{v['row']}, {v['name']}: {v['mean']:.3f}" for v in values)
    height = len({value["row"] for value in values}) * (LINE * (len(series) + 1) + 8)
    what = f"{what}, with 95 % intervals. {told}."
    return whole(what, values, layers, height, keys)


def composition_chart(label: str, shares: Mapping[str, Mapping[str, Summary]]) -> Spec:
    """Return the chart of shares of queries: data set -> value of a label -> share."""
    values = [
        {"row": value, "name": dataset, **mean_fields(share)}
        for dataset, held in shares.items()
        for value, share in held.items()
    ]
    title = f"Shares of queries by label {label}"
    titles = {"row": "Value", "name": "Data set"}
    return rows_chart(values, titles, title) | {"title": title}
