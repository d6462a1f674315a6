"""Files of nuggets in TREC RAG's form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.readers.nuggets import read_nuggets, with_nuggets
from ragstone.errors import DatasetError
from ragstone.types import Query

LINE = {
    "qid": 2024,
    "query": "When did it sink?",
    "nuggets": [
        {"text": "It was a steamer.", "importance": "okay"},
        {"text": "It sank in 1912.", "importance": "vital"},
    ],
}


def write(tmp_path: Path, *lines: Any) -> Path:
    """Return a file with these lines."""
    path = tmp_path / "nuggets.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_nuggets_are_labels_of_queries(tmp_path: Path) -> None:
    """They replace those of the data; other labels stay."""
    path = write(tmp_path, LINE)
    found = read_nuggets(path)
    assert found["2024"].query.text == "When did it sink?"
    given = [
        Query("2024", "?", labels={"vital_nuggets": ("old",), "domain": "sea"}),
        Query("q2", "?", labels={"vital_nuggets": ("kept",)}),
    ]

    first, second = with_nuggets(given, found, path)

    assert first.labels == {
        "vital_nuggets": ("It sank in 1912.",),
        "okay_nuggets": ("It was a steamer.",),
        "domain": "sea",
    }
    assert second == given[1]


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([LINE, LINE], r"line 2: query '2024' has nuggets in line 1 already"),
        ([{**LINE, "nuggets": [{"text": "A.", "importance": "high"}]}], "nugget 1: 'importance' "),
        ([{**LINE, "nuggets": [{"text": " ", "importance": "okay"}]}], "nugget 1: .*'text' is emp"),
        ([{**LINE, "nuggets": ["A."]}], "nugget 1: expected a JSON object"),
        ([{"query": "?", "nuggets": []}], "line 1: the field 'query_id' is missing"),
        ([], "contains no nuggets"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, lines: list[Any], problem: str) -> None:
    """With the line and the value."""
    with pytest.raises(DatasetError, match=rf"nuggets.jsonl.*{problem}"):
        read_nuggets(write(tmp_path, *lines))


def test_nuggets_of_an_unknown_query_are_refused(tmp_path: Path) -> None:
    """With the file and the line."""
    path = write(tmp_path, LINE)
    with pytest.raises(DatasetError, match=r"nuggets.jsonl, line 1: the data have no query '2024'"):
        with_nuggets([Query("q1", "?")], read_nuggets(path), path)
