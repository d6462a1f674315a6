"""Marks of what a model was trained on: they meet the same data under other ids, and no other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.data.dataset import Dataset
from ragstone.data.training_marks import (
    counted,
    document_of,
    marks_of,
    marks_text,
    overlap,
    read_marks,
    training_marks,
)
from ragstone.errors import ConfigError


def dataset(name: str = "one", *, query: str = "Who built it?", **passage: Any) -> Dataset:
    """Return a data set with a query and its gold passage."""
    gold = {"passage_id": "p", "text": "Ann built it.", **passage}
    return Dataset.from_records(
        queries=[{"query_id": "q", "text": query}, {"query_id": "far", "text": "Why so?"}],
        passages=[gold, {"passage_id": "other", "text": "Bo."}],
        qrels=[("q", gold["passage_id"], 1), ("q", "other", 0)],
        name=name,
    )


@pytest.mark.parametrize(
    "data",
    [
        dataset("two", query="who  BUILT it", passage_id="p9", text="Cy did."),
        dataset("two", query="By whom?", passage_id="p9", text="ann built it"),
        dataset("one", query="By whom?", passage_id="p9", text="Cy did.", document_id="d"),
        dataset("two", query="Whom?", passage_id="p9", text="Cy did.", document_id="d", title="T"),
    ],
    ids=["question", "passage", "document", "page"],
)
def test_the_same_data_is_met_under_other_ids(data: Dataset) -> None:
    """One equal thing is enough: question, passage, document, or title of the document."""
    marks = training_marks(dataset(document_id="d", title="T"), ["q"])

    assert overlap(marks, data) == ["q"]


def test_other_data_is_not_met() -> None:
    """A document's id alone says nothing about another data set, nor does a judged zero."""
    marks = training_marks(dataset(document_id="d", title="T"), ["q"])
    other = dataset("two", query="By whom?", text="Cy did.", document_id="d", title="U")

    assert overlap(marks, other) == []
    assert overlap(training_marks(dataset(), ["far"]), dataset()) == ["far"]


def test_turns_are_met_by_their_conversation() -> None:
    """The second turn of a conversation has the first one in its history."""
    turns = [{"user": "Who?", "agent": "Ann."}, {"user": "When?", "agent": "1912."}]
    data = Dataset.from_records(conversations=[{"conversation_id": "c", "turns": turns}])
    first, second = data.queries

    assert overlap(training_marks(data, [first.query_id]), data) == [
        first.query_id,
        second.query_id,
    ]


def test_the_file_has_no_text_of_the_data(tmp_path: Path) -> None:
    """Kinds and digests alone; written and read again they are the same."""
    marks = training_marks(dataset(document_id="d", title="T"), ["q"])
    path = tmp_path / "documents.txt"
    path.write_text(marks_text(marks), encoding="utf-8")

    assert read_marks(path) == marks
    assert counted(marks) == {"query": 1, "conversation": 0, "passage": 1, "document": 1, "page": 1}
    assert "built" not in path.read_text("utf-8").lower()
    assert marks_text([]) == "ragstone training marks 1\n"


def test_a_document_is_named_as_well_as_possible() -> None:
    """By its id, else by the title of the passage, else by the passage."""
    assert document_of(dataset(document_id="d", title="T"), "p") == "d"
    assert document_of(dataset(title="T"), "p") == "T"
    assert document_of(dataset(), "p") == "p"


def test_other_files_are_refused(tmp_path: Path) -> None:
    """A file of something else is not a list of marks."""
    path = tmp_path / "documents.txt"
    with pytest.raises(ConfigError, match="cannot read the training marks"):
        read_marks(path)
    path.write_text("hello\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"not a file of training marks: .*found 'hello'"):
        read_marks(path)


def test_a_query_without_judgements_is_marked_by_its_text() -> None:
    """A set without qrels is met by its questions alone."""
    data = Dataset.from_records(queries=[{"query_id": "q", "text": "Who?"}])

    assert counted(marks_of(data)["q"])["query"] == 1 == len(marks_of(data)["q"])
