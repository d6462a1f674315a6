"""Exports of Langfuse in every published form give the same row."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.answer_rows import query_id_of
from ragstone.data.readers.traces.conversion import INCOMPLETE, TraceConverter
from ragstone.errors import DatasetError

DOCUMENTS = [{"id": "p7", "content": "It sank.", "score": 0.9}, {"id": "p2", "content": "No."}]
PROMPT = [{"role": "user", "content": "It sank. No. When?"}]
TRACE = {
    "id": "t1",
    "timestamp": "2026-01-31T09:30:00.000Z",
    "name": "ask",
    "input": {"question": "When?"},
    "output": {"answer": "1912"},
    "sessionId": "s1",
    "latency": 2.5,
    "tags": [],
}
ROOT = {
    "id": "o1",
    "traceId": "t1",
    "type": "CHAIN",
    "parentObservationId": None,
    "startTime": "2026-01-31T09:30:00.000Z",
    "endTime": "2026-01-31T09:30:02.500Z",
    "name": "chain",
    "level": "DEFAULT",
    "statusMessage": None,
    "input": {"question": "When?"},
    "output": {"answer": "1912"},
    "sessionId": "s1",
}
SEARCH = {
    **ROOT,
    "id": "o2",
    "type": "RETRIEVER",
    "parentObservationId": "o1",
    "startTime": "2026-01-31T09:30:00.100Z",
    "endTime": "2026-01-31T09:30:00.200Z",
    "input": "when sink",
    "output": DOCUMENTS,
}
CALL = {
    **ROOT,
    "id": "o3",
    "type": "GENERATION",
    "parentObservationId": "o1",
    "startTime": "2026-01-31T09:30:01.000Z",
    "endTime": "2026-01-31T09:30:02.000Z",
    "input": PROMPT,
    "output": {"role": "assistant", "content": "1912"},
    "usageDetails": {"input": 98, "output": 2, "total": 100},
    "totalCost": 0.00083,
}
OBSERVATIONS: list[dict[str, Any]] = [CALL, SEARCH, ROOT]
ROW = {
    "query_id": query_id_of("When?"),
    "query": "When?",
    "answer": "1912",
    "passage_ids": ["p7", "p2"],
    "contexts": [{"id": "p7", "text": "It sank."}, {"id": "p2", "text": "No."}],
    "steps": [
        {
            "query": "when sink",
            "passages": [
                {"id": "p7", "text": "It sank.", "score": 0.9},
                {"id": "p2", "text": "No."},
            ],
            "latency_s": 0.1,
        }
    ],
    "usage": {"tokens_in": 98, "tokens_out": 2, "cost": 0.00083, "seconds": 2.5},
    "conversation": "s1",
    "trace_id": "t1",
    "convention": "Langfuse",
}


def stored(observation: dict[str, Any]) -> dict[str, Any]:
    """Return an observation as blob storage has it: other names, texts, other times."""
    names = {
        "traceId": "trace_id",
        "parentObservationId": "parent_observation_id",
        "startTime": "start_time",
        "endTime": "end_time",
        "statusMessage": "status_message",
        "sessionId": "session_id",
        "usageDetails": "usage_details",
        "totalCost": "total_cost",
    }
    found = {names.get(name, name): value for name, value in observation.items()}
    for name in ("input", "output"):
        value = found[name]
        found[name] = value if isinstance(value, str) else json.dumps(value)
    for name in ("start_time", "end_time"):
        found[name] = found[name].replace("T", " ").replace("Z", "000")
    return {**found, "parent_observation_id": found["parent_observation_id"] or ""}


def write_csv(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write a table, lists and objects as JSON."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        for row in rows:
            texts = {n: v if isinstance(v, str) else json.dumps(v) for n, v in row.items() if v}
            writer.writerow(texts)
    return path


def convert(*paths: Path) -> tuple[list[dict[str, Any]], TraceConverter]:
    """Return the rows of files, and their converter."""
    converter = TraceConverter(paths)
    return list(converter.rows()), converter


def lines(path: Path, rows: list[Any]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


FORMS: dict[str, Any] = {
    "a page of the API": {"data": OBSERVATIONS, "meta": {"cursor": "x"}},
    "a list": OBSERVATIONS,
    "the file of a trace": {
        "trace": {**TRACE, "observations": ["o1"]},
        "observations": OBSERVATIONS,
    },
    "a trace of the API": {**TRACE, "observations": OBSERVATIONS, "scores": []},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("indent", [None, 2])
def test_json_of_the_api_and_the_pages(tmp_path: Path, form: str, indent: int | None) -> None:
    """Observations alone, and with their trace."""
    path = tmp_path / "traces.json"
    path.write_text(json.dumps(FORMS[form], indent=indent))
    rows, converter = convert(path)
    assert rows == [ROW]
    assert not converter.found.skipped


def test_files_of_blob_storage(tmp_path: Path) -> None:
    """Enriched observations as JSON lines; traces and observations in files of their own."""
    observations = lines(tmp_path / "observations.jsonl", [stored(one) for one in OBSERVATIONS])
    assert convert(observations)[0] == [ROW]
    trace: dict[str, Any] = {
        "id": "t1",
        "timestamp": "2026-01-31 09:30:00.000000",
        "session_id": "s1",
    }
    trace |= {"input": '{"question": "When?"}', "output": "1912", "user_id": None}
    legacy = [{k: v for k, v in stored(one).items() if k != "session_id"} for one in OBSERVATIONS]
    scores = [{"id": "s", "trace_id": "t1", "value": 1, "data_type": "NUMERIC"}]
    rows, converter = convert(
        lines(tmp_path / "traces.jsonl", [trace]),
        lines(tmp_path / "legacy.jsonl", legacy),
        lines(tmp_path / "scores.jsonl", scores),
    )
    assert rows[0]["conversation"] == "s1"
    assert {**rows[0], "usage": ROW["usage"]} == ROW
    assert converter.found.skipped == {"it is a score": 1}


@pytest.mark.parametrize("rows", [OBSERVATIONS, [stored(one) for one in OBSERVATIONS]])
def test_tables(tmp_path: Path, rows: list[dict[str, Any]]) -> None:
    """CSV of the pages and of blob storage; a quote that never ends is a cut."""
    path = write_csv(tmp_path / "observations.csv", rows)
    assert convert(path)[0] == [ROW]
    path.write_text(path.read_text() + '"cut here')
    found, converter = convert(path)
    assert found == [ROW]
    assert "a quote that is opened in this row never ends" in converter.found.cuts[0]


def test_a_cut_list_gives_the_records_before_the_cut(tmp_path: Path) -> None:
    """Without its root, which comes last, the trace is incomplete."""
    path = tmp_path / "traces.json"
    text = json.dumps([*OBSERVATIONS, {**ROOT, "id": "o9", "traceId": "t2"}])
    path.write_text(text[: text.index('"o9"') + 30])
    rows, converter = convert(path)
    assert rows == [ROW]
    assert len(converter.found.cuts) == 1
    path.write_text(json.dumps([CALL, SEARCH])[:-20])
    assert convert(path)[1].found.without_row == {INCOMPLETE: 1}


def test_observations_without_a_root_are_one_query(tmp_path: Path) -> None:
    """A search and a generation directly below a trace that is not in the export."""
    tops = [{**one, "parentObservationId": None} for one in (SEARCH, CALL)]
    (row,) = convert(lines(tmp_path / "t.jsonl", tops))[0]
    assert (row["query"], row["answer"], len(row["steps"])) == ("when sink", "1912", 1)


def test_spans_named_after_retrieval_are_searches(tmp_path: Path) -> None:
    """SDKs before the type RETRIEVER wrote spans; events are nothing."""
    old = {**SEARCH, "type": "SPAN", "name": "VectorStoreRetriever"}
    event = {**ROOT, "id": "o8", "type": "EVENT", "parentObservationId": "o1", "endTime": None}
    assert convert(lines(tmp_path / "t.jsonl", [ROOT, old, CALL, event]))[0] == [ROW]


def test_errors_and_traces_alone(tmp_path: Path) -> None:
    """An observation of the level ERROR; a table of traces has queries and answers."""
    failed = {**ROOT, "level": "ERROR", "statusMessage": "rate limit"}
    (row,) = convert(lines(tmp_path / "t.jsonl", [failed, SEARCH]))[0]
    assert (row["answer"], row["reason"]) == (None, "rate limit")
    (row,) = convert(lines(tmp_path / "t.jsonl", [TRACE]))[0]
    assert (row["query"], row["answer"]) == ("When?", "1912")
    assert row["usage"] == {"seconds": 2.5}
    assert "steps" not in row


def test_bad_records(tmp_path: Path) -> None:
    """Records of no known form are counted; a bad time and a bare text are errors with the line."""
    path = lines(tmp_path / "t.jsonl", [ROOT, {"a": 1, "b": 2}])
    reason = "it is neither a span of OTLP nor an observation of Langfuse (fields: a, b)"
    assert convert(path)[1].found.skipped == {reason: 1}
    lines(path, [ROOT, {**ROOT, "startTime": "yesterday"}])
    with pytest.raises(DatasetError, match=r"line 2: expected a time such as .*yesterday"):
        convert(path)
    lines(path, [ROOT, "text"])
    with pytest.raises(DatasetError, match=r"line 2: expected a JSON object, found 'text'"):
        convert(path)
