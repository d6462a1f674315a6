"""The page of received traces: their queries, filtered, and buttons that make files of them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any, Final

import orjson

from ragstone.core import limits
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
from ragstone.view.errors import PageError, StateText
from ragstone.view.page import ActionAnswer, Document, ViewAction, ViewPage
from ragstone.view.page_query import PageQuery
from ragstone.view.store_view import StoreView

FOLDER: Final = "data"
"""The folder of a store with the data sets that buttons made."""
_NAME: Final = re.compile(r"[A-Za-z0-9][\w-]{0,79}", re.ASCII)
_COLUMNS: Final = ("query_id", "query", "answer", "reason", "system", "trace_id")
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
"""First characters of a cell that a spreadsheet takes for a formula."""


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
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow([*_COLUMNS, "seconds", "tokens_in", "tokens_out", "passage_ids"])
    for row in _rows(view, values):
        usage = row.get("usage", {})
        counted = [usage.get(name) for name in ("seconds", "tokens_in", "tokens_out")]
        cells = [*(row.get(name) for name in _COLUMNS), *counted, row.get("passage_ids")]
        writer.writerow([_cell(value) for value in cells])
    return ActionAnswer(file_name="traces.csv", body=text.getvalue().encode())


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return orjson.dumps(value).decode()
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _lines(view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    body = b"".join(json_line(row) for row in _rows(view, values))
    kind = "application/jsonl; charset=utf-8"
    return ActionAnswer(file_name="rows.jsonl", body=body, content_type=kind)


def _dataset(view: StoreView, values: Mapping[str, str]) -> ActionAnswer:
    name = values.get("name", "").strip()
    if not _NAME.fullmatch(name):
        then = "A name has letters, digits, - and _, and at most 80 of them."
        raise PageError(400, StateText(f"The name {name!r} is not possible.", then))
    folder = view.root / FOLDER / name
    if folder.exists():
        said, then = f"{folder} already exists.", "Nothing was written. Choose another name."
        raise PageError(409, StateText(said, then, link="/traces", link_text="Traces"))
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
