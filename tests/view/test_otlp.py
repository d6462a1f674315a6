"""The receiver of traces: an exporter's requests are kept, then acknowledged, whatever happens."""

from __future__ import annotations

import asyncio
import gzip
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from google.rpc.status_pb2 import Status
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from tests.fakes.made_traces import made_span, pairs
from tests.fakes.traced_rag import OpenInference, TracedRag, recording

from ragstone.core import limits
from ragstone.data.readers.traces.received import ReceivedSpans, received_in
from ragstone.data.readers.traces.received_rows import ReceivedRows, TraceFilter
from ragstone.errors import StoreError
from ragstone.view.app import make_app
from ragstone.view.otlp import OtlpReceiver
from ragstone.view.store_view import StoreView
from ragstone.web.server import running

JSON = "application/json"
PROTOBUF = "application/x-protobuf"
TRACE, SPAN = "5b8efff798038103d269b633813fc60c", "eee19b7ec3c1b174"


@dataclass
class Answer:
    """A response of the receiver."""

    status: int
    kind: str
    body: bytes
    headers: dict[str, str]


def post(
    store: Path,
    body: bytes,
    kind: str = JSON,
    path: str = "v1/traces",
    change: Callable[[OtlpReceiver], None] = lambda _: None,
    **headers: str,
) -> Answer:
    """Send one request to a receiver over a store, and return the response."""
    store.mkdir(exist_ok=True)

    async def ask() -> Answer:
        app = make_app(StoreView(store), [])
        receiver = OtlpReceiver(received_in(store))
        change(receiver)
        receiver.add_to(app)
        named = {"Content-Type": kind, **{k.replace("_", "-"): v for k, v in headers.items()}}
        async with (
            running(app) as address,
            aiohttp.ClientSession() as session,
            session.post(address + path, data=body, headers=named) as response,
        ):
            return Answer(
                response.status,
                response.content_type,
                await response.read(),
                dict(response.headers),
            )

    return asyncio.run(ask())


def request(*spans: dict[str, Any]) -> bytes:
    """Return a request as JSON."""
    resource = {"attributes": pairs({"service.name": "mine"})}
    group = {"resource": resource, "scopeSpans": [{"scope": {}, "spans": spans}]}
    return json.dumps({"resourceSpans": [group]}).encode()


def span(span_id: str = SPAN, **fields: Any) -> dict[str, Any]:
    """Return a span with valid ids, of a chain with a query and an answer."""
    known = {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."}
    return {**made_span(span_id, "", known), "traceId": TRACE, **fields}


def kept(store: Path) -> dict[str, int]:
    """Return what a store has received."""
    received = received_in(store)
    try:
        return ReceivedRows(received).counts()
    finally:
        received.close()


@contextmanager
def serving(store: Path, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run `ragstone view --otlp` in a process of its own; yield its address and the process."""
    command = ["view", str(store), "--otlp", "--no-browser", "--port", str(port)]
    code = "from ragstone.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *command], stdout=subprocess.PIPE, text=True
    )
    stdout = process.stdout
    assert stdout is not None
    try:
        yield stdout.readline().strip(), process
    finally:
        process.kill()
        process.wait()
        stdout.close()


def test_an_application_with_one_environment_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All its spans arrive, and each query becomes the row that the application wrote itself."""
    with serving(tmp_path / "store") as (address, process):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        with recording(OTLPSpanExporter()) as tracer:
            rag = TracedRag(tracer, OpenInference())
            rag.ask_all([f"When ferry {n}?" for n in range(25)])
        process.send_signal(signal.SIGKILL)
    received = ReceivedRows(received_in(tmp_path / "store"))
    rows = {row["query"]: row for row in received.rows(TraceFilter())}
    assert rows.keys() == rag.log.keys()
    for query, told in rag.log.items():
        assert rows[query]["answer"] == told["answer"]
        assert rows[query]["passage_ids"] == told["passage_ids"]
        assert rows[query]["contexts"] == told["contexts"]
    assert received.counts()["traces"] == 25


def test_a_killed_receiver_loses_nothing_that_it_acknowledged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After kill -9 every acknowledged span is there, and the exporter sends the others again."""
    store = tmp_path / "store"
    with serving(store) as (address, first):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", address)
        with recording(OTLPSpanExporter(), 16) as tracer:
            rag = TracedRag(tracer, OpenInference())
            rag.ask_all([f"When ferry {n}?" for n in range(10)])
            first.kill()
            first.wait()
            port = int(address.rstrip("/").rpartition(":")[2])
            with serving(store, port):
                rag.ask_all([f"When ferry {n}?" for n in range(10, 20)])
                tracer.span_processor.force_flush(20_000)
                queries = {row["query"] for row in _rows(store)}
    assert queries == set(rag.log)


def _rows(store: Path) -> list[dict[str, Any]]:
    received = received_in(store)
    try:
        return list(ReceivedRows(received).rows(TraceFilter()))
    finally:
        received.close()


def test_responses_in_both_forms(tmp_path: Path) -> None:
    """Success is an empty message in the form of the request, also if it is gzipped or empty."""
    answer = post(tmp_path / "s", gzip.compress(request(span())), Content_Encoding="gzip")
    assert (answer.status, answer.kind, answer.body) == (200, JSON, b"{}")
    assert post(tmp_path / "s", request()).body == b"{}"
    proto = ExportTraceServiceRequest()
    one = proto.resource_spans.add().scope_spans.add().spans.add()
    one.trace_id, one.span_id = bytes.fromhex(TRACE), bytes.fromhex("eee19b7ec3c1b175")
    answer = post(tmp_path / "s", proto.SerializeToString(), PROTOBUF)
    assert (answer.status, answer.kind, answer.body) == (200, PROTOBUF, b"")
    assert kept(tmp_path / "s") == {"spans": 2, "traces": 1}


def test_a_span_that_is_sent_again_counts_once(tmp_path: Path) -> None:
    """An exporter that got no acknowledgement sends the same spans again."""
    for _ in range(2):
        assert post(tmp_path / "s", request(span())).status == 200
    assert kept(tmp_path / "s") == {"spans": 1, "traces": 1}


def test_partial_success(tmp_path: Path) -> None:
    """Spans without valid ids are rejected with their number and the reason; others are kept."""
    bad = [span("0" * 16), span("xyz"), span(traceId=""), span(startTimeUnixNano="soon")]
    answer = post(tmp_path / "s", request(*bad, span()))
    told = json.loads(answer.body)["partialSuccess"]
    assert (answer.status, told["rejectedSpans"]) == (200, "4")
    assert "a span needs a span id of 8 bytes" in told["errorMessage"]
    proto = ExportTraceServiceRequest()
    proto.resource_spans.add().scope_spans.add().spans.add(span_id=b"short")
    answer = post(tmp_path / "s", proto.SerializeToString(), PROTOBUF)
    partial = ExportTraceServiceResponse.FromString(answer.body).partial_success
    assert partial.rejected_spans == 1
    assert "a span needs a trace id of 16 bytes" in partial.error_message
    assert kept(tmp_path / "s") == {"spans": 1, "traces": 1}


@pytest.mark.parametrize(
    ("body", "sent", "status", "told"),
    [
        (b"no", {}, 400, "not JSON of OTLP"),
        (b"[]", {}, 400, "no field 'resourceSpans'"),
        (b'{"resourceSpans": 3}', {}, 400, "must be a list of objects"),
        (b"[" * 300 + b"]" * 300, {}, 400, "not JSON of OTLP"),
        (b"\xff\xff", {"kind": PROTOBUF}, 400, "not OTLP's protobuf"),
        (b"{}", {"kind": "text/plain"}, 415, "application/x-protobuf and application/json"),
        (b"{}", {"Content_Encoding": "zip"}, 415, "use gzip"),
        (b"no gzip", {"Content_Encoding": "gzip"}, 400, "not gzip"),
    ],
)
def test_what_cannot_be_read_is_refused(
    tmp_path: Path, body: bytes, sent: dict[str, str], status: int, told: str
) -> None:
    """The status says that a repetition is useless, and the message says why."""
    kind = sent.get("kind", JSON)
    headers = {name: value for name, value in sent.items() if name != "kind"}
    answer = post(tmp_path / "s", body, kind, **headers)  # type: ignore[arg-type]
    assert answer.status == status, answer.body
    message = Status.FromString(answer.body).message if kind == PROTOBUF else answer.body.decode()
    assert told in message
    assert kept(tmp_path / "s") == {"spans": 0, "traces": 0}


def test_limits_of_a_request(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is too large when it is unpacked is refused; so is one with many spans."""
    monkeypatch.setattr(limits, "MAX_OTLP_BYTES", 1000)
    packed = gzip.compress(b" " * 100_000)
    answer = post(tmp_path / "s", packed, Content_Encoding="gzip")
    assert answer.status == 413
    assert b"OTEL_BSP_MAX_EXPORT_BATCH_SIZE" in answer.body
    monkeypatch.setattr(limits, "MAX_OTLP_BYTES", 10**6)
    monkeypatch.setattr(limits, "MAX_TRACE_SPANS", 1)
    answer = post(tmp_path / "s", request(span(), span("eee19b7ec3c1b175")))
    assert answer.status == 400
    assert b"more than 1 spans" in answer.body


def test_a_request_that_stalls_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait for a place; a request that does not arrive frees its own."""
    monkeypatch.setattr(limits, "OTLP_REQUEST_SECONDS", 0.05)
    monkeypatch.setattr(limits, "OTLP_CONCURRENT_REQUESTS", 1)

    (tmp_path / "s").mkdir()

    async def ask() -> tuple[bytes, int]:
        app = make_app(StoreView(tmp_path / "s"), [])
        OtlpReceiver(received_in(tmp_path / "s")).add_to(app)
        async with running(app) as address:
            port = int(address.rstrip("/").rpartition(":")[2])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"POST /v1/traces HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {JSON}\r\n"
            writer.write(f"{head}Content-Length: 10\r\n\r\n".encode())
            line = await asyncio.wait_for(reader.readline(), 5)
            writer.close()
            headers = {"Content-Type": JSON}
            async with (
                aiohttp.ClientSession() as session,
                session.post(address + "v1/traces", data=request(span()), headers=headers) as ok,
            ):
                return line, ok.status

    line, status = asyncio.run(ask())
    assert b" 503 " in line
    assert status == 200


def test_a_file_that_cannot_be_written_is_tried_again(tmp_path: Path) -> None:
    """A full disk acknowledges nothing, and asks the exporter to repeat the request."""

    def full(receiver: OtlpReceiver) -> None:
        def add(_: object) -> None:
            raise StoreError("cannot write traces.sqlite: database or disk is full")

        receiver.received.add = add  # type: ignore[method-assign, assignment]

    answer = post(tmp_path / "s", request(span()), change=full)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5")
    assert b"disk is full" in answer.body


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    """The receiver does not overwrite it."""
    (tmp_path / "s").mkdir()
    path = received_in(tmp_path / "s").path
    path.write_bytes(b"no database" * 100)
    answer = post(tmp_path / "s", request(span()))
    assert answer.status == 503
    assert b"file is not a database" in answer.body
    assert path.read_bytes() == b"no database" * 100


def test_other_signals_and_foreign_pages_are_refused(tmp_path: Path) -> None:
    """Logs and metrics name the variable that stops them; pages of other addresses get nothing."""
    answer = post(tmp_path / "s", b"{}", path="v1/logs")
    assert answer.status == 404
    assert b"OTEL_LOGS_EXPORTER=none" in answer.body
    answer = post(tmp_path / "s", request(span()), Origin="http://example.org")
    assert answer.status == 403
    assert post(tmp_path / "s", request(span()), Host="example.org").status == 403
    assert kept(tmp_path / "s") == {"spans": 0, "traces": 0}


def test_a_newer_file_is_left_alone(tmp_path: Path) -> None:
    """The message says how to read it."""
    received = ReceivedSpans(tmp_path / "traces.sqlite")
    received.add([])
    with received.changing() as connection:
        connection.execute("PRAGMA user_version=99")
    received.close()
    with pytest.raises(StoreError, match="newer Ragstone"):
        received.add([])
