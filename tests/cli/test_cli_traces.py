"""`ragstone traces convert`: rows that `ragstone score` takes, and what became of every trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.fakes.made_traces import made_span, write_traces
from tests.fakes.traced_rag import CORPUS, GenAI, OpenInference, TracedRag, recording

from ragstone.cli import root
from ragstone.data.readers.answer_rows import query_id_of
from ragstone.errors import DatasetError


def invoke(*arguments: str | Path) -> Result:
    """Run the command line; errors of Ragstone are raised."""
    return CliRunner().invoke(
        root, list(map(str, arguments)), catch_exceptions=False, standalone_mode=False
    )


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(params=[OpenInference, GenAI])
def recorded(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, TracedRag]:
    """A file of traces of one convention, and the log of the application."""
    path = tmp_path / "traces.jsonl"
    with recording(path) as tracer:
        rag = TracedRag(tracer, request.param())
        rag.ask_all([f"When ferry {n}?" for n in range(20)])
    return path, rag


def test_rows_of_traces_score_like_the_rows_of_the_application(
    recorded: tuple[Path, TracedRag], tmp_path: Path
) -> None:
    """Every score is equal to that of the application's own rows, with gold answers by id."""
    path, rag = recorded
    corpus = write(tmp_path / "corpus.jsonl", [{"_id": i, "text": t} for i, t in CORPUS.items()])
    rows = tmp_path / "rows.jsonl"
    invoke("traces", "convert", path, "-o", rows, "--corpus", corpus)
    own = [{"query_id": query_id_of(query), **row} for query, row in rag.log.items()]
    asked = sorted(own, key=lambda row: str(row["query"]))
    answers = [row["answer"] if n % 2 else "no" for n, row in enumerate(asked)]
    gold = [
        {"_id": row["query_id"], "text": row["query"], "answers": [answer or "no"]}
        for row, answer in zip(asked, answers, strict=True)
    ]
    scores = []
    for path in (rows, write(tmp_path / "own.jsonl", own)):
        options = ("--gold", write(tmp_path / "gold.jsonl", gold), "--json")
        result = invoke("score", path, *options, "--metrics", "EM,F1,K-precision")
        scores.append(json.loads(result.stdout))
    assert scores[0] == scores[1]
    assert 0 < scores[0]["EM"]["mean"] < 1
    assert scores[0]["K-precision"]["failed"] == 4
    assert invoke("score", rows, "--metrics", "K-precision").exit_code == 0


def test_the_json_tells_what_became_of_every_trace(tmp_path: Path) -> None:
    """Counts and reasons, versions of conventions, schemas, and the file written."""
    chain = {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."}
    path = write_traces(
        tmp_path / "t.jsonl",
        made_span("1", "", chain),
        made_span("2", "", chain, traceId="u"),
        made_span("3", "9", chain, traceId="v"),
    )
    rows = tmp_path / "rows.jsonl"
    arguments = ("traces", "convert", path, "-o", rows, "--system", "v2")
    found = json.loads(invoke(*arguments, "--json").stdout)
    assert (found["rows"], found["traces"], found["spans"]) == (2, 3, 3)
    assert list(found["without_row"].values()) == [1]
    assert found["conventions"]["OpenInference"] == {
        "spans": 3,
        "written_against": "openinference-semantic-conventions 0.1.42",
    }
    assert found["files"] == [str(rows)]
    written = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [(row["system"], row["trace_id"]) for row in written] == [("v2", "t"), ("v2", "u")]

    text = invoke(*arguments, "--keep-incomplete").stdout
    assert "rows.jsonl: 3 rows of 3 traces with 3 spans" in text
    assert "the query was asked before" in text


def test_without_a_row_nothing_is_written(tmp_path: Path) -> None:
    """The error has the reasons, and an earlier file stays as it was."""
    path = write_traces(tmp_path / "t.jsonl", made_span("1", "", {"http.route": "/"}))
    rows = write(tmp_path / "rows.jsonl", [{"query_id": "q", "answer": "a"}])
    before = rows.read_bytes()
    with pytest.raises(DatasetError, match=r"no trace that makes a row(?s:.*)known convention"):
        invoke("traces", "convert", path, "-o", rows)
    assert rows.read_bytes() == before
    chain = {"openinference.span.kind": "CHAIN", "input.value": "Why?", "output.value": "So."}
    write_traces(path, made_span("1", "", chain))
    with pytest.raises(DatasetError, match="cannot write"):
        invoke("traces", "convert", path, "-o", tmp_path)
