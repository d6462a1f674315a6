"""Tables of answers in every format: columns by name or guessed, ids, systems, bad files."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from arro3.core import Schema
from arro3.io import write_parquet

from ragstone.core.schemas import CONTEXTS, to_table
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.errors import ConfigError, DatasetError

ROWS: list[dict[str, Any]] = [
    {
        "user_input": "Where is Lisbon?",
        "retrieved_contexts": ["On the Tagus.", 'It\'s "white".'],
        "response": "On the Tagus",
        "reference": "the Tagus",
    },
    {
        "user_input": "When, \nexactly?",
        "retrieved_contexts": ["In 1912."],
        "response": "1912",
        "reference": "1912",
    },
]


def files(folder: Path) -> list[Path]:
    """Write the rows in every format."""
    made = [folder / f"rows{end}" for end in (".jsonl", ".json", ".csv", ".tsv", ".parquet")]
    made[0].write_text("\n".join(map(json.dumps, ROWS)))
    made[1].write_text(json.dumps(ROWS))
    for path, delimiter in ((made[2], ","), (made[3], "\t")):
        with path.open("w", newline="", encoding="utf-8-sig") as file:
            writer = csv.DictWriter(file, list(ROWS[0]), delimiter=delimiter)
            writer.writeheader()
            writer.writerows(ROWS)
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    text, texts = CONTEXTS.field("query_id"), CONTEXTS.field("texts")
    lists = {"retrieved_contexts"}
    schema = Schema([(texts if name in lists else text).with_name(name) for name in columns])
    write_parquet(to_table(schema, columns), str(made[4]))
    return made


def test_every_format_has_the_same_rows(tmp_path: Path) -> None:
    """The columns of ragas are known; ids are digests of the queries, equal in all files."""
    first, *others = [read_answer_rows(path) for path in files(tmp_path)]

    assert all(one.systems == first.systems for one in others)
    (rows,) = first.systems.values()
    assert [query.gold_answers for query in rows.queries] == [("the Tagus",), ("1912",)]
    assert rows.queries[0].query_id == "q-bda9ed7e839a"
    shown = rows.contexts["q-bda9ed7e839a"].passages
    assert [passage.text for passage in shown] == ROWS[0]["retrieved_contexts"]
    assert "text=user_input" in first.columns.note(tmp_path / "rows.csv")


def write(folder: Path, text: str, name: str = "rows.csv") -> Path:
    """Write a file."""
    path = folder / name
    path.write_bytes(text.encode("latin-1"))
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('query,answer\na,b\nc,"d\n', r"rows.csv, line 3: a quote .* never ends .*line 3"),
        ("query,answer\na,caf\xe9\n", r"rows.csv, line 2: not UTF-8 at byte 6"),
        ("query,answer\na,b,c\n", r"line 2: 3 cells, but the first line names 2 columns"),
        ("query,query\na,b\n", r"line 1: two columns are called 'query'"),
        ("query,answer\na,b\na,c\n", r"line 3: query 'q-.*' has a second answer"),
        ("answer\nb\n", r"line 2: the row has neither a query_id nor the text"),
    ],
)
def test_a_malformed_table_names_file_and_line(tmp_path: Path, text: str, message: str) -> None:
    """Of the row in which the problem begins."""
    with pytest.raises(DatasetError, match=message):
        read_answer_rows(write(tmp_path, text))


def test_two_columns_for_one_role_are_not_guessed(tmp_path: Path) -> None:
    """Both are named, with the way to pin one; an unknown column is told too."""
    path = write(tmp_path, "query,question,answer\na,b,c\n")
    with pytest.raises(ConfigError, match=r"'query' and 'question' may both be text.*text=query"):
        read_answer_rows(path)
    table = read_answer_rows(path, {"text": "question"})
    (rows,) = table.systems.values()
    assert (rows.queries[0].text, rows.queries[0].labels) == ("b", {"query": "a"})
    with pytest.raises(ConfigError, match="no column 'quetion' for text; did you mean 'question'"):
        read_answer_rows(path, {"text": "quetion"})
    with pytest.raises(ConfigError, match="no column of answers"):
        read_answer_rows(write(tmp_path, "query\na\n"))


def test_traces_are_told_from_rows(tmp_path: Path) -> None:
    """The error has the command that makes rows of them."""
    path = write(tmp_path, '{"resourceSpans": []}', "t.jsonl")
    with pytest.raises(ConfigError, match=r"ragstone traces convert .*t\.jsonl -o rows\.jsonl"):
        read_answer_rows(path)


def test_excel_has_a_way_out(tmp_path: Path) -> None:
    """The error names the formats that are read."""
    with pytest.raises(DatasetError, match=r"save the sheet as CSV"):
        read_answer_rows(write(tmp_path, "", "rows.xls"))
