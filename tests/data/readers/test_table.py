"""Tables of questions as data sets: any column names, squad-like rows, rows of answers."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import ragstone
from ragstone.data.load import layout
from ragstone.errors import ConfigError, DatasetError


def write(folder: Path, text: str, name: str = "qa.csv") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text)
    return path


def test_a_csv_file_is_a_data_set(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its columns are guessed and told; other columns are labels."""
    path = write(tmp_path, "Question,answer,topic\nWhere?,A,places\nWhen?,\"['1912', '12']\",\n")

    with caplog.at_level(logging.WARNING):
        dataset = ragstone.load_dataset(path)

    assert [(q.text, q.gold_answers, dict(q.labels)) for q in dataset.queries] == [
        ("Where?", ("A",), {"topic": "places"}),
        ("When?", ("1912", "12"), {}),
    ]
    assert (dataset.name, len(dataset.corpus)) == ("qa", 0)
    assert "text=Question, gold_answers=answer" in caplog.text


def test_columns_can_be_named(tmp_path: Path) -> None:
    """By role; two candidates are an error that names both."""
    path = write(tmp_path, "question,query,truth\na,b,c\n")
    with pytest.raises(ConfigError, match="'question' and 'query' may both be text"):
        ragstone.load_dataset(path)

    columns = {"text": "question", "gold_answers": "truth"}
    (query,) = ragstone.load_dataset({"path": path, "columns": columns}).queries
    assert (query.text, query.gold_answers, query.labels) == ("a", ("c",), {"query": "b"})


def test_squad_like_rows_have_a_corpus_and_qrels(tmp_path: Path) -> None:
    """Equal contexts are one passage."""
    rows = [
        {
            "id": f"q{n}",
            "title": "Ferry_lines",
            "context": "The ferry leaves at 7:40.",
            "question": f"When, {n}?",
            "answers": {"text": ["7:40", "7:40"], "answer_start": [20, 20]},
        }
        for n in range(2)
    ]
    for name, text in (
        ("train.jsonl", "\n".join(map(json.dumps, rows))),
        ("train.json", json.dumps(rows)),
    ):
        dataset = ragstone.load_dataset(write(tmp_path, text, name))
        (passage,) = dataset.corpus
        assert passage.full_text == "Ferry lines\nThe ferry leaves at 7:40."
        assert dataset.qrels == {f"q{n}": {passage.passage_id: 1} for n in range(2)}
        assert dataset.queries[0].gold_answers == ("7:40",)


def test_rows_of_answers_are_a_data_set_too(tmp_path: Path) -> None:
    """The answers and contexts of systems are no labels; a query counts once."""
    text = "query,gold_answers,answer,contexts,system\nWhere?,Paris,x,c,a\nWhere?,Paris,y,c,b\n"
    (query,) = ragstone.load_dataset(write(tmp_path, text)).queries
    assert (query.gold_answers, query.labels) == (("Paris",), {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question\nWhere?\nWhere?\n", "line 3: the query id 'q-.*' occurs in line 2"),
        ("question\n", "contains no row"),
        ('question\n"Where?\n', r"line 2: a quote .* never ends"),
        ("question,answers\nWhere?,{'text': array(['x'])}\n", r"line 2: .* array as numpy prints"),
    ],
)
def test_a_malformed_table_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    """Of the row with the problem."""
    with pytest.raises(DatasetError, match=message):
        ragstone.load_dataset(write(tmp_path, text))


def test_rows_of_mirage_keep_their_reader(tmp_path: Path) -> None:
    """A file of rows with its pool is MIRAGE's hub copy."""
    assert layout(write(tmp_path, '{"query_id": "a", "doc_pool": []}', "train.jsonl")) == "mirage"
    assert layout(write(tmp_path, '{"query_id": "a", "query": "b"}', "train.jsonl")) == "table"
    assert layout(write(tmp_path, "[]", "train.json")) == "table"


def test_no_column_may_have_a_role(tmp_path: Path) -> None:
    """With null, the answers of a system are not taken for gold answers."""
    path = write(tmp_path, "query,answer,confidence\nWhere?,Paris,0.5\n")
    (query,) = ragstone.load_dataset(path).queries
    assert query.gold_answers == ("Paris",)
    (query,) = ragstone.load_dataset({"path": path, "columns": {"gold_answers": None}}).queries
    assert (query.gold_answers, query.labels) == ((), {})


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    """As Excel writes it; a file in another encoding names its line."""
    path = write(tmp_path, "\ufeffquestion,answer\nWhere?,Paris\n")
    assert ragstone.load_dataset(path).queries[0].text == "Where?"
    path.write_bytes("question,answer\na,b\nWo?,Köln\n".encode("latin-1"))
    with pytest.raises(DatasetError, match=r"qa.csv, line 3: not UTF-8 at byte 6"):
        ragstone.load_dataset(path)


def test_what_a_system_reported_is_no_label(tmp_path: Path) -> None:
    """Searches and usage of recorded answers; a table without answers keeps them."""
    row = {"query": "Where?", "gold_answers": ["A"], "topic": "t", "steps": ["x"], "usage": "y"}
    path = write(tmp_path, json.dumps({**row, "answer": "A"}), "rows.jsonl")
    (query,) = ragstone.load_dataset(path).queries
    assert dict(query.labels) == {"topic": "t"}
    (query,) = ragstone.load_dataset(write(tmp_path, json.dumps(row), "plain.jsonl")).queries
    assert query.labels.keys() == {"steps", "usage", "topic"}
