"""The page of judges: their verdicts on each trial, their failures and their agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, Final

from ragstone.results.board.table import BoardRequest, make_board
from ragstone.results.joined import JoinedResults
from ragstone.results.judge_notes import MARK, judge_facts, judge_remarks, marked, metric_notes
from ragstone.results.results import Results
from ragstone.results.scored_rows import Cell
from ragstone.results.wording import plain_reason
from ragstone.view.chosen import (
    chosen_experiment,
    experiment_filter,
    system_and_setting,
    trial_filters,
)
from ragstone.view.store_view import ListedExperiment, StoreView
from ragstone.view.tables import (
    Consequence,
    ListPage,
    ViewColumn,
    ViewFilter,
    ViewTable,
    counted,
    list_page,
    mean_value,
    paged,
    plot_axis,
)
from ragstone.web.errors import StateText
from ragstone.web.page_query import PageQuery, page_address

_CHECK: Final = "ragstone judge check JUDGE --data SET"
_PEOPLE: Final = (
    "A store keeps no ratings of people. How far a judge agrees with people is measured on answers "
    "that people have graded."
)


def judges_page(view: StoreView, query: PageQuery) -> ListPage:
    """Return the verdicts of the judges of an experiment."""
    experiment = chosen_experiment(view, query, _has_judges)
    filters = [experiment_filter(view, experiment, _has_judges)]
    results = view.results(experiment) if experiment else None
    names = _judges(results) if results else []
    if not results or not names:
        then = f"{_PEOPLE} Add `judges:` to an experiment file to have answers judged."
        what = f"{experiment} has no judge." if experiment else "No experiment has a judge."
        state = StateText(what, then, _CHECK)
        return ListPage("No verdicts of judges", filters=filters, state=state)
    system, setting = system_and_setting(results, query)
    judge = query.choice("judge", names)
    cells = [
        cell
        for cell in results.answer_cells
        if cell.metric in names
        and judge in ("", cell.metric)
        and system in ("", cell.system)
        and setting in ("", cell.setting)
    ]
    filters += [
        ViewFilter("judge", "Judge", judge, names),
        *trial_filters(results, system, setting),
    ]
    total = sum(cell.metric in names for cell in results.answer_cells)
    digest = view.experiment(experiment).digest
    agreement = view.kept(("agreement", experiment), digest, lambda: _correlations(results, names))
    known = _known(results)
    means = _means(query, results, cells, total)
    tables = (known, _agreement(agreement), _reasons(results), means)
    return ListPage(
        _verdict(results, names),
        _basis(results),
        tuple(_follows(view, experiment)),
        filters,
        [one for one in tables if one.rows or one.total],
        (*judge_remarks(results), f"{_PEOPLE} Run: {_CHECK}"),
        more={"experiment": experiment},
    )


def _has_judges(one: ListedExperiment) -> bool:
    return any(kind == "judge" for _, kind in one.metrics)


def _judges(results: Results) -> list[str]:
    """Return the metrics that judges give."""
    return [one.name for one in results.record.metrics if one.kind == "judge"]


def _steps(results: Results) -> list[Mapping[str, Any]]:
    return [one for one in results.manifests.values() if one["step"] == "judge"]


def _verdict(results: Results, names: Sequence[str]) -> str:
    steps = _steps(results)
    failed, rows = sum(one["failed"] for one in steps), sum(one["rows"] for one in steps)
    of = f"{failed:,} of {counted(rows, 'verdict')} failed" if rows else "no verdict is kept"
    return f"{counted(len(names), 'judge metric')}: {of}."


def _basis(results: Results) -> str:
    made = dict.fromkeys(
        one["made_by"]["component"].rpartition("/")[2] for one in _steps(results) if one["made_by"]
    )
    return (
        f"Judges of {results.name}: {', '.join(made) or 'not named'}. A failed verdict is not in a "
        "mean (unscored), a failed answer counts as the experiment says. Intervals are 95 %."
    )


def _follows(view: StoreView, experiment: str) -> Iterator[Consequence]:
    others = [one for one in view.experiments() if _has_judges(one) and one.name != experiment]
    if others:
        link = page_address("/judges", {"experiment": others[0].name})
        said = f"{counted(len(others), 'other experiment')} of this store had answers judged."
        yield Consequence("Other experiments", said, link, f"Judges of {others[0].name}")
    link = page_address("/labels", {"experiment": experiment})
    yield Consequence("Labels", "A judge may be strict with some queries.", link, "By label")


def _correlations(results: Results, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return the correlations of judges with each other and with the rule of correct answers."""
    measured = [*names, *filter(None, [results.record.correctness_metric])]
    rows: list[dict[str, Any]] = []
    joined = JoinedResults.of([results])
    for a, b in combinations(dict.fromkeys(measured), 2):
        if len(rows) >= _ROWS or not results.trials:
            break
        written = f"correlation({a}, {b})"
        request = BoardRequest(("system",), ("setting",), (written,))
        rows += [
            {
                "pair": f"{a} and {b}",
                "system": cell.row[0],
                "setting": cell.column[0],
                "agreement": {**mean_value(cell.summary), "failed": 0},
                # The summary of a correlation counts queries without both values as failed.
                "left_out": cell.summary.failed,
            }
            for cell in make_board(joined, request).cells.values()
            if cell.summary.mean is not None
        ]
    return rows[:_ROWS]


def _agreement(rows: Sequence[Mapping[str, Any]]) -> ViewTable:
    columns = [
        ViewColumn("pair", "Values per query", "name"),
        ViewColumn("system", "System", "label"),
        ViewColumn("setting", "Setting", "label"),
        ViewColumn("left_out", "Left out", "count"),
        ViewColumn("agreement", "Spearman's correlation", "proportion"),
    ]
    axis = plot_axis((row["agreement"] for row in rows), guide=0.0)
    lead = (
        "Correlation over the queries that have both values. It says nothing of whether a judge is "
        "right." + (f" The first {_ROWS} are shown." if len(rows) == _ROWS else "")
    )
    title = "Agreement of judges and metrics"
    return ViewTable("agreement", title, columns, rows, lead, axis=axis)


_ROWS: Final = 24
"""Rows of the table of agreement: those of some trials are enough, and each takes a bootstrap."""


def _known(results: Results) -> ViewTable:
    """Return each judge's shared parts with systems, and the findings of its probes."""
    rows = [
        {
            "judge": f"{one.judge}{MARK}" if one.note else one.judge,
            "shared": "; ".join(f"{s.what}: {s.system} ({s.detail})" for s in one.shared),
            "probed": one.probed or "never probed",
        }
        for one in judge_facts(results)
    ]
    columns = [
        ViewColumn("judge", "Judge", "label"),
        ViewColumn("shared", "Shares with systems"),
        ViewColumn("probed", "Probes"),
    ]
    return ViewTable("known", "Independence and probes", columns, rows)


def _reasons(results: Results) -> ViewTable:
    found: Counter[tuple[str, str]] = Counter()
    for folder, one in results.manifests.items():
        reasons = one.get("reasons", {}) if one["step"] == "judge" else {}
        for reason, count in reasons.items():
            found[results.part_name(folder), plain_reason(reason)] += count
    rows = [
        {"reason": reason, "judge": judge, "count": count}
        for (judge, reason), count in found.most_common()
    ]
    columns = [
        ViewColumn("reason", "Reason", "title"),
        ViewColumn("judge", "Judge", "label"),
        ViewColumn("count", "Verdicts", "count"),
    ]
    return ViewTable("reasons", "Failed verdicts by reason", columns, rows[:_ROWS])


def _means(query: PageQuery, results: Results, cells: Sequence[Cell], total: int) -> ViewTable:
    notes = metric_notes(results)

    def row(cell: Cell) -> Mapping[str, Any]:
        where = {"experiment": results.name, "system": cell.system, "setting": cell.setting}
        return {
            "system": cell.system,
            "setting": cell.setting,
            "judge": marked(cell.metric, notes),
            "mean": mean_value(cell.summary),
            "links": {"system": page_address("/labels", {**where, "metric": cell.metric})},
        }

    columns = [
        ViewColumn("system", "System", "name"),
        ViewColumn("setting", "Setting", "label"),
        ViewColumn("judge", "Judge", "label"),
        ViewColumn("mean", "Mean and 95 % interval", "mean"),
    ]
    axis = plot_axis(mean_value(cell.summary) for cell in cells)
    return ViewTable(
        *("means", "What judges say of each trial", columns),
        unit="means",
        total=total,
        axis=axis,
        **paged(query, cells, row),
    )


JUDGES: Final = list_page("/judges", "Judges", judges_page, tab="Judges")
