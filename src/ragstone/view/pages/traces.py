"""The page of received traces: their queries, filtered, and buttons that make files of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

from ragstone.core.times import utc_text
from ragstone.data.readers.traces.received import received_in
from ragstone.data.readers.traces.received_rows import (
    OUTCOMES,
    ReceivedRows,
    TraceFilter,
    traced_dataset,
)
from ragstone.data.writers.folder import json_line, write_dataset, write_lines
from ragstone.errors import ConfigError
from ragstone.view.made_files import DATA_SETS, csv_bytes, new_folder
from ragstone.view.page import ActionAnswer, Document, ViewAction, ViewPage
from ragstone.view.store_view import StoreView
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText
from ragstone.web.page_query import PageQuery

_COLUMNS: Final = ("query_id", "query", "answer", "reason", "system", "trace_id")


def traces_document(view: StoreView, query: PageQuery) -> Document:
    """Return the queries of the traces that match the filters, a page of them."""
    found = ReceivedRows(received_in(view.root))
    wanted = _filter({f.name: query.text(f.name) for f in fields(TraceFilter)})
    query.choice("outcome", OUTCOMES)
    matching = found.count(wanted)
    start = query.number("from", 0, most=max(0, matching))
    shown = found.listed(wanted, start, limits.VIEW_ROWS)
    return {
        **found.counts(),
        "systems": found.systems(),
        "filter": wanted.query(),
        "total": found.count(TraceFilter()),
        "found": matching,
        "from": start,
        "rows": [{**asdict(one), "started": utc_text(one.start / 1e9)} for one in shown],
        "name": "traces-" + utc_text()[:10],
    }


def _filter(values: Mapping[str, str]) -> TraceFilter:
    given = {f.name: values.get(f.name, "").strip() for f in fields(TraceFilter)}
    wanted = TraceFilter(**given)
    try:
        wanted.condition()
    except ConfigError as error:
        state = StateText(str(error), link="/traces", link_text="Show all traces")
        raise PageError(400, state) from error
    return wanted


def _rows(view: StoreView, values: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the rows of a view; raise `PageError` if there is none."""
    found = list(ReceivedRows(received_in(view.root)).rows(_filter(values)))
    if not found:
        said = "No trace of this view makes a row. Nothing was written."
        raise PageError(404, StateText(said, link="/traces", link_text="Show all traces"))
    return found


def _csv(view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    usage = ("seconds", "tokens_in", "tokens_out")
    found = (
        [
            *(row.get(name) for name in _COLUMNS),
            *(row.get("usage", {}).get(name) for name in usage),
            row.get("passage_ids"),
        ]
        for row in _rows(view, values)
    )
    body = csv_bytes([*_COLUMNS, *usage, "passage_ids"], found)
    return ActionAnswer(file_name="traces.csv", body=body)


def _lines(view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    body = b"".join(json_line(row) for row in _rows(view, values))
    kind = "application/jsonl; charset=utf-8"
    return ActionAnswer(file_name="rows.jsonl", body=body, content_type=kind)


def _dataset(view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    name, folder = new_folder(view, DATA_SETS, values.get("name", ""), "/traces")
    rows = _rows(view, values)
    made = traced_dataset(iter(rows), name)
    files = write_dataset(made, folder)
    files += write_lines({folder / "rows.jsonl": map(json_line, rows)})
    document = {
        "folder": str(folder),
        "files": [path.name for path in files],
        "queries": made.query_table.num_rows,
        "passages": len(made.corpus),
        "rows": len(rows),
    }
    return ActionAnswer(document=document)


TRACES: Final = ViewPage("/traces", "Traces", "traces.html", traces_document, tab="Traces")
TRACES_CSV: Final = ViewAction("/traces/csv", _csv)
TRACES_ROWS: Final = ViewAction("/traces/rows", _lines)
TRACES_DATASET: Final = ViewAction("/traces/dataset", _dataset)
