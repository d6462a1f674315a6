"""Means with intervals as points, one row per name, the series of a row below each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ragstone.results.charts import parts
from ragstone.results.charts.parts import LINE, Spec

if TYPE_CHECKING:
    from ragstone.statistics.summary import Summary


def rows_chart(points: Sequence[Spec], titles: Mapping[str, str], what: str) -> Spec:
    """Return the chart of points with the fields `row`, `name` and those of `mean_fields`.

    Args:
        points: one per row and series.
        titles: the fields `row` and `name` -> their titles.
        what: the subject of the chart, for its description.
    """
    keys = parts.series_keys(point["name"] for point in points)
    values = [point | {"series": keys[point["name"]]} for point in points]
    # The first slot of a row stays empty for the row's name.
    slots = {"field": "series", "type": "nominal", "scale": {"domain": ["", *keys.values()]}}
    place = {"y": parts.row_axis(), "yOffset": slots}
    layers = [parts.row_names(-LINE * len(keys) / 2), *parts.mean_layers("x", place, keys, titles)]
    numbers = "; ".join(f"{v['row']}, {v['name']}: {v['mean']:.3f}" for v in values)
    height = len({value["row"] for value in values}) * (LINE * (len(keys) + 1) + 8)
    description = f"{what}, with 95 % intervals. {numbers}."
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
