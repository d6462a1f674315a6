"""Answers in JSON lines of Ragstone's own form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.answer_lines import has_own_rows, read_answer_lines, read_answers
from ragstone.errors import DatasetError
from ragstone.types import Passage, Prediction


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


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    """Write a file of some lines."""
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


@pytest.mark.parametrize(
    ("name", "row", "is_own"),
    [
        ("a.jsonl", {"query_id": "q", "answer": "Bo"}, True),
        ("a.json", {"query_id": "q", "answer": "Bo"}, False),
        ("a.jsonl", {"query_id": "q", "question": "?", "answer": None, "response": "x"}, True),
        ("a.jsonl", {"id": "q", "question": "?", "answer": "Bo"}, False),
        ("a.jsonl", {"query_id": "q", "response": "Bo"}, False),
        ("a.jsonl", {"answer": "Bo"}, True),
        ("a.jsonl", {"query_id": "q"}, True),
        ("a.jsonl", {"answer": "Bo", "input": "?"}, False),
    ],
)
def test_the_first_line_shows_whether_the_form_is_ours(
    tmp_path: Path, name: str, row: dict[str, Any], *, is_own: bool
) -> None:
    """Other names of the question or of the answer belong to tables; an empty file is ours."""
    assert has_own_rows(lines(tmp_path / name, row, {"question": "?"})) == is_own
    (tmp_path / name).write_text("")
    assert has_own_rows(tmp_path / name) == name.endswith(".jsonl")


def test_answers_are_those_of_a_system_and_a_setting(tmp_path: Path) -> None:
    """Several settings of a query are two answers; to score them, one is chosen."""
    path = lines(
        tmp_path / "a.jsonl",
        {"query_id": "q", "answer": "A", "setting": "none", "system": "x"},
        {"query_id": "q", "answer": "B", "setting": "gold", "system": "x", "contexts": ["Text."]},
        {"query_id": "p", "answer": "C", "setting": "none", "system": "y"},
        {"query_id": "p", "answer": "D", "setting": "gold"},
    )
    everything = read_answer_lines(path)
    assert {key: one.answer for key, one in everything.items()} == {
        ("q", "none"): "A", ("q", "gold"): "B", ("p", "none"): "C", ("p", "gold"): "D",
    }  # fmt: skip
    assert list(read_answer_lines(path, system="x")) == [("q", "none"), ("q", "gold")]
    assert list(read_answer_lines(path, system="y")) == [("p", "none")]
    gold = read_answers(path, "gold")
    assert {name: one.answer for name, one in gold.predictions.items()} == {"q": "B", "p": "D"}
    assert list(gold.contexts) == ["q"]
    with pytest.raises(DatasetError, match="query 'q' has answers of several settings; name one"):
        read_answers(path)
    with pytest.raises(DatasetError, match="contains no answer of the setting 'golden'"):
        read_answers(path, "golden")
    with pytest.raises(DatasetError, match="contains no answers; each line is an object"):
        read_answer_lines(path, system="z")


@pytest.mark.parametrize(
    ("row", "prediction"),
    [
        ({"answer": "Bo"}, Prediction("q", "Bo")),
        ({"answer": "Bo", "reason": "late"}, Prediction("q", "Bo")),
        ({"answer": None, "reason": "late"}, Prediction("q", None, "late")),
        ({"answer": None}, Prediction("q", None, "recorded as a failure")),
        ({"answer": None, "reason": 5}, Prediction("q", None, "5")),
        ({"answer": "Bo", "seconds": 2}, Prediction("q", "Bo", seconds=2.0)),
        ({"answer": "Bo", "contexts": ["T"]}, Prediction("q", "Bo", contexts=(Passage("", "T"),))),
        ({"answer": "Bo", "contexts": "T"}, Prediction("q", "Bo", contexts=(Passage("", "T"),))),
        ({"answer": "B", "contexts": []}, Prediction("q", "B", passage_ids=(), contexts=())),
        ({"answer": "Bo", "contexts": None}, Prediction("q", "Bo")),
    ],
)
def test_a_line_is_an_answer_or_a_failure(
    tmp_path: Path, row: dict[str, Any], prediction: Prediction
) -> None:
    """Null is a failure with its reason."""
    path = lines(tmp_path / "a.jsonl", {"query_id": "q", **row})

    assert read_answer_lines(path) == {("q", ""): prediction}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"query_id": "q"}, "line 2: the field 'answer' is missing"),
        ({"answer": "Bo"}, "line 2: the field 'query_id' is missing"),
        ({"query_id": "q", "answer": 3}, "line 2: the field 'answer' must be text, found 3"),
        ({"query_id": "p", "answer": "B"}, r"line 2: a second .* 'p' \(the first is in line 1\)"),
        ({"query_id": "q", "answer": "B", "contexts": 3}, "line 2"),
        ({"query_id": "q", "answer": "B", "contexts": [3]}, "line 2"),
        ({"query_id": "q", "answer": "B", "contexts": [{"page_content": 3}]}, "line 2"),
        ({"query_id": "q", "answer": "B", "settin": "x"}, "line 2: the field 'settin' is unknown"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    """The error has the file, the line and the value."""
    path = lines(tmp_path / "a.jsonl", {"query_id": "p", "answer": "A"}, row)
    with pytest.raises(DatasetError, match=message) as caught:
        read_answers(path)
    assert (caught.value.path, caught.value.line) == (path, 2)
