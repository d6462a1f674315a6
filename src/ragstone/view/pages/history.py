"""The page of an experiment's finished runs: a metric run by run, and the changes between them."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.store_contents import documents
from ragstone.errors import RagstoneError
from ragstone.results.earlier import finished_records
from ragstone.results.history import History, HistoryLine, HistoryPoint, make_history
from ragstone.results.record import EARLIER
from ragstone.results.results import Results
from ragstone.view.chosen import experiment_filter
from ragstone.view.store_view import ListedExperiment, StoreView
from ragstone.view.tables import (
    ListPage,
    ViewColumn,
    ViewFilter,
    ViewTable,
    counted,
    drawn_mean,
    list_page,
    paged,
    plot_axis,
)
from ragstone.web.errors import StateText
from ragstone.web.numbers import moment, signed
from ragstone.web.page_query import PageQuery, page_address

_LOG: Final = logging.getLogger(__name__)


def history_page(view: StoreView, query: PageQuery) -> ListPage:
    """Return the runs of one experiment, or the experiments by their number of runs."""
    earlier = Counter(path.stem.rpartition("@")[0] for path in documents(view.root, EARLIER))
    if not (name := query.text("experiment")):
        return _experiments(view, query, earlier)
    experiment = view.experiment(name).name
    filters = [experiment_filter(view, experiment)]
    records = finished_records(view.store, experiment)
    if not records:
        state = StateText(f"No run of {experiment} has finished.")
        return ListPage("No history yet", filters=filters, state=state)
    dates = tuple(record.finished for record in records[-limits.HISTORY_RUNS :])
    # A passport needs all numbers of its run, so those of the last experiment are kept.
    made_of = (experiment, dates)
    passports = view.kept("passports", made_of, lambda: list(_passports(view, records)))
    last = passports[-1]
    metric = query.choice("metric", last["metrics"])
    rows = [*last["numbers"].get("leaderboard", ()), *last["numbers"].get("retrieval", ())]
    systems, settings = ({row[key] for row in rows} for key in ("system", "setting"))
    system = query.choice("system", sorted(systems))
    setting = query.choice("setting", sorted(settings - {""}))
    found = make_history(
        passports, metric=metric or None, system=system or None, setting=setting or None
    )
    filters += [
        ViewFilter("metric", "Metric", found.metric, list(last["metrics"]), required=True),
        ViewFilter("system", "System", system, sorted(systems)),
        ViewFilter("setting", "Setting", setting, sorted(settings - {""})),
    ]
    return ListPage(
        _verdict(found),
        _basis(found, len(passports), len(records)),
        filters=filters,
        tables=(_points(query, found),),
        more={"history": found.to_dict()},
    )


def _experiments(view: StoreView, query: PageQuery, earlier: Counter[str]) -> ListPage:
    every = [one for one in view.experiments() if one.is_readable]
    words = query.text("q").lower().split()
    matching = [one for one in every if all(word in one.name.lower() for word in words)]
    matching.sort(key=lambda one: -earlier[one.name])

    def row(one: ListedExperiment) -> dict[str, Any]:
        return {
            "name": one.name,
            "runs": earlier[one.name] + 1,
            "data": one.data,
            "finished": one.finished,
            "links": {"name": page_address("/history", {"experiment": one.name})},
        }

    columns = [
        ViewColumn("name", "Experiment", "name"),
        ViewColumn("runs", "Finished runs", "count"),
        ViewColumn("data", "Data set", "label"),
        ViewColumn("finished", "Last finished", "moment"),
    ]
    several = sum(earlier[one.name] > 0 for one in every)
    many = "experiment has" if several == 1 else "experiments have"
    table = ViewTable(
        *("experiments", "Experiments", columns),
        unit="experiments",
        total=len(every),
        **paged(query, matching, row),
    )
    basis = "A record that a new run replaces is kept, with the steps behind its numbers."
    filters = [ViewFilter("q", "Part of a name", query.text("q"))]
    return ListPage(f"{several:,} {many} several runs", basis, filters=filters, tables=(table,))


def _passports(view: StoreView, records: list[Any]) -> Iterator[dict[str, Any]]:
    for record in records[-limits.HISTORY_RUNS :]:
        try:
            yield Results(view.store, record).passport()
        except (RagstoneError, OSError) as error:
            _LOG.warning("note: the run of %s is left out: %s", record.finished, error)


def _verdict(found: History) -> str:
    line = next((one for one in found.lines if len(one.known) > 1), None)
    if line is None:
        return f"{found.name}: one finished run, so there is no change to see"
    first = next(one for one in line.known if one.segment == line.known[-1].segment)
    last = line.known[-1]
    if first is last:
        return f"{line.label}: the last run is not comparable with those before it."
    change = signed((last.mean or 0.0) - (first.mean or 0.0))
    return (
        f"{line.label}: {found.metric} changed by {change} between "
        f"{moment(first.finished)} and {moment(last.finished)}."
    )


def _basis(found: History, shown: int, runs: int) -> str:
    left = "" if shown == runs else f" The last {shown:,} of {runs:,} are shown."
    return (
        f"{found.metric} of {found.name}, {counted(runs, 'finished run')}.{left} Intervals are "
        "95 %. Values before and after a change of the data, the judge or the code are not "
        "comparable. No test compares the runs."
    )


def _points(query: PageQuery, found: History) -> ViewTable:
    points = [(line, point) for line in found.lines for point in reversed(line.points)]

    def row(one: tuple[HistoryLine, HistoryPoint]) -> dict[str, Any]:
        line, point = one
        kinds = dict.fromkeys(change.category for change in point.changes)
        changed = [f"{mark} (not comparable)" for mark in point.marks]
        changed += [kind for kind in kinds if kind not in point.marks]
        first = point is line.points[-1]
        return {
            "finished": point.finished,
            "group": line.label if first else "",
            "system": line.system,
            "setting": line.setting,
            "segment": point.segment,
            "release": point.release or "",
            "mean": drawn_mean(point.mean, point.interval, point.n, point.failed),
            "changed": "the first run"
            if point is line.points[0]
            else ", ".join(changed) or "nothing",
            "changes": [str(change) for change in point.changes],
            "notes": {"changed": "; ".join(str(change) for change in point.changes)},
        }

    columns = [
        ViewColumn("finished", "Finished", "moment"),
        ViewColumn("release", "Release", "label"),
        ViewColumn("mean", f"{found.metric}, mean and 95 % interval", "mean"),
        ViewColumn("changed", "Changed since the run before"),
    ]
    rows = [row(one) for one in points]
    axis = plot_axis(one["mean"] for one in rows)
    return ViewTable(
        *("runs", "Runs, the last one first", columns),
        unit="runs",
        total=len(points),
        axis=axis,
        **paged(query, points, row),
    )


HISTORY: Final = list_page("/history", "History", history_page, tab="History")
