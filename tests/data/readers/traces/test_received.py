"""The file of received spans gives back what the readers of files would give."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from tests.fakes.traced_rag import OpenInference, ProtobufFile, Spans, TracedRag, recording

from ragstone.core import limits
from ragstone.data.readers.traces.conversion import TraceConverter
from ragstone.data.readers.traces.files import FileNotes, read_spans
from ragstone.data.readers.traces.otlp_request import split_json, split_protobuf
from ragstone.data.readers.traces.received import received_in
from ragstone.data.readers.traces.received_rows import ReceivedRows, TraceFilter


class Batches(ProtobufFile):
    """Keeps the batches of an exporter, and writes them into a file too."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, lambda size: size.to_bytes(4, "big"))
        self.batches: list[bytes] = []

    def export(self, spans: Spans) -> object:  # type: ignore[override]
        """Keep a batch."""
        self.batches.append(encode_spans(spans).SerializeToString())
        return super().export(spans)


def test_protobuf_is_read_as_from_a_file(tmp_path: Path) -> None:
    """Spans and rows equal those of a file of the same batches, in whatever order they arrive."""
    exporter = Batches(tmp_path / "t.pb")
    with recording(exporter, 16) as tracer:
        TracedRag(tracer, OpenInference()).ask_all([f"When ferry {n}?" for n in range(12)])
    received = received_in(tmp_path / "store")
    found = ReceivedRows(received)
    for batch in exporter.batches[::-1]:
        received.add(split_protobuf(batch).kept)
        found.count(TraceFilter())  # Traces of which a part arrived are converted again.
    spans = {span.span_id: span for span in read_spans(tmp_path / "t.pb", FileNotes())}
    again = {s.span_id: s for trace in received.trace_ids() for s in received.spans(trace)}
    assert again == spans
    rows = {row["query"]: row for row in TraceConverter((tmp_path / "t.pb",)).rows()}
    assert {row["query"]: row for row in found.rows(TraceFilter())} == rows
    assert found.counts() == {"spans": len(spans), "traces": 12}


def test_json_is_read_as_from_a_file(tmp_path: Path) -> None:
    """The same for JSON."""
    path = tmp_path / "t.jsonl"
    with recording(path, 16) as tracer:
        TracedRag(tracer, OpenInference()).ask_all([f"When ferry {n}?" for n in range(6)])
    received = received_in(tmp_path / "store")
    for line in path.read_bytes().splitlines():
        received.add(split_json(line).kept)
    spans = {span.span_id: span for span in read_spans(path, FileNotes())}
    again = {s.span_id: s for trace in received.trace_ids() for s in received.spans(trace)}
    assert again == spans


def test_a_trace_with_too_many_spans_makes_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent in a loop does not fill the memory."""
    received = received_in(tmp_path / "store")
    for number in range(1, 5):
        span = {"traceId": "a" * 32, "spanId": f"{number:016x}"}
        document = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
        received.add(split_json(json.dumps(document).encode()).kept)
    monkeypatch.setattr(limits, "MAX_TRACE_SPANS", 3)
    (found,) = ReceivedRows(received).listed(TraceFilter(), 0, 9)
    assert (found.number, found.spans) == (0, 4)
    assert found.reason == "the trace has more than 3 spans, the maximum"
