"""The page of model calls: the call log by model, and the calls of one experiment by trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.calls import log_queries
from ragstone.calls.log_queries import FailedCalls, ModelCalls
from ragstone.evaluation.usage import UsageRow
from ragstone.results.usage import calls_lines, usage_rows
from ragstone.view.chosen import experiment_filter
from ragstone.view.store_view import StoreView
from ragstone.view.tables import (
    Consequence,
    ListPage,
    ViewColumn,
    ViewFilter,
    ViewTable,
    counted,
    list_page,
    paged,
)
from ragstone.web.errors import StateText
from ragstone.web.numbers import duration
from ragstone.web.page_query import PageQuery, page_address

_LOG: Final = "calls.sqlite"
"""The call log of a store."""


def calls_page(view: StoreView, query: PageQuery) -> ListPage:
    """Return the calls to each model, or those of an experiment."""
    if name := query.text("experiment"):
        return _experiment(view, query, view.experiment(name).name)
    path = view.root / _LOG
    filters = [experiment_filter(view, "")]
    if not path.is_file():
        then = "Components that ask a model through a server or a library write it."
        state = StateText("This store has no call log.", then)
        return ListPage("No call was kept", filters=filters, state=state)
    seen = path.stat()
    state_of = (seen.st_mtime_ns, log_queries.size(path))
    models, seconds, failed = view.kept("calls", state_of, lambda: _read(path))
    chosen = query.choice("model", dict.fromkeys(one.model for one in models))
    filters.append(
        ViewFilter("model", "Model", chosen, list(dict.fromkeys(one.model for one in models)))
    )
    shown = [one for one in models if chosen in ("", one.model)]
    reasons = [one for one in failed if chosen in ("", one.model)]
    return ListPage(
        _verdict(models),
        _basis(models, path),
        _follows(models, seconds),
        filters,
        (_models(shown, seconds), _reasons(query, reasons, len(failed))),
    )


_Read = tuple[list[ModelCalls], dict[str, tuple[float, float]], list[FailedCalls]]


def _read(path: Path) -> _Read:
    return log_queries.summary(path), log_queries.latencies(path), log_queries.failures(path)


def _verdict(models: Sequence[ModelCalls]) -> str:
    failed = sum(one.failures for one in models)
    every = failed + sum(one.replies for one in models)
    of = f"{failed:,} of {counted(every, 'call')} to {counted(len(models), 'model')} failed."
    return of if every else "The call log is empty."


def _basis(models: Sequence[ModelCalls], path: Path) -> str:
    tokens = [sum(one.tokens_in for one in models), sum(one.tokens_out for one in models)]
    size = log_queries.size(path) / 1e6
    return (
        f"{tokens[0]:,} tokens read and {tokens[1]:,} written, as far as servers report them. "
        f"Latency is that of replies, from the request to its end. The log has {size:,.1f} MB. It "
        "contains no prices: the cost of answers is on the page of their experiment."
    )


def _follows(
    models: Sequence[ModelCalls], seconds: Mapping[str, tuple[float, float]]
) -> list[Consequence]:
    found = []
    slow = max(models, key=lambda one: seconds.get(one.identity, (0, 0))[1], default=None)
    if slow and slow.identity in seconds:
        high = duration(seconds[slow.identity][1])
        said = f"95 % of the replies of {slow.model} took at most {high}."
        found.append(Consequence("Slowest model", said))
    worst = max(models, key=lambda one: one.failures, default=None)
    if worst and worst.failures:
        link = page_address("/calls", {"model": worst.model})
        said = f"{worst.model}: {counted(worst.failures, 'failed call')}."
        found.append(Consequence("Most failures", said, link, "Show the reasons"))
    return found


def _models(models: Sequence[ModelCalls], seconds: Mapping[str, tuple[float, float]]) -> ViewTable:
    rows = []
    for one in models:
        median, high = seconds.get(one.identity, (None, None))
        rows.append(
            {
                "model": one.model,
                "identity": one.identity,
                "replies": one.replies,
                "failures": one.failures,
                "p50": median,
                "p95": high,
                "tokens_in": one.tokens_in,
                "tokens_out": one.tokens_out,
                "first": one.first,
                "last": one.last,
                "links": {"model": page_address("/calls", {"model": one.model})},
                "notes": {"model": _server(one.identity)},
            }
        )
    columns = [
        ViewColumn("model", "Model", "name"),
        ViewColumn("replies", "Replies", "count"),
        ViewColumn("failures", "Failed", "count"),
        ViewColumn("p50", "Median latency", "duration"),
        ViewColumn("p95", "95th percentile", "duration"),
        ViewColumn("tokens_in", "Tokens read", "count"),
        ViewColumn("tokens_out", "Tokens written", "count"),
        ViewColumn("last", "Last call", "moment"),
    ]
    return ViewTable("models", "Calls by model", columns, rows)


def _server(identity: str) -> str:
    """Return the server of a model, if the model's identity has it; "" otherwise.

    >>> _server('{"host": "localhost", "port": "8000", "path": "/v1"}')
    'localhost:8000/v1'
    """
    try:
        found = orjson.loads(identity)
        return f"{found['host']}:{found['port']}{found['path']}"
    except (ValueError, TypeError, KeyError):
        return ""


def _reasons(query: PageQuery, failed: Sequence[FailedCalls], total: int) -> ViewTable:
    def row(one: FailedCalls) -> Mapping[str, Any]:
        return {"reason": one.reason, "model": one.model, "count": one.count, "last": one.last}

    columns = [
        ViewColumn("reason", "Reason", "title"),
        ViewColumn("model", "Model", "label"),
        ViewColumn("count", "Calls", "count"),
        ViewColumn("last", "Last one", "moment"),
    ]
    title = "Failed calls by reason" if failed else "No call failed"
    return ViewTable(
        *("failures", title, columns), unit="reasons", total=total, **paged(query, failed, row)
    )


def _experiment(view: StoreView, query: PageQuery, experiment: str) -> ListPage:
    """Return time, tokens and cost of the answers of one experiment."""
    results = view.results(experiment)
    rows = usage_rows(results)
    cost = [one.cost for one in rows if one.cost is not None]
    failed, every = sum(one.failed for one in rows), sum(one.failed + one.answered for one in rows)
    verdict = f"{experiment}: {failed:,} of {counted(every, 'answer')} failed."
    if cost:
        verdict = f"{verdict.removesuffix('.')}; the answers cost ${sum(cost):,.2f}."
    basis = (
        "Time and tokens are those that generators report, per trial. An answer that was kept from "
        "an earlier run has those of its call."
    )
    columns = [
        ViewColumn("system", "System", "name"),
        ViewColumn("setting", "Setting", "label"),
        ViewColumn("answered", "Answered", "count"),
        ViewColumn("failed", "Failed", "count"),
        ViewColumn("cut", "Cut prompts", "count"),
        ViewColumn("seconds_p50", "Median time", "duration"),
        ViewColumn("seconds_p95", "95th percentile", "duration"),
        ViewColumn("tokens_in", "Tokens read", "count"),
        ViewColumn("tokens_out", "Tokens written", "count"),
        ViewColumn("cost", "Cost", "money"),
    ]

    def row(one: UsageRow) -> Mapping[str, Any]:
        where = {"experiment": experiment, "system": one.system, "setting": one.setting}
        link = page_address("/causes", {**where, "cause": "failure"}) if one.failed else ""
        values = {column.key: getattr(one, column.key) for column in columns}
        return {**values, "timed": one.timed, "links": {"failed": link}}

    table = ViewTable(
        *("trials", "Answers by trial", columns),
        unit="trials",
        total=len(rows),
        **paged(query, rows, row),
    )
    follows = (Consequence("All models", "The call log has all calls.", "/calls", "Show it"),)
    filters = [experiment_filter(view, experiment)]
    return ListPage(verdict, basis, follows, filters, (table,), calls_lines(results))


CALLS: Final = list_page("/calls", "Calls", calls_page, tab="Calls")
