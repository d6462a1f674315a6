"""The chart of a history: means with intervals over runs, in segments of comparable values."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.results.charts import parts
from ragstone.results.charts.parts import MOST_SERIES, Spec
from ragstone.results.history import History, HistoryPoint
from ragstone.results.wording import moment


def trend_chart(history: History) -> Spec:
    """Return a line per system and setting; it has a gap at each mark.

    The first `MOST_SERIES` lines are drawn. A rule names the changes.
    """
    drawn = [line for line in history.lines if line.known][:MOST_SERIES]
    runs = sorted({point.finished for line in drawn for point in line.known})
    place = {finished: number for number, finished in enumerate(runs)}
    keys = parts.series_keys(line.label for line in drawn)
    values = [
        {
            "name": line.label,
            "series": keys[line.label],
            "place": place[point.finished],
            "segment": point.segment,
            "run": moment(point.finished),
            "release": point.release or "",
            "mean": point.mean,
            "n": point.n,
            "low": point.ends[0],
            "high": point.ends[1],
        }
        for line in drawn
        for point in line.known
    ]
    marks: dict[str, dict[str, None]] = {}
    for line in drawn:
        for point in line.known:
            marks.setdefault(point.finished, {}).update(dict.fromkeys(point.marks))
    changed = {finished: ", ".join(kinds) for finished, kinds in marks.items() if kinds}
    ruled = [{"place": place[run] - 0.5, "mark": kinds} for run, kinds in changed.items()]
    points = [point for line in drawn for point in line.known]
    numbers = "; ".join(f"{v['name']} {v['run']}: {v['mean']:.3f}" for v in values)
    gaps = "; ".join(f"{kinds} before {moment(run)}" for run, kinds in changed.items())
    what = f"{history.metric} of {history.name} by run, with 95 % intervals. {numbers}."
    what += f" Not comparable: {gaps}." if gaps else ""
    spec = parts.whole(what, [*values, *ruled], _layers(points, keys, len(runs)), 260, keys)
    labels = {"name": "labels", "value": _labels(runs, points)}
    return spec | {"params": [*spec["params"], labels]}


def _layers(points: Sequence[HistoryPoint], keys: dict[str, str], runs: int) -> list[Spec]:
    axis = {
        "values": list(range(runs)),
        "labelExpr": "labels[round(datum.value)]",
        "labelOverlap": "greedy",
        "title": None,
        "grid": False,
    }
    scale = {"domain": [-0.5, runs - 0.5], "nice": False, "zero": False}
    x = {"field": "place", "type": "quantitative", "axis": axis, "scale": scale}
    titles = {"name": "System", "run": "Run", "release": "Release"}
    rules, means = parts.mean_layers(
        "y",
        {"x": x},
        keys,
        titles,
        parts.fitted_domain(end for point in points for end in point.ends),
    )
    on_line = {channel: means["encoding"][channel] for channel in ("x", "y", "color")}
    segments = {"detail": {"field": "segment", "type": "nominal"}}
    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {**on_line, **segments}}
    means_only = {"transform": [{"filter": "!datum.mark"}]}
    marks_only = {"transform": [{"filter": "datum.mark"}]}
    # The description names the changes; a group of marks without any has no name of its own.
    change = {"type": "rule", "strokeDash": [4, 3], "color": parts.INK, "opacity": 0.6}
    change |= {"aria": False}
    text = {
        "type": "text",
        "aria": False,
        "angle": 270,
        "align": "right",
        "dy": -6,
        "y": 0,
        "fontSize": 11,
    }
    return [
        {**marks_only, "mark": change, "encoding": {"x": x}},
        {**marks_only, "mark": text, "encoding": {"x": x, "text": {"field": "mark"}}},
        *({**means_only, **layer} for layer in (rules, line, means)),
    ]


def _labels(runs: Sequence[str], points: Sequence[HistoryPoint]) -> list[list[str]]:
    """Return the lines of text below each run: its date, its time if needed, its releases."""
    days = [run[:10] for run in runs]
    found = []
    for run, day in zip(runs, days, strict=True):
        named = dict.fromkeys(p.release for p in points if p.finished == run and p.release)
        time = [run[11:16]] if days.count(day) > 1 else []
        found.append([day, *time, *([", ".join(named)] if named else [])])
    return found
