"""The report's charts, as Vega-Lite specifications: plain data, drawn by the page.

Colours are the page's own CSS variables, so that a chart follows light and dark; widths follow the
page. Every chart has a description, and a table beside it with the same numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.parse import split_cutoff
from ragstone.results.by_label import label_table, labels_of
from ragstone.results.charts.parts import (
    LINE,
    MOST_SERIES,
    Spec,
    even_axis,
    line_layers,
    mean_fields,
    quantity,
    row_axis,
    row_names,
    series_encoding,
    series_keys,
    shift,
    tooltip,
    whole,
)
from ragstone.results.leaderboards import PART_NAMES, leaderboard, retrieval_board, shares_rows

if TYPE_CHECKING:
    from ragstone.results.leaderboards import Board, SharesRow
    from ragstone.results.reader import StoredResults

_BAR_ROW: Final = 58
"""Pixels of a bar, its name and the gap after it."""


def answers_chart(results: StoredResults) -> Spec | None:
    """Return the chart of the metric that says what is right: systems down, settings coloured."""
    metric = results.record.correctness_metric
    values = [
        {"row": row.system, "name": board.setting, **mean_fields(row.cells[metric])}
        for board in leaderboard(results)
        for row in board.rows
        if metric in row.cells and row.cells[metric].mean is not None
    ]
    if not values:
        return None
    titles = {"row": "System", "name": "Setting"}
    return _rows_chart(values, titles, f"Mean {metric} of each system under each setting")


def retrieval_charts(results: StoredResults) -> list[tuple[str, Spec]]:
    """Return (title, chart) per family of ranking metrics, lines by cutoff where there are two.

    Metrics with one cutoff or none share a last chart of rows.
    """
    board = retrieval_board(results)
    if board is None:
        return []
    families: dict[str, list[tuple[int, str]]] = {}
    for metric in board.metrics:
        name, cutoff = split_cutoff(metric)
        families.setdefault(name, []).append((cutoff or 0, metric))
    charts = [
        (f"{name}@k", _cutoff_chart(board, name, sorted(members)))
        for name, members in families.items()
        if len(members) > 1
    ]
    single = [members[0][1] for members in families.values() if len(members) == 1]
    values = [
        {"row": metric, **value}
        for metric in single
        for value in _points(board, metric, _drawn(board, single[0]))
    ]
    if values:
        titles = {"row": "Metric", "name": "System"}
        charts.append((", ".join(single), _rows_chart(values, titles, "Ranking metrics")))
    return charts


def adaptability_chart(results: StoredResults) -> Spec | None:
    """Return one stacked bar per system and mixed setting, its segments summing to 1."""
    rows = shares_rows(results)
    values = [value for row in rows for value in _segments(row)]
    if not values:
        return None
    keys = [key for key in PART_NAMES if any(value["part"] == key for value in values)]
    layers = [row_names(-22), _bars(keys), _bar_texts(keys)]
    told = "; ".join(
        f"{row.system}, {row.setting}: "
        + ", ".join(f"{part.label} {part.share.share:.3f}" for part in row.parts)
        for row in rows
        if row.n
    )
    height = _BAR_ROW * sum(bool(row.n) for row in rows)
    what = f"Adaptability to context, shares that sum to 1. {told}."
    spec = whole(what, values, layers, height, {key: PART_NAMES[key][0] for key in keys})
    return spec | {"resolve": {"scale": {"color": "independent"}}}


def _segments(row: SharesRow) -> list[Spec]:
    """Return the bar's segments with their ends, counted so that the last one ends at 1."""
    found, before = [], 0
    for part in row.parts if row.n else ():
        after = before + part.share.count
        segment: Spec = {"start": before / row.n, "end": after / row.n, "count": part.share.count}
        place = {"row": f"{row.system}  ·  {row.setting}", "part": part.key, "name": part.label}
        middle = {"share": part.share.count / row.n, "middle": (before + after) / 2 / row.n}
        found.append(place | segment | middle)
        before = after
    return found


def _bars(keys: Sequence[str]) -> Spec:
    legend = {"title": None, "labelExpr": "names[datum.value]", "symbolType": "square"}
    axis = {"format": ".0%", "tickCount": 5, "title": None, "grid": False}
    titles = {"row": "System and setting", "name": "Part", "share": "Share", "count": "Queries"}
    return {
        "mark": {"type": "bar", "height": 24, "stroke": "var(--paper)", "strokeWidth": 1.5},
        "encoding": {
            "y": row_axis(),
            "x": {**quantity("start"), "axis": axis},
            "x2": {"field": "end"},
            "color": _part_colour(keys, "part") | {"legend": legend},
            "tooltip": tooltip(titles),
        },
    }


def _bar_texts(keys: Sequence[str]) -> Spec:
    """Return the layer that writes a share into its segment, where there is room."""
    return {
        "mark": {"type": "text", "fontSize": 11.5, "fontWeight": 600},
        "transform": [{"filter": "datum.share * width >= 34"}],
        "encoding": {
            "y": row_axis(),
            "x": {"field": "middle", "type": "quantitative"},
            "text": {"field": "share", "format": ".0%"},
            "color": _part_colour(keys, "on") | {"legend": None},
        },
    }


def _part_colour(keys: Sequence[str], kind: str) -> Spec:
    scale = {"domain": list(keys), "range": [f"var(--{kind}-{key})" for key in keys]}
    return {"field": "part", "type": "nominal", "scale": scale}


def _rows_chart(values: Sequence[Spec], titles: Mapping[str, str], what: str) -> Spec:
    """Return means with intervals, one row a name, the series below each other within it."""
    keys = series_keys(value["name"] for value in values)
    values = [value | {"series": keys[value["name"]]} for value in values]
    series = list(keys.values())
    # The first place within a row is left empty: its name stands there.
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
    return whole(what, values, layers, height, {key: name for name, key in keys.items()})


def _cutoff_chart(board: Board, name: str, members: Sequence[tuple[int, str]]) -> Spec:
    """Return one family's means by cutoff, a line a system."""
    systems = _drawn(board, members[-1][1])
    keys = series_keys(systems)
    values = [
        value
        | {"series": keys[value["name"]], "metric": metric}
        | {"place": place + shift(systems.index(value["name"]), len(systems))}
        for place, (_, metric) in enumerate(members)
        for value in _points(board, metric, systems)
    ]
    layers = line_layers(even_axis([k for k, _ in members]), keys, "Metric")
    told = "; ".join(f"{v['name']} {v['metric']} {v['mean']:.3f}" for v in values)
    what = f"{name} by cutoff, with 95 % intervals. {told}."
    return whole(what, values, layers, 230, {key: name for name, key in keys.items()})


def turns_chart(results: StoredResults) -> Spec | None:
    """Return the chart of the metric that says what is right by turn, a line a trial."""
    metric = results.record.correctness_metric
    measured = any(metric in trial.scores for trial in results.trials)
    if not measured or "turn" not in labels_of(results):
        return None
    table = label_table(results, "turn", metric)
    columns = table.columns[:MOST_SERIES]
    names = {column: " \u00b7 ".join(column) for column in columns}
    keys = series_keys(names.values())
    values = [
        {
            "name": names[column],
            "series": keys[names[column]],
            "turn": turn,
            **mean_fields(cells[column]),
        }
        | {"place": place + shift(columns.index(column), len(columns))}
        for place, (turn, cells) in enumerate(table.rows)
        for column in columns
        if column in cells and cells[column].mean is not None
    ]
    axis = even_axis([int(turn) for turn, _ in table.rows if turn.isdigit()], "turn")
    told = "; ".join(f"{v['name']} turn {v['turn']}: {v['mean']:.3f}" for v in values)
    what = f"Mean {metric} by turn of the conversation, with 95 % intervals. {told}."
    layers = line_layers(axis, keys, "Turn")
    return whole(what, values, layers, 230, {key: name for name, key in keys.items()})


def _drawn(board: Board, metric: str) -> list[str]:
    """Return the systems that are drawn, in the board's order: the best where there are many."""

    def mean(system: str) -> float:
        summary = {row.system: row.cells for row in board.rows}[system].get(metric)
        return -1.0 if summary is None or summary.mean is None else summary.mean

    systems = [row.system for row in board.rows]
    best = sorted(systems, key=mean, reverse=True)[:MOST_SERIES]
    return [system for system in systems if system in best]


def _points(board: Board, metric: str, systems: Sequence[str]) -> list[Spec]:
    return [
        {"name": row.system, **mean_fields(row.cells[metric])}
        for row in board.rows
        if row.system in systems and metric in row.cells and row.cells[metric].mean is not None
    ]
