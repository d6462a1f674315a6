"""The page of a metric broken down by a label of the queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ragstone.results.by_label import EQUALLY, LabelTable, label_table, labels_of
from ragstone.results.results import Results
from ragstone.statistics.summary import Summary
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
    list_page,
    mean_value,
    paged,
    plot_axis,
)
from ragstone.web.errors import StateText
from ragstone.web.numbers import interval, share
from ragstone.web.page_query import PageQuery, page_address

_Cell = tuple[str, str, str, Summary]
"""Value of the label, system, setting and mean."""


def labels_page(view: StoreView, query: PageQuery) -> ListPage:
    """Return a metric of an experiment by the values of a label."""
    experiment = chosen_experiment(view, query, _any)
    filters = [experiment_filter(view, experiment, _any)]
    if not experiment:
        state = StateText("No experiment of this store has finished.", command="ragstone run demo")
        return ListPage("No labels yet", filters=filters, state=state)
    results = view.results(experiment)
    labels = labels_of(results)
    if not labels:
        then = "A label divides the queries into 2 groups or more, such as their type or language."
        state = StateText(f"No label of {experiment} divides its queries.", then)
        return ListPage(f"No labels in {experiment}", filters=filters, state=state)
    system, setting = system_and_setting(results, query)
    label = query.choice("label", labels, labels[0])
    rows = [*results.trials, *results.rankings]
    metrics = list(dict.fromkeys(name for one in rows for name in one.scores))
    usual = results.record.answer_metric
    metric = query.choice("metric", metrics, usual if usual in metrics else metrics[0])
    found = label_table(results, label, metric)
    cells = [
        (value, *place, summary)
        for value, means in found.rows
        for place, summary in means.items()
        if system in ("", place[0]) and setting in ("", place[1])
    ]
    filters += [
        ViewFilter("label", "Label", label, labels, required=True),
        ViewFilter("metric", "Metric", metric, metrics, required=True),
        *trial_filters(results, system, setting),
    ]
    return ListPage(
        _verdict(results, found, cells),
        _basis(experiment, found, cells),
        _follows(experiment, found, cells),
        filters,
        (_table(query, experiment, found, cells),),
        more={"experiment": experiment},
    )


def _any(one: ListedExperiment) -> bool:
    return bool(one.metrics)


def _known(cells: Sequence[_Cell]) -> list[tuple[float, _Cell]]:
    """Return the means of single values of the label."""
    return [(one[3].mean, one) for one in cells if one[3].mean is not None and one[0] != EQUALLY]


def _lowest(cells: Sequence[_Cell]) -> _Cell | None:
    return min(_known(cells), key=lambda one: one[0], default=(0.0, None))[1]


def _verdict(results: Results, found: LabelTable, cells: Sequence[_Cell]) -> str:
    low = _lowest(cells)
    if low is None:
        return f"No value of {found.label} has a mean of {found.metric}."
    same = [one for mean, one in _known(cells) if one[1:3] == low[1:3]]
    high = max(same, key=lambda one: one[3].mean or 0.0)
    word = "largest" if results.record.metric(found.metric).direction == "lower" else "highest"
    where = low[1] + (f" under {low[2]}" if low[2] else "")
    return (
        f"{where}: {found.metric} is lowest for {low[0]}, {share(low[3].mean)} "
        f"{interval(low[3].interval)}, and {word} for {high[0]}, {share(high[3].mean)} "
        f"{interval(high[3].interval)}."
    )


def _basis(experiment: str, found: LabelTable, cells: Sequence[_Cell]) -> str:
    values = len({one[0] for one in cells})
    failed = sum(one[3].failed for one in cells)
    return (
        f"{found.metric} of {experiment} by {found.label}: {values:,} values, {failed:,} failed. "
        "Intervals are 95 % of single means. No test compares the values with each other."
    )


def _follows(experiment: str, found: LabelTable, cells: Sequence[_Cell]) -> list[Consequence]:
    low = _lowest(cells)
    if low is None or not low[2]:
        return []
    where = {"experiment": experiment, "system": low[1], "setting": low[2]}
    link = page_address("/causes", {**where, "label": f"{found.label}:{low[0]}"})
    return [
        Consequence("Wrong answers", f"The lowest mean is that of {low[0]}.", link, "Show causes")
    ]


def _table(
    query: PageQuery, experiment: str, found: LabelTable, cells: Sequence[_Cell]
) -> ViewTable:
    def row(one: _Cell) -> Mapping[str, Any]:
        value, system, setting, summary = one
        where = {"experiment": experiment, "system": system, "setting": setting}
        link = page_address("/causes", {**where, "label": f"{found.label}:{value}"})
        return {
            "value": value,
            "system": system,
            "setting": setting or "retrieval",
            "mean": mean_value(summary),
            "not_applicable": summary.not_applicable,
            "links": {"value": link if setting and value != EQUALLY else ""},
        }

    columns = [
        ViewColumn("value", found.label, "name"),
        ViewColumn("system", "System", "label"),
        ViewColumn("setting", "Setting", "label"),
        ViewColumn("mean", f"{found.metric}, mean and 95 % interval", "mean"),
    ]
    total = sum(len(means) for _, means in found.rows)
    axis = plot_axis(mean_value(one[3]) for one in cells)
    title = f"{found.metric} by {found.label}"
    return ViewTable(
        *("labels", title, columns),
        unit="means",
        total=total,
        axis=axis,
        **paged(query, cells, row),
    )


LABELS: Final = list_page("/labels", "Labels", labels_page, tab="Labels")
