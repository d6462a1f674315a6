"""Plots with a chart per experiment: adaptability, risk, text weight, history."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from ragstone.core import limits
from ragstone.errors import RagstoneError
from ragstone.results.charts.charts import (
    adaptability_chart,
    confidence_risk_chart,
    refusals_chart,
    scan_chart,
)
from ragstone.results.charts.parts import Spec
from ragstone.results.charts.trend import trend_chart
from ragstone.results.earlier import finished_records
from ragstone.results.history import make_history
from ragstone.results.passport import make_passport
from ragstone.results.plots.request import PlotRequest
from ragstone.results.reader import StoredResults
from ragstone.results.weight_scan import scan_tables

Charts = Iterator[tuple[str, Spec]]
_LOG: Final = logging.getLogger(__name__)


def adaptability(request: PlotRequest) -> Charts:
    """Yield MIRAGE's four shares per system and mixed setting."""
    yield from _each(
        request,
        adaptability_chart,
        "no experiment has answers under none, under gold context and under a mixed setting",
        "add none, gold and retrieved(5) to `settings:`, and a metric of correct answers "
        "(`correctness_metric:`) with values 0 and 1",
    )


def risk_coverage(request: PlotRequest) -> Charts:
    """Yield risk against coverage: of refusals, and in the order of stated confidences."""
    found = list(_drawn(request, refusals_chart, "refusals: "))
    found += _drawn(request, confidence_risk_chart, "stated confidence: ")
    if not found:
        raise request.missing(
            "no answer has a detected refusal or a stated confidence",
            "add idk or refusal to `metrics:`, or let the system return a confidence",
        )
    yield from found


def text_weight(request: PlotRequest) -> Charts:
    """Yield the curves of fused retrievers over their text weight."""
    label = request.labels[0] if request.labels else None
    metric = request.metrics[0] if request.metrics else None
    found = [
        (f"{name}: {table.sweep.name}, {table.label or 'all queries'}", scan_chart(table))
        for name, results in request.experiments()
        for table in scan_tables(results, label, metric)
    ]
    if not found:
        raise request.missing(
            "no systems of an experiment differ only in text_weight",
            "sweep it: retriever: {name: fusion, retrievers: [bm25, dense], text_weight: [0, 0.05, "
            "0.1, 0.2, 0.5, 1]}",
        )
    yield from found


def history(request: PlotRequest) -> Charts:
    """Yield a metric over the finished runs of each experiment."""
    metric = request.metrics[0] if request.metrics else None
    chosen = {name: next(iter(request.where.get(name, ())), None) for name in ("system", "setting")}
    for name, results in request.experiments():
        records = finished_records(results.store, name)[-limits.HISTORY_RUNS :]
        passports = []
        for record in records:
            try:
                passports.append(make_passport(StoredResults(results.store, record)))
            except (RagstoneError, OSError) as error:
                _LOG.warning("note: the run of %s is left out: %s", record.finished, error)
        if passports:
            found = make_history(passports, metric=metric, **chosen)
            yield f"{found.metric} of {name}", trend_chart(found)


def _each(
    request: PlotRequest, make: Callable[[StoredResults], Spec | None], what: str, way_out: str
) -> Sequence[tuple[str, Spec]]:
    found = list(_drawn(request, make))
    if not found:
        raise request.missing(what, way_out)
    return found


def _drawn(
    request: PlotRequest, make: Callable[[StoredResults], Spec | None], before: str = ""
) -> Charts:
    for name, results in request.experiments():
        chart = make(results)
        if chart is not None:
            yield f"{before}{name}", chart
