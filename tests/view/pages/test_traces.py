"""The page of received traces: filters, files of a view, hostile texts."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_traces import made_span, pairs

from ragstone.data.load import load_dataset
from ragstone.data.readers.traces.otlp_request import split_json
from ragstone.data.readers.traces.received import received_in
from ragstone.view.page_templates import TEMPLATES
from ragstone.view.pages.traces import (
    TRACES,
    TRACES_CSV,
    TRACES_DATASET,
    TRACES_ROWS,
)
from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery

HOSTILE = "=1+1<script>alert(1)</script>\x1b[31m"
DAY = 86_400 * 10**9


def received(store: Path) -> StoreView:
    """Return a store that received four traces: two answers, a failure, and one of a database."""
    store.mkdir()
    chain = {"openinference.span.kind": "CHAIN"}
    search = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": "x",
        "retrieval.documents.0.document.id": "p1",
        "retrieval.documents.0.document.content": "Ferry 1 leaves at 7.",
    }
    traces = [
        ({**chain, "input.value": "When ferry 1?", "output.value": "At 7."}, "mine", 10, {}),
        ({**chain, "input.value": HOSTILE, "output.value": HOSTILE}, HOSTILE, 11, {}),
        ({**chain, "input.value": "When 100%?"}, "mine", 12, {"status": {"code": 2}}),
        ({"db.system": "sqlite"}, "mine", 13, {}),
    ]
    spans = received_in(store)
    for number, (attributes, service, day, more) in enumerate(traces, start=1):
        ids = {"traceId": f"{number:032x}"}
        at = (day * DAY, day * DAY + 10**9)
        made = [{**made_span(f"{number:016x}", "", attributes, at=at), **more, **ids}]
        if number == 1:
            inner = made_span("f" * 16, f"{number:016x}", search, at=at)
            made.append({**inner, **ids})
        group = {
            "resource": {"attributes": pairs({"service.name": service})},
            "scopeSpans": [{"spans": made}],
        }
        spans.add(split_json(json.dumps({"resourceSpans": [group]}).encode()).kept)
    spans.close()
    return StoreView(store)


def page(view: StoreView, **values: str) -> dict[str, Any]:
    """Return the plain data of the page."""
    return TRACES.make(view, PageQuery("/traces", {}, values))


@pytest.mark.parametrize(
    ("values", "queries"),
    [
        ({}, ["", "When 100%?", HOSTILE, "When ferry 1?"]),
        ({"text": "FERRY"}, ["When ferry 1?"]),
        ({"text": "100%"}, ["When 100%?"]),
        ({"text": "1_0"}, []),
        ({"system": "mine", "outcome": "answered"}, ["When ferry 1?"]),
        ({"outcome": "unanswered"}, ["When 100%?"]),
        ({"outcome": "no-row"}, [""]),
        ({"since": "1970-01-12", "until": "1970-01-13"}, [HOSTILE]),
    ],
)
def test_filters(tmp_path: Path, values: dict[str, str], queries: list[str]) -> None:
    """Each filter selects queries of traces; the latest is first, and all are counted."""
    found = page(received(tmp_path / "s"), **values)
    assert [row["query"] for row in found["rows"]] == queries
    assert (found["total"], found["found"], found["spans"]) == (4, len(queries), 5)


def test_a_trace_without_a_row_has_its_reason(tmp_path: Path) -> None:
    """It is listed, so that nothing that arrived is missing."""
    (row,) = page(received(tmp_path / "s"), outcome="no-row")["rows"]
    assert row["reason"] == "no span of it follows a known convention"


@pytest.mark.parametrize("values", [{"outcome": "good"}, {"since": "soon"}])
def test_a_filter_that_is_not_known(tmp_path: Path, values: dict[str, str]) -> None:
    """The message names the value."""
    with pytest.raises(PageError, match=next(iter(values.values()))):
        page(received(tmp_path / "s"), **values)


def test_a_view_becomes_a_data_set(tmp_path: Path) -> None:
    """It has the queries and the retrieved passages; its rows are beside it."""
    view = received(tmp_path / "s")
    made = TRACES_DATASET.run(view, {"name": "mine", "system": "mine"}).document
    assert (made["queries"], made["passages"], made["rows"]) == (2, 1, 2)
    data = load_dataset(made["folder"])
    assert [query.text for query in data.queries] == ["When ferry 1?", "When 100%?"]
    assert data.corpus["p1"].text == "Ferry 1 leaves at 7."
    rows = (Path(made["folder"]) / "rows.jsonl").read_text().splitlines()
    assert [json.loads(row)["answer"] for row in rows] == ["At 7.", None]
    with pytest.raises(PageError, match="already exists"):
        TRACES_DATASET.run(view, {"name": "mine"})
    for name in ("", "../mine", "a b", "x" * 99):
        with pytest.raises(PageError, match="is not possible"):
            TRACES_DATASET.run(view, {"name": name})


def test_a_view_becomes_rows_and_a_table(tmp_path: Path) -> None:
    """A spreadsheet takes no text for a formula; a view without a row writes nothing."""
    view = received(tmp_path / "s")
    rows = TRACES_ROWS.run(view, {}).body.splitlines()
    assert [json.loads(row)["query"] for row in rows] == ["When ferry 1?", HOSTILE, "When 100%?"]
    table = list(csv.DictReader(io.StringIO(TRACES_CSV.run(view, {}).body.decode())))
    assert [row["answer"] for row in table] == ["At 7.", f"'{HOSTILE}", ""]
    for action in (TRACES_CSV, TRACES_ROWS):
        with pytest.raises(PageError, match="No trace of this view makes a row"):
            action.run(view, {"outcome": "no-row"})


def test_an_empty_store_and_hostile_texts(tmp_path: Path) -> None:
    """A store without traces says how to receive some; texts are shown as texts."""
    (tmp_path / "empty").mkdir()
    assert "--otlp" in html(StoreView(tmp_path / "empty"))
    assert not (tmp_path / "empty" / "traces.sqlite").exists()
    shown = html(received(tmp_path / "s"))
    assert "<script>alert" not in shown
    assert "\x1b" not in shown


def html(view: StoreView) -> str:
    """Return the page as a browser gets it."""
    query = PageQuery("/traces")
    given = {"title": "Traces", "tabs": [TRACES], "current": "/traces", "made": "10:00"}
    found = TRACES.make(view, query)
    known = {"store": str(view.root), "token": "t", "twin": query.twin}
    return TEMPLATES.render(TRACES.template, page=found, query=query, **given, **known)
