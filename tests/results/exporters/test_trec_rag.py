"""Answers as TREC RAG's rows: every spelling of citations, failures, and the way back."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_results import made_results

import ragstone
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.errors import DatasetError
from ragstone.results.exporters.trec_rag import TrecRag

ANSWERS = {
    "Square?": "One [1]. Two [2, 1].",
    "Range?": "One [1-2]. Two.",
    "Caret?": "One. [^2^] Two.",
    "Round?": "One (2).",
    "Word?": "One [doc 1].",
    "Absent?": "One [1][7].",
    "Empty?": "",
}
WRITTEN = {
    "Square?": [("One.", [0]), ("Two.", [1, 0])],
    "Range?": [("One.", [0, 1]), ("Two.", [])],
    "Caret?": [("One.", [1]), ("Two.", [])],
    "Round?": [("One.", [1])],
    "Word?": [("One.", [0])],
    "Absent?": [("One.", [0])],
    "Empty?": [],
}
CONTEXTS = [{"id": "p7", "text": "Seven."}, {"id": "p2", "text": "Two."}]


def answer(query: str) -> dict[str, Any]:
    """Answer in one spelling of citations, and fail once."""
    if query not in ANSWERS:
        raise RuntimeError("no route")
    return {"answer": ANSWERS[query], "contexts": CONTEXTS}


def evaluated(store: Path, system: Any = answer, **options: Any) -> Any:
    """Return the results of a system on these queries."""
    data = [{"query_id": q, "query": q, "gold_answers": ["One"]} for q in (*ANSWERS, "Failed?")]
    return ragstone.evaluate(system, data, ["Match"], store=store, **options)


def test_every_spelling_of_citations_is_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As places from 0; an absent passage is left out and told, a failed answer has no line."""
    with caplog.at_level(logging.WARNING):
        (path,) = evaluated(tmp_path / "store").export(tmp_path / "runs", "trec-rag")

    rows = [json.loads(line) for line in path.read_text().splitlines()]
    found = {
        row["topic_id"]: [(one["text"], one["citations"]) for one in row["answer"]] for row in rows
    }
    assert found == WRITTEN
    assert {tuple(row["references"]) for row in rows} == {("p7", "p2")}
    assert rows[0] == {
        "run_id": "answer",
        "topic_id": "Square?",
        "topic": "Square?",
        "references": ["p7", "p2"],
        "response_length": 2,
        "answer": [{"text": "One.", "citations": [0]}, {"text": "Two.", "citations": [1, 0]}],
    }
    assert "1 citations of passages that are not in the context were left out" in caplog.text


def test_a_run_comes_back_as_it_was(tmp_path: Path) -> None:
    """File -> experiment with recorded answers -> file: equal bytes, texts of segments included."""
    made = {"to": {"name": "trec-rag", "segments": True}}
    (first,) = evaluated(tmp_path / "a").export(tmp_path / "first", **made)
    recorded = {"name": "recorded", "path": str(first), "format": "trec-rag"}
    again = evaluated(tmp_path / "b", recorded, settings=["system"])
    (second,) = again.export(tmp_path / "second", **made)

    (system,) = again.systems
    named = first.read_bytes().replace(b'"run_id":"answer"', f'"run_id":"{system}"'.encode())
    assert second.read_bytes() == named
    rows = read_answer_rows(second).of(system)
    assert rows.predictions["Range?"].sentences == (("One.", (1, 2)), ("Two.", ()))
    assert rows.predictions["Range?"].answer == "One. Two."


def test_a_trial_is_a_file_and_none_is_overwritten(tmp_path: Path) -> None:
    """Named as in InspectorRAGet's files."""
    results = made_results(tmp_path / "store")
    files = TrecRag().export(results, tmp_path / "runs")
    assert len(files) == len(results.trials)
    names = {json.loads(path.read_text().splitlines()[0])["run_id"] for path in files}
    assert names == {f"{trial.system} | {trial.setting}" for trial in results.trials}
    with pytest.raises(DatasetError, match="already exists"):
        TrecRag().export(results, tmp_path / "runs")
