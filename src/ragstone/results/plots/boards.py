"""Plots of means over systems, settings, data sets and labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from ragstone.errors import ConfigError
from ragstone.results.charts import parts
from ragstone.results.charts.heat_map import heat_map
from ragstone.results.charts.means import rows_chart
from ragstone.results.charts.parts import MOST_SERIES, Spec
from ragstone.results.charts.scatter import scatter_chart
from ragstone.results.plots.request import (
    JOIN,
    PlotRequest,
    cell_fields,
    first_series,
    points_of,
)
from ragstone.results.wording import ABSENT

Charts = Iterator[tuple[str, Spec]]
"""Title and chart."""
MTRAG_DIMENSIONS: Final = ("answerability", "first_turn", "domain")
_BOTH: Final = ("data", "system")


def leaderboard(request: PlotRequest) -> Charts:
    """Yield the means of every system, one row per data set and system."""
    for metric in request.metrics or (request.joined.headline,):
        points = first_series(points_of(request.board(metric, (), ("setting",))), request)
        yield from _rows(metric, points, {"row": "System", "name": "Setting"}, metric)


def gain_by_dataset(request: PlotRequest) -> Charts:
    """Yield the gain from retrieval over answers without context, per data set."""
    request.require_setting("none")
    metric = f"gain({request.answer_metric()}, none)"
    where = {"setting": request.settings(mixed=True)}
    points = points_of(request.board(metric, ("data",), ("system", "setting"), where))
    title = f"Gain of {request.answer_metric()} over no context"
    titles = {"row": "Data set", "name": "System and setting"}
    yield from _rows(title, first_series(points, request), titles, "g")


def by_label(request: PlotRequest, labels: Sequence[str], metrics: Sequence[str]) -> Charts:
    """Yield the means by the values of labels, one chart per metric and label."""
    wanted = request.labels or labels
    known = [label for label in wanted if label in request.joined.labels]
    if not known:
        raise request.missing(
            f"no query has the label {' or '.join(wanted)}",
            f"choose another one with --label; known: {', '.join(request.joined.labels) or 'none'}",
        )
    where = {"setting": request.settings(mixed=False)}
    for metric in metrics:
        for number, label in enumerate(known):
            table = request.board(metric, (label,), ("system",), where)
            points = first_series(points_of(table), request)
            titles = {"row": label.replace("_", " ").capitalize(), "name": "System"}
            yield from _rows(f"{metric} by {titles['row'].lower()}", points, titles, f"l{number}")


def one_metric_by_labels(request: PlotRequest) -> Charts:
    """Yield one metric by answerability, turn and domain (mtRAG's Figure 3)."""
    return by_label(request, MTRAG_DIMENSIONS, [request.answer_metric()])


def metrics_by_question_type(request: PlotRequest) -> Charts:
    """Yield the answer metrics by type of question (mtRAG's Figure 9)."""
    return by_label(request, ["question_type"], _all_metrics(request))


def metrics_by_multi_turn(request: PlotRequest) -> Charts:
    """Yield the answer metrics by multi-turn type (mtRAG's Figure 10)."""
    return by_label(request, ["multi_turn"], _all_metrics(request))


def critiques_by_label(request: PlotRequest) -> Charts:
    """Yield mean critique ratings by label, one row per data set (Know Your RAG's Figure 3)."""
    ratings = request.metrics or [m for m in request.joined.metrics if m.startswith("critique")]
    if not ratings:
        raise request.missing(
            "no result has a metric of the judge critiques",
            "add critiques to `metrics:`; sets that `ragstone data generate` wrote: ragstone data "
            "compare-generated FOLDER... --chart x.svg",
        )
    labels = request.labels or ("taxonomy",)
    for metric in ratings:
        table = request.board(metric, labels[:1], ("data", "system"))
        titles = {"row": "Label", "name": "Data set"}
        yield from _rows(metric, first_series(points_of(table), request), titles, metric)


def metric_vs_judge(request: PlotRequest) -> Charts:
    """Yield the correlation of each metric with a judge, per data set (BERGEN's Figure 2)."""
    entries = request.answer_metrics()
    judges = [entry.name for entry in entries if entry.kind == "judge"]
    against = request.metrics[0] if request.metrics else next(iter(judges), "")
    if not against:
        raise request.missing("no result has a judge", "add one to `metrics:`, such as equivalence")
    others = [e.name for e in entries if e.name != against and e.kind in {"answer", "judge"}]
    cells: list[Spec] = []
    for metric in others:
        measure = f"correlation({metric}, {against}, kind=kendall)"
        try:
            table = request.board(measure, ("data",), ("system", "setting"))
        except ConfigError:  # no trial has both
            continue
        for cell in table.cells.values():
            summary = cell.summary
            note = "" if summary.interval is None else _between(summary.interval)
            shown = ABSENT if summary.mean is None else f"{summary.mean:z.2f}"
            column = JOIN.join((*cell.row, *(cell.column if _several(table.columns) else ())))
            place = {"row": f"{metric} with {against}", "column": column}
            numbers = {"low": summary.interval and summary.interval[0], "n": summary.n}
            numbers |= {"high": summary.interval and summary.interval[1], "failed": summary.failed}
            cells.append({**place, "value": summary.mean, "shown": shown, "note": note, **numbers})
    if not cells:
        raise request.missing(
            f"no trial has another metric beside {against}",
            "add an answer metric to `metrics:`, such as Match",
        )
    if len({cell["column"] for cell in cells}) > MOST_SERIES:
        # Cells of more columns are too narrow for their numbers.
        turned = ({"row": cell["column"], "column": cell["row"]} for cell in cells)
        cells = [cell | names for cell, names in zip(cells, turned, strict=True)]
    what = f"Kendall's tau of metrics with {against}, with 95 % intervals"
    yield f"Kendall's tau with {against}", heat_map(what, cells, low=0, high=1)


def retrieval_vs_answer(request: PlotRequest) -> Charts:
    """Yield the quality of answers against that of retrieval, per data set (BERGEN's Figure 4)."""
    for data in _values(request, "data"):
        yield from _against_retrieval(request, {"data": [data]}, data)


def retrieval_vs_answer_by_generator(request: PlotRequest) -> Charts:
    """Yield the same per data set and generator (BERGEN's Figure 7)."""
    for data in _values(request, "data"):
        for name in _values(request, "generator"):
            where = {"data": [data], "generator": [name]}
            yield from _against_retrieval(request, where, f"{data}: {name}")


def _against_retrieval(request: PlotRequest, where: dict[str, list[str]], title: str) -> Charts:
    ranking, answer = request.ranking_metric(), request.answer_metric()
    mixed = request.settings(mixed=True)
    try:
        ranked = request.board(ranking, _BOTH, ("setting",), where)
        answered = request.board(answer, _BOTH, ("setting",), {**where, "setting": mixed})
    except ConfigError:
        return
    found = {row: cell for (row, _), cell in ranked.cells.items() if cell.summary.mean is not None}
    points = []
    for (row, column), cell in answered.cells.items():
        if row in found and cell.summary.mean is not None:
            own = found[row].summary
            low, high = own.interval or (own.mean, own.mean)
            across = {"x": own.mean, "x_low": low, "x_high": high, "x_n": own.n}
            point = {"label": row[1], "name": JOIN.join(column), **across, **cell_fields(cell)}
            points.append(point)
    if not points:
        return
    lines = _reference_lines(request, answer, where)
    titles = {"label": "System", "name": "Setting"}
    yield (
        title,
        scatter_chart(
            points,
            f"{answer} against {ranking}: {title}",
            x_title=ranking,
            y_title=answer,
            titles=titles,
            references=lines,
        ),
    )


def _reference_lines(request: PlotRequest, answer: str, where: dict[str, list[str]]) -> list[Spec]:
    """Return the means without context and with gold context, one per generator."""
    ends = [
        n for n in request.joined.axes.get("setting", ()) if n == "none" or n in _golds(request)
    ]
    if not ends:
        return []
    try:
        table = request.board(answer, ("generator",), ("setting",), {**where, "setting": ends})
    except ConfigError:
        return []
    several = len(table.rows) > 1
    return [
        {"label": JOIN.join([*column, *(row if several else ())]), **cell_fields(cell)}
        for (row, column), cell in table.cells.items()
        if cell.summary.mean is not None
    ]


def _golds(request: PlotRequest) -> list[str]:
    return [one.record.oracle for one in request.joined.experiments if one.record.oracle]


def _values(request: PlotRequest, axis: str) -> list[str]:
    known = request.chosen.axes.get(axis, [])
    return [value for value in known if value != "-"]


def _all_metrics(request: PlotRequest) -> list[str]:
    return list(request.metrics) or [entry.name for entry in request.answer_metrics()]


def _rows(title: str, points: Sequence[Spec], titles: dict[str, str], prefix: str) -> Charts:
    if points:
        domain = parts.means_domain(points)
        key = "".join(c for c in prefix if c.isalnum())
        yield title, rows_chart(points, titles, title, domain=domain, prefix=f"{key}-")


def _several(keys: Sequence[object]) -> bool:
    return len(keys) > 1


def _between(interval: tuple[float, float]) -> str:
    return f"[{interval[0]:z.2f}, {interval[1]:z.2f}]"
