"""Answers read by query equal those of the whole file; a flaw ends the index."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ragstone.core import limits
from ragstone.data.readers.answer_index import AnswerIndex, NotPlain
from ragstone.data.readers.answer_lines import read_answers

ROWS: list[dict[str, object]] = [
    {"query_id": "q1", "answer": "Paris", "contexts": ["Paris is in France."]},
    {"query_id": "q2", "answer": None, "reason": "timed out"},
    {"query_id": "東京", "answer": "東京 e\u0301", "usage": {"tokens_in": 3}},
    {"query_id": "q4", "answer": ""},
]


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    """Write JSON lines with a blank line in the middle."""
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join([*lines[:2], "", *lines[2:]]))
    return path


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 0, 2, 1), (2,)])
def test_answers_are_those_of_the_whole_file(tmp_path: Path, order: Sequence[int]) -> None:
    """In any order of the queries, and the rest is named in the order of the file."""
    path = write(tmp_path / "answers.jsonl", ROWS)
    ids = [str(ROWS[i]["query_id"]) for i in order]
    index, whole = AnswerIndex(path), read_answers(path).predictions

    assert index.read([*ids, "unknown"]) == {i: whole[i] for i in ids}
    assert index.others() == [i for i in whole if i not in ids]
    assert len(index) == len(ROWS)


def test_a_long_answer_is_read_alone(tmp_path: Path) -> None:
    """An answer of several blocks is read among short ones, and neighbours stay whole."""
    long = "word " * (limits.SCORED_CHARACTERS // 4)
    path = write(tmp_path / "a.jsonl", [*ROWS[:2], {"query_id": "l", "answer": long}, *ROWS[2:]])

    assert AnswerIndex(path).read(["q1", "q2", "l", "q4"]).keys() == {"q1", "q2", "l", "q4"}
    assert AnswerIndex(path).read(["l"])["l"].answer == long


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"query_id": "q1", "answer": "a"}\n{"query_id": "q1", "answer": "b"}\n',
        b'{"query_id": 7, "answer": "a"}\n',
        b'{"answer": "a"}\n',
        b"[1]\n",
        b'{"query_id": "q1"\n',
        b'\xef\xbb\xbf{"query_id": "q1", "answer": "a"}\n',
    ],
)
def test_a_flaw_ends_the_index(tmp_path: Path, content: bytes) -> None:
    """The whole file shows where it is."""
    path = tmp_path / "answers.jsonl"
    path.write_bytes(content)
    with pytest.raises(NotPlain):
        AnswerIndex(path)


@pytest.mark.parametrize("row", ['"answer": 3', '"anwser": "a"', '"answer": "a", "usage": 3'])
def test_a_wrong_field_ends_the_reading(tmp_path: Path, row: str) -> None:
    """A field is checked when its answer is read, also one without a query."""
    path = tmp_path / "answers.jsonl"
    path.write_text(f'{{"query_id": "q1", {row}}}\n')
    with pytest.raises(NotPlain):
        AnswerIndex(path).read(["q1"])
    with pytest.raises(NotPlain):
        AnswerIndex(path).others()
    with pytest.raises(NotPlain):
        AnswerIndex(tmp_path / "answers.jsonl.gz")
