"""Files of traces: other content, cuts, and bytes that are none of the formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.made_traces import made_span, write_traces

from ragstone.core import limits
from ragstone.data.readers.traces.files import FileNotes, complete_part, read_spans
from ragstone.errors import DatasetError, MissingDependency

CHAIN = {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."}


def read(path: Path) -> tuple[list[str], FileNotes]:
    """Return the ids of the spans of a file, and what reading it told."""
    notes = FileNotes()
    return [span.span_id for span in read_spans(path, notes)], notes


def test_a_line_in_the_middle_that_breaks_off_is_told(tmp_path: Path) -> None:
    """A process that was killed and started again appends to its file."""
    path = write_traces(tmp_path / "t.jsonl", made_span("1"), made_span("2"))
    line = path.read_text()
    path.write_text(line + line[: line.index('"spanId": "2"') + 5] + "\n" + line)
    spans, notes = read(path)
    assert spans == ["1", "2", "1", "1", "2"]
    (told,) = notes.cuts
    assert f"{path}, line 2, byte " in told
    assert "breaks off here" in told


def test_a_document_damaged_within_is_told(tmp_path: Path) -> None:
    """A wrong byte hides a fault before it, so the part before the byte is not JSON either."""
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'[{""}\x97')
    spans, notes = read(path)
    assert (spans, len(notes.cuts)) == ([], 1)


def test_nothing_of_a_cut_span_is_read(tmp_path: Path) -> None:
    """Wherever a document is cut, its spans are a beginning of all spans, with all attributes."""
    path = write_traces(tmp_path / "t.json", *[made_span(str(n), "", CHAIN) for n in range(3)])
    content = path.read_bytes().rstrip()
    whole = list(read_spans(path, FileNotes()))
    for place in range(1, len(content)):
        path.write_bytes(content[:place])
        notes = FileNotes()
        found = list(read_spans(path, notes))
        assert found == whole[: len(found)]
        assert len(notes.cuts) == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner),
        max_leaves=8,
    ),
    st.data(),
)
def test_the_complete_part_is_json_that_the_whole_begins_with(value: Any, data: Any) -> None:
    """Records before the cut are kept as they are, whatever texts contain."""
    records = [{"a": value}, {"b": [value, {"c": value}]}, {"d": value}]
    content = json.dumps(records, ensure_ascii=False).encode()
    place = data.draw(st.integers(1, len(content) - 1))
    found = json.loads(complete_part(content[:place]))
    assert found == records[: len(found)]


def test_other_signals_and_other_files_are_told(tmp_path: Path) -> None:
    """Logs and metrics are counted; a text, an image and an empty file are errors."""
    path = tmp_path / "logs.jsonl"
    path.write_text('{"resourceLogs": []}\n{"resourceMetrics": []}\n')
    spans, notes = read(path)
    assert spans == []
    assert notes.skipped == {
        "it contains resourceLogs, not traces": 1,
        "it contains resourceMetrics, not traces": 1,
    }
    for content in (b"some text\n" * 100, b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=r"logs\.jsonl, byte \d+: .*a file of traces is"):
            read(path)
    path.write_bytes(b"")
    with pytest.raises(DatasetError, match="is empty"):
        read(path)
    with pytest.raises(DatasetError, match="no such file"):
        read(tmp_path / "absent.jsonl")


def test_protobuf_of_another_message_is_an_error(tmp_path: Path) -> None:
    """Bytes that begin like a message and are none name the file and the place."""
    path = tmp_path / "t.pb"
    path.write_bytes(b"\x0a\x06\x12\x04\x12\x02\xff\xff")
    with pytest.raises(DatasetError, match=r"t\.pb, byte 0: a message is not OTLP's protobuf"):
        read(path)
    path.write_bytes(b"\x0a\x02\x0f\x0f")
    with pytest.raises(DatasetError, match=r"wire type 7 is not one of OTLP's"):
        read(path)
    path.write_bytes(b"\x00\x00\x00\x02\x0a\x00\x00\x00")  # A message, and a length that is cut.
    assert "byte 8: the file ends" in read(path)[1].cuts[0]


def test_protobuf_without_the_extra_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON needs no package."""
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    path = tmp_path / "t.pb"
    path.write_bytes(b"\x0a\x00")
    with pytest.raises(MissingDependency, match=r"pip install 'ragstone\[traces\]'"):
        read(path)
    assert read(write_traces(tmp_path / "t.jsonl", made_span("1")))[0] == ["1"]


def test_malformed_spans_are_errors_with_the_line(tmp_path: Path) -> None:
    """The message names the field, the type that it must have, and the value found."""
    for changed, message in (
        ({"attributes": 7}, r"line 1: the field 'attributes' must be a list of objects, found 7"),
        ({"status": "bad"}, r"the field 'status' must be an object, found 'bad'"),
        (
            {"startTimeUnixNano": "soon"},
            r"'startTimeUnixNano' must be a whole number, found 'soon'",
        ),
        ({"traceId": ""}, r"a span needs a traceId and a spanId"),
    ):
        path = write_traces(tmp_path / "t.jsonl", {**made_span("1"), **changed})
        with pytest.raises(DatasetError, match=message):
            read(path)


def test_messages_and_nesting_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A message with a huge length, and JSON that overflows the stack."""
    path = tmp_path / "t.pb"
    path.write_bytes((2**26 + 1).to_bytes(4, "big") + b"\x0a")
    with pytest.raises(DatasetError, match=r"messages have between 1 and 67,108,864"):
        read(path)
    monkeypatch.setattr(limits, "MAX_NESTING_LEVELS", 3)
    with pytest.raises(DatasetError, match="nested more than 3 levels"):
        read(write_traces(tmp_path / "t.jsonl", made_span("1", "", CHAIN)))
