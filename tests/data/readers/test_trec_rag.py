"""Rows of TREC RAG: sentences, citations by place and by id, texts of references, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.data.readers.rows import FieldError, Row
from ragstone.data.readers.trec_rag import trec_row
from ragstone.errors import DatasetError
from ragstone.types import Passage

ROW: dict[str, Any] = {
    "run_id": "mine",
    "topic_id": "q1",
    "topic": "When did it sink?",
    "references": ["p7", "p2", "p5"],
    "response_length": 7,
    "answer": [
        {"text": "It sank in 1912. That was in April.", "citations": [1, 0, 1]},
        {"text": "See [2].", "citations": []},
    ],
}


def read(tmp_path: Path, *rows: Any) -> Any:
    """Return the answers of the system `mine`."""
    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return read_answer_rows(path, format_name="trec-rag").of("mine")


def test_sentences_keep_their_citations(tmp_path: Path) -> None:
    """A sentence is what the row calls one, and brackets in its text are no citations."""
    found = read(tmp_path, ROW).predictions["q1"]

    assert found.answer == "It sank in 1912. That was in April. See [2]."
    assert found.sentences == (
        ("It sank in 1912. That was in April.", (2, 1)),
        ("See [2].", ()),
    )
    assert found.passage_ids == ("p7", "p2", "p5")
    assert found.contexts is None


def test_citations_by_id_need_no_list_of_references(tmp_path: Path) -> None:
    """The cited ids are the references, in the order of their first citation."""
    answer = [{"text": "One.", "citations": ["b", "a"]}, {"text": "Two.", "citations": ["a"]}]
    found = read(tmp_path, {"run_id": "mine", "topic_id": "q", "answer": answer})
    assert found.predictions["q"].passage_ids == ("b", "a")
    assert found.predictions["q"].sentences == (("One.", (1, 2)), ("Two.", (2,)))
    given = {**ROW, "answer": [{"text": "One.", "citations": ["p5"]}]}
    assert read(tmp_path, given).predictions["q1"].sentences == (("One.", (3,)),)


@pytest.mark.parametrize(
    "more",
    [
        {"segments": {"p7": "Seven.", "p2": "Two."}},
        {"segments": ["Seven.", "Two.", None]},
        {"segments": [{"docid": "p2", "segment": "Two."}, {"docid": "p7", "segment": "Seven."}]},
        {"references": [{"docid": "p7", "text": "Seven."}, {"id": "p2", "text": "Two."}, "p5"]},
    ],
)
def test_texts_of_references_are_read(tmp_path: Path, more: dict[str, Any]) -> None:
    """In every form; an unknown text is empty."""
    found = read(tmp_path, {**ROW, **more}).predictions["q1"]
    assert found.passage_ids == ("p7", "p2", "p5")
    assert found.contexts == (Passage("p7", "Seven."), Passage("p2", "Two."), Passage("p5", ""))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            {"answer": [{"text": "One.", "citations": [0, 3]}]},
            r"sentence 1: it cites reference 3, which is absent: places are 0 to 2",
        ),
        ({"answer": [{"text": "One.", "citations": [-1]}]}, "cites reference -1, which is absent"),
        ({"answer": [{"text": "One.", "citations": ["p9"]}]}, "cites reference 'p9', which is"),
        ({"answer": [{"text": "One.", "citations": [True]}]}, "cites reference True, which is"),
        ({"answer": [{"text": "One.", "citations": 1}]}, "'citations' must be a list, found 1"),
        ({"answer": [{"text": " ", "citations": []}]}, "sentence 1: it has no text"),
        ({"references": ["p7", "p7"]}, "the reference 'p7' is listed twice"),
        ({"references": ["p7", {}]}, r"reference 1 has no id, found \{\}"),
        ({"references": "p7"}, "'references' must be a list of ids"),
        ({"references": None}, "cites reference 1, and the row has no 'references'"),
        ({"references": []}, "cites reference 1, which is absent: the row has no reference"),
    ],
)
def test_a_malformed_row_is_named(tmp_path: Path, change: dict[str, Any], problem: str) -> None:
    """With the file, the line and the value."""
    with pytest.raises(DatasetError, match=rf"run.jsonl, line 2: .*{problem}"):
        read(tmp_path, ROW, {**ROW, "topic_id": "q2", **change})


def test_a_topic_twice_is_an_error(tmp_path: Path) -> None:
    """With the line of the second answer."""
    with pytest.raises(DatasetError, match=r"run.jsonl, line 2: query 'q1' has a second answer"):
        read(tmp_path, ROW, ROW)


def test_an_empty_answer_and_a_failure_are_different(tmp_path: Path) -> None:
    """An empty list is an empty answer; null is a failed one."""
    rows = read(tmp_path, {**ROW, "answer": []}, {**ROW, "topic_id": "q2", "answer": None})
    assert (rows.predictions["q1"].answer, rows.predictions["q1"].status) == ("", "empty")
    assert rows.predictions["q2"].status == "failed"


def test_a_row_is_changed_alone() -> None:
    """The function of one row, without a file."""
    with pytest.raises(FieldError, match="it has no text, found 7"):
        trec_row(Row(references=[], answer=[7]))
    assert trec_row(Row(answer="Text.")) == {"answer": "Text."}
