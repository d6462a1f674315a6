"""The charts of the report; a table in the report contains the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ragstone.components.metrics.parse import split_cutoff
from ragstone.core import limits
from ragstone.results.by_label import label_table, labels_of
from ragstone.results.charts import parts
from ragstone.results.charts.bars import PATTERNS, Look, bars_chart
from ragstone.results.charts.means import lines_chart, rows_chart
from ragstone.results.charts.parts import MOST_SERIES, ON_MIDDLE, ON_STRONG, Spec, mean_fields
from ragstone.results.charts.reliability import reliability_chart
from ragstone.results.charts.risk import risk_chart
from ragstone.results.confidence import confidence_rows
from ragstone.results.hops import hop_trials
from ragstone.results.leaderboards import PART_NAMES, Board, bar_parts, leaderboard, retrieval_board
from ragstone.results.reader import StoredResults
from ragstone.results.refusals import refusal_rows
from ragstone.results.same_rows import SameRows
from ragstone.results.weight_scan import ScanTable
from ragstone.statistics.weight_scan import LabelScan

_ON_PART: Final = {"acceptability": ON_STRONG, "misinterpretation": ON_STRONG, "noise": ON_MIDDLE}
"""Colour of the text on a part; on the other parts it is `--on-pale`."""


def answers_chart(results: StoredResults, same: SameRows | None = None) -> Spec | None:
    """Return the chart of the correctness metric: a row per system, a colour per setting.

    With `same`, answers that systems share are drawn for the first of them.
    """
    metric = results.record.answer_metric
    points = [
        {"row": row.system, "name": board.setting, **mean_fields(row.cells[metric])}
        for board in leaderboard(results)
        for row in board.rows
        if row.mean(metric) is not None
        and (same is None or same.is_first(row.system, board.setting))
    ]
    if not points:
        return None
    titles = {"row": "System", "name": "Setting"}
    what = f"Mean {metric} of each system under each setting"
    return rows_chart(points, titles, what, domain=parts.means_domain(points))


def retrieval_charts(results: StoredResults) -> list[tuple[str, Spec]]:
    """Return titles and charts of the ranking metrics.

    A metric with several cutoffs has its own chart of lines; the others share a chart of rows.
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
    points = [
        {"row": metric, **point}
        for metric in single
        for point in _points(board, metric, _drawn(board, single[0]))
    ]
    if points:
        titles = {"row": "Metric", "name": "System"}
        domain = parts.means_domain(points)
        chart = rows_chart(points, titles, "Ranking metrics", domain=domain)
        charts.append((", ".join(single), chart))
    return charts


def adaptability_chart(results: StoredResults) -> Spec | None:
    """Return one stacked bar per system and mixed setting; its segments sum to 1."""
    rows = {
        f"{row.system}  ·  {row.setting}": {
            PART_NAMES[key][0]: share.count for key, share in bar_parts(row.adaptability).items()
        }
        for row in results.adaptability
        if row.adaptability.n
    }
    if not rows:
        return None
    looks = {
        name: Look(f"var(--part-{key})", _ON_PART.get(key, "var(--on-pale)"), pattern)
        for (key, (name, _)), pattern in zip(PART_NAMES.items(), PATTERNS, strict=False)
        if any(name in counts for counts in rows.values())
    }
    return bars_chart("Adaptability to context", rows, looks)


def refusals_chart(results: StoredResults) -> Spec | None:
    """Return the curves of risk against coverage, one per system and setting."""
    return risk_chart(
        {
            f"{row.system} · {row.setting}": (
                row.found.curve(limits.RISK_POINTS),
                row.found.coverage.mean or 0.0,
            )
            for row in refusal_rows(results)
        }
    )


def budget_chart(results: StoredResults) -> Spec | None:
    """Return the share of right answers within a number of search calls, one line per trial."""
    trials = hop_trials(results)[:MOST_SERIES]
    ticks = sorted({row.calls for trial in trials for row in trial.found.by_calls})
    points = [
        {"name": f"{trial.system} · {trial.setting}", "calls": str(row.calls)}
        | {"place": ticks.index(row.calls), **mean_fields(row.within)}
        for trial in trials
        for row in trial.found.by_calls
    ]
    title = "search calls allowed"
    what = f"Share of right answers ({results.correctness}) by search calls allowed"
    domain = parts.means_domain(points)
    return lines_chart(points, "calls", ticks, what, title=title, domain=domain) if points else None


def confidence_chart(results: StoredResults) -> Spec | None:
    """Return the reliability diagrams of stated confidences, one series per trial."""
    return reliability_chart(
        {f"{row.system} · {row.setting}": row.found.bins for row in confidence_rows(results)}
    )


def confidence_risk_chart(results: StoredResults) -> Spec | None:
    """Return risk against coverage in the order of the stated confidences, a curve per trial."""
    return risk_chart(
        {
            f"{row.system} · {row.setting}": (row.selective.curve(limits.RISK_POINTS), 1.0)
            for row in confidence_rows(results)
        }
    )


def _cutoff_chart(board: Board, name: str, members: Sequence[tuple[int, str]]) -> Spec:
    """Return the means of one family of metrics by cutoff, one line per system."""
    points = [
        point | {"metric": metric, "place": place}
        for system in _drawn(board, members[-1][1])
        for place, (_, metric) in enumerate(members)
        for point in _points(board, metric, [system])
    ]
    ticks, domain = [k for k, _ in members], parts.means_domain(points)
    return lines_chart(points, "metric", ticks, f"{name} by cutoff", title="k", domain=domain)


def turns_chart(results: StoredResults) -> Spec | None:
    """Return the chart of the correctness metric by turn, one line per system and setting."""
    metric = results.record.answer_metric
    measured = any(metric in trial.scores for trial in results.trials)
    if not measured or "turn" not in labels_of(results):
        return None
    table = label_table(results, "turn", metric)
    points = [
        {"name": " · ".join(column), "turn": turn, "place": place, **mean_fields(cells[column])}
        for column in table.columns[:MOST_SERIES]
        for place, (turn, cells) in enumerate(table.rows)
        if column in cells and cells[column].mean is not None
    ]
    turns = [int(turn) for turn, _ in table.rows if turn.isdigit()]
    what = f"Mean {metric} by turn of the conversation"
    return lines_chart(points, "turn", turns, what, domain=parts.means_domain(points))


def _drawn(board: Board, metric: str) -> list[str]:
    """Return the systems with the highest means, at most `MOST_SERIES`, in the board's order."""
    means = {row.system: -1.0 if (m := row.mean(metric)) is None else m for row in board.rows}
    best = sorted(means, key=means.__getitem__, reverse=True)[:MOST_SERIES]
    return [system for system in means if system in best]


def _points(board: Board, metric: str, systems: Sequence[str]) -> list[Spec]:
    return [
        {"name": row.system, **mean_fields(row.cells[metric])}
        for row in board.rows
        if row.system in systems and row.mean(metric) is not None
    ]


def scan_chart(table: ScanTable) -> Spec:
    """Return the curves of a scan: all queries first, then the values with the most queries."""
    rows = scanned_rows(table)
    points = [
        {"name": row.label, "weight": f"{weight:g}", "place": place, **mean_fields(mean)}
        | {"best": weight == row.best and not row.all_equal}
        for row in rows
        for place, (weight, mean) in enumerate(zip(table.weights, row.curve, strict=True))
    ]
    best = [f"{row.label} {'all equal' if row.all_equal else f'{row.best:g}'}" for row in rows]
    spec = lines_chart(
        points,
        "weight",
        table.weights,
        f"{table.metric} by text weight (best: {', '.join(best)})",
        title="text weight",
        named=table.label.replace("_", " ").capitalize() or "Queries",
        domain=parts.means_domain(points),
    )
    encoding = spec["layer"][-1]["encoding"]
    ring = {
        "transform": [{"filter": "datum.best"}],
        "mark": {"type": "point", "filled": False, "size": 260, "strokeWidth": 2, "opacity": 1}
        | {"aria": False},
        "encoding": {channel: encoding[channel] for channel in ("x", "y", "color")},
    }
    return spec | {"layer": [*spec["layer"], ring]}


def scanned_rows(table: ScanTable) -> list[LabelScan]:
    """Return the rows that the chart contains, in the table's order."""
    every, *rows = table.rows
    most = sorted(rows, key=lambda row: -row.curve[0].n)[: MOST_SERIES - 1]
    return [every, *(row for row in rows if row in most)]
