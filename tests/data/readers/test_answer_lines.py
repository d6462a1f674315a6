"""Answers in JSON lines of Ragstone's own form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ragstone.data.readers.answer_lines import has_own_rows, read_answer_lines, read_answers
from ragstone.types import Passage


def written(path: Path, row: dict[str, Any]) -> Path:
    """Write a file of one line."""
    path.write_text(json.dumps(row))
    return path


def test_scored_lines_keep_what_the_system_reports(tmp_path: Path) -> None:
    """Confidence, usage and steps are read as from a reply; the steps' passages are the context."""
    steps = [{"query": "Who?", "contexts": ["A text."]}]
    row = {"query_id": "q", "answer": "Bo", "confidence": 0.5, "usage": {"cost": 2}, "steps": steps}

    found = read_answers(written(tmp_path / "a.jsonl", row))

    only = found.predictions["q"]
    assert (only.confidence, only.cost, len(only.steps or ())) == (0.5, 2.0, 1)
    assert found.contexts["q"].passages[0].text == "A text."


def test_the_context_may_be_one_text(tmp_path: Path) -> None:
    """`context` is another name of `contexts`; objects of other tools have their text."""
    path = written(tmp_path / "A.JSONL", {"query_id": "q", "answer": "Bo", "context": "A text."})

    assert has_own_rows(path)
    assert read_answer_lines(path)["q", ""].contexts == (Passage("", "A text."),)
    documents = [{"page_content": "One.", "metadata": {}}, {"id": "p2", "text": "Two."}]
    written(path, {"query_id": "q", "answer": "Bo", "contexts": documents})
    assert read_answer_lines(path)["q", ""].contexts == (Passage("", "One."), Passage("p2", "Two."))


def test_ids_alone_are_no_context_to_score(tmp_path: Path) -> None:
    """A judge would see an empty text."""
    row = {"query_id": "q", "answer": "Bo", "contexts": [{"id": "p1"}]}

    found = read_answers(written(tmp_path / "a.jsonl", row))

    assert found.contexts == {}
    assert found.predictions["q"].passage_ids == ("p1",)
