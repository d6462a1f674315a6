"""Misspelt fields are errors or warnings with the nearest field; all other names are labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.gold_queries import read_gold
from ragstone.data.load import load_dataset
from ragstone.data.readers.answer_lines import read_answers
from ragstone.data.writers.folder import write_dataset
from ragstone.data_quality.lenient_reader import read_leniently
from ragstone.errors import DatasetError

QUERY = {"_id": "q", "text": "Who?"}


def written(path: Path, *rows: dict[str, Any]) -> Path:
    """Write JSON lines and return their path."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("field", "nearest"),
    [
        ("answer", "answers"),
        ("Answers", "answers"),
        ("anwsers", "answers"),
        ("gold_answer", "answers"),
        ("rewrites", "rewrite"),
        ("hystory", "history"),
    ],
)
def test_a_misspelt_field_is_an_error_with_the_line(
    tmp_path: Path, field: str, nearest: str
) -> None:
    """It would be a label, and the query would have no gold answer."""
    path = written(tmp_path / "queries.jsonl", QUERY, {**QUERY, "_id": "r", field: ["Bo"]})

    problem = f"line 2: the field '{field}' is unknown; did you mean '{nearest}'"
    with pytest.raises(DatasetError, match=problem):
        load_dataset(tmp_path)
    with pytest.raises(DatasetError, match=problem):
        read_gold(path)
    (fault,) = read_leniently(tmp_path).faults
    assert (fault.place, fault.kind) == ("queries.jsonl, line 2", "malformed")


def test_other_names_are_labels(tmp_path: Path) -> None:
    """Names that resemble no field, and names within `metadata`, are labels."""
    names = ("answerable", "title", "source", "id", "test", "answered", "story", "context")
    labels = dict.fromkeys(names, "x")
    written(tmp_path / "queries.jsonl", {**QUERY, **labels, "metadata": {"answer": "Bo"}})

    assert load_dataset(tmp_path).queries[0].labels == {**labels, "answer": "Bo"}


def test_a_similar_label_beside_its_field_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The field is read, and the warning names the label, the field and the first line."""
    rows = [{**QUERY, "_id": i, "answers": ["Bo"], "answer": "Bo"} for i in ("q", "r")]
    written(tmp_path / "queries.jsonl", *rows)

    assert load_dataset(tmp_path).queries[0].gold_answers == ("Bo",)
    (warning,) = caplog.messages
    assert warning.endswith("queries.jsonl, line 1: 'answer' is a label, and not 'answers'")


def test_a_misspelt_label_of_ragstone_is_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """`answerabilty` would otherwise be a label that nothing reads."""
    written(tmp_path / "queries.jsonl", {**QUERY, "answerabilty": "unanswerable"})

    load_dataset(tmp_path)

    assert "'answerabilty' is a label, and not 'answerability'" in caplog.text


def test_turns_and_passages_have_their_own_fields(tmp_path: Path) -> None:
    """The error names the turn, or the line of the corpus."""
    turn = {"user": "Who?", "assistant": "Bo"}
    written(tmp_path / "conversations.jsonl", {"_id": "c", "turns": [turn]})
    with pytest.raises(DatasetError, match=r"line 1: turn 1: the field 'assistant' .* 'agent'"):
        load_dataset(tmp_path)

    written(tmp_path / "corpus.jsonl", {"_id": "p", "text": "Bo.", "titles": "Bo"})
    with pytest.raises(DatasetError, match=r"corpus.jsonl, line 1: .* did you mean 'title'"):
        load_dataset(tmp_path)
    with pytest.raises(DatasetError, match=r"passages, record 1: .*'title'"):
        Dataset.from_records(passages=[{"passage_id": "p", "text": "Bo.", "Title": "Bo"}])


def test_answers_have_their_own_fields(tmp_path: Path) -> None:
    """`contxts` would otherwise leave the context unknown."""
    path = written(tmp_path / "a.jsonl", {"query_id": "q", "answer": "Bo", "contxts": ["Bo."]})

    with pytest.raises(DatasetError, match=r"line 1: .*'contxts' is unknown; did you mean 'cont"):
        read_answers(path)


def test_a_written_label_that_resembles_a_field_reads_back(tmp_path: Path) -> None:
    """The writer puts it into `metadata`."""
    record = {"query_id": "q", "text": "Who?", "metadata": {"answer": "Bo"}}
    dataset = Dataset.from_records(queries=[record])

    write_dataset(dataset, tmp_path)

    assert load_dataset(tmp_path).queries == dataset.queries
