"""Files that OpenTelemetry and OpenInference write become the rows of what the application did."""

from __future__ import annotations

import json
import re
import tracemalloc
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.traced_rag import (
    CORPUS,
    SCHEMA,
    GenAI,
    OpenInference,
    ProtobufFile,
    TracedRag,
    recording,
)

from ragstone.core import limits
from ragstone.data.corpus import Corpus
from ragstone.data.readers.answer_rows import query_id_of
from ragstone.data.readers.traces.conversion import INCOMPLETE, TraceConverter
from ragstone.types import Passage

FROM = ("query_id", "system", "trace_id", "convention", "schema_url")
"""Fields of a row that say where it comes from."""


def questions(number: int) -> list[str]:
    """Return different questions."""
    return [f"When ferry {n}?" for n in range(number)]


def converted(*paths: Path, **options: Any) -> tuple[list[dict[str, Any]], TraceConverter]:
    """Return the rows of files, and their converter."""
    converter = TraceConverter(paths, **options)
    return list(converter.rows()), converter


def facts(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return query -> the row without its origin and its times."""
    found = {}
    for row in rows:
        kept = {name: value for name, value in row.items() if name not in FROM}
        usage = {name: value for name, value in row["usage"].items() if name != "seconds"}
        steps = [{k: v for k, v in step.items() if k != "latency_s"} for step in row["steps"]]
        found[row["query"]] = {**kept, "usage": usage, "steps": steps}
    assert len(found) == len(rows)
    return found


def record(path: Path, number: int) -> tuple[Path, TracedRag]:
    """Write a file of the spans of some questions by OpenInference, with mixed traces."""
    with recording(path) as tracer:
        rag = TracedRag(tracer, OpenInference())
        rag.ask_all(questions(number))
    return path, rag


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, TracedRag]:
    """A file of about 1,000 spans, and the log of the application."""
    return record(tmp_path_factory.mktemp("traces") / "traces.jsonl", 180)


def test_ten_thousand_spans_are_what_the_application_did(tmp_path: Path) -> None:
    """Every row is equal to the log: answers, failures, hops, contexts and tokens."""
    path, rag = record(tmp_path / "traces.jsonl", 1725)
    rows, converter = converted(path)
    found = converter.found
    assert facts(rows) == rag.log
    assert found.spans >= 10_000
    assert (found.rows, found.traces, found.cuts) == (1725, 1725, [])
    assert not found.without_row
    assert not found.skipped
    assert found.conventions == {"OpenInference": found.spans}
    assert found.schema_urls == {SCHEMA: found.spans}
    assert {row["system"] for row in rows} == {"ferries"}
    assert all(row["query_id"] == query_id_of(row["query"]) for row in rows)
    assert all(row["usage"]["seconds"] > 0 for row in rows)
    assert found.notes["the answer is null: ValueError: no ferry"] == 345


def test_a_file_cut_in_the_middle_gives_the_complete_traces(
    recorded: tuple[Path, TracedRag], tmp_path: Path
) -> None:
    """The cut is told with line and byte; each trace with a span after the cut is a reason."""
    path, rag = recorded
    content = path.read_bytes()
    cut = tmp_path / "cut.jsonl"
    # In the middle of a character, which the exporter writes as an escape.
    place = content.index(b"\\u00e5", len(content) // 2) + 3
    cut.write_bytes(content[:place])
    start = re.compile(rb'\{"traceId":"(\w+)"')
    total = Counter(start.findall(content))
    before = Counter(start.findall(content[:place])[:-1])  # The last span is cut.
    complete = {name.decode() for name, spans in before.items() if spans == total[name]}

    rows, converter = converted(cut)

    assert {row["trace_id"] for row in rows} == complete
    assert 0 < len(complete) < len(before)
    assert all(rag.log[query] == row for query, row in facts(rows).items())
    assert converter.found.without_row == {INCOMPLETE: len(before) - len(complete)}
    line = content.count(b"\n", 0, place) + 1
    byte = place - content.rfind(b"\n", 0, place)
    (told,) = converter.found.cuts
    assert f"cut.jsonl, line {line}, byte {byte}: " in told


def fixed(size: int) -> bytes:
    """Return the length before a message in the files of OpenTelemetry's collector."""
    return size.to_bytes(4, "big")


def varint(size: int) -> bytes:
    """Return a length as protobuf's own delimited messages have it."""
    found = b""
    while size > 0x7F:
        found, size = found + bytes([size & 0x7F | 0x80]), size >> 7
    return found + bytes([size])


@pytest.mark.parametrize("before", [fixed, varint, lambda _: b""], ids=["fixed", "varint", "plain"])
def test_protobuf_gives_the_same_rows(tmp_path: Path, before: Callable[[int], bytes]) -> None:
    """Messages with their length before each, or one after the other; and the file cut."""
    path = tmp_path / "traces.pb"
    with recording(ProtobufFile(path, before)) as tracer:
        rag = TracedRag(tracer, OpenInference())
        rag.ask_all(questions(60))
    rows, converter = converted(path)
    assert facts(rows) == rag.log
    assert converter.found.cuts == []
    assert converter.found.schema_urls == {SCHEMA: converter.found.spans}

    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    rows, converter = converted(path)
    assert 0 < len(rows) < 60
    assert all(rag.log[query] == row for query, row in facts(rows).items())
    (told,) = converter.found.cuts
    assert f"byte {len(content) // 2}: the file ends within the message that begins at" in told


@pytest.mark.parametrize("end", [".json", ".json.gz"])
def test_one_document_in_lines_gives_the_same_rows(
    recorded: tuple[Path, TracedRag], tmp_path: Path, end: str
) -> None:
    """All requests as one document, indented; and the document cut within a span."""
    import gzip

    lines = recorded[0].read_text().splitlines()[:8]
    groups = [group for line in lines for group in json.loads(line)["resourceSpans"]]
    text = json.dumps({"resourceSpans": groups}, indent=2, ensure_ascii=False)
    (tmp_path / "lines.jsonl").write_text("\n".join(lines))
    path = tmp_path / f"traces{end}"
    pack = gzip.compress if end.endswith("gz") else bytes
    path.write_bytes(pack(text.encode()))
    expected, _ = converted(tmp_path / "lines.jsonl")
    assert converted(path)[0] == expected

    # In the middle of a character: it has two bytes.
    cut = text.encode()[: text.encode().index("å".encode(), len(text) // 2) + 1]
    path.write_bytes(pack(cut))
    rows, converter = converted(path)
    assert 0 < len(rows) < len(expected)
    whole = facts(expected)
    assert all(whole[query] == row for query, row in facts(rows).items())
    line = len(cut.splitlines())
    assert f"line {line}, byte " in converter.found.cuts[0]


def test_a_trace_may_be_spread_over_files_in_any_order(
    recorded: tuple[Path, TracedRag], tmp_path: Path
) -> None:
    """The lines of a file, in two files and reversed, give the same rows."""
    lines = recorded[0].read_bytes().splitlines(keepends=True)
    paths = [tmp_path / "b.jsonl", tmp_path / "a.jsonl"]
    for place, path in enumerate(paths):
        path.write_bytes(b"".join(lines[place::2][::-1]))
    rows, _ = converted(*paths)
    assert facts(rows) == recorded[1].log
    part, converter = converted(paths[0])
    assert converter.found.without_row[INCOMPLETE] == converter.found.traces - len(part)


def test_texts_that_the_convention_lacks_come_from_the_corpus(tmp_path: Path) -> None:
    """OpenTelemetry's documents have id and score; without a corpus the rows have no contexts."""
    path = tmp_path / "traces.jsonl"
    with recording(path) as tracer:
        rag = TracedRag(tracer, GenAI())
        rag.ask_all(questions(40))
    rows, converter = converted(path)
    assert not any("contexts" in row for row in rows)
    assert rows[0]["steps"][0]["passages"][0].keys() == {"id", "score"}
    assert [n for reason, n in converter.found.notes.items() if "--corpus" in reason] == [40]
    assert converter.found.conventions.keys() == {"OpenTelemetry GenAI"}

    passages = [Passage(name, text) for name, text in CORPUS.items()]
    rows, _ = converted(path, corpus=Corpus.from_passages(passages), system="v2")
    assert facts(rows) == rag.log
    assert {row["system"] for row in rows} == {"v2"}


def test_memory_is_that_of_the_open_traces(
    recorded: tuple[Path, TracedRag], tmp_path: Path
) -> None:
    """Four times as many traces need no more memory."""
    lines = recorded[0].read_bytes().splitlines(keepends=True)
    peaks = []
    for share in (8, 2):
        path = tmp_path / "part.jsonl"
        path.write_bytes(b"".join(lines[: len(lines) // share]))
        converter = TraceConverter([path])
        tracemalloc.start()
        assert sum(1 for _ in converter.rows()) > 10
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.7 * peaks[0]


def test_a_trace_beyond_the_maximum_is_a_reason(
    recorded: tuple[Path, TracedRag], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its spans are not held; the reason names the maximum."""
    monkeypatch.setattr(limits, "MAX_TRACE_SPANS", 5)
    rows, converter = converted(recorded[0])
    reason = "the trace has more than 5 spans, the maximum"
    assert converter.found.without_row == {reason: 144}
    assert len(rows) == 36
