"""A file of questions: CSV or JSON lines, with the usual names of columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.data.load import load_dataset
from ragstone.errors import DatasetError


def test_csv_and_json_lines_have_the_same_queries(tmp_path: Path) -> None:
    """Ids that are not given are digests of the text; other columns are labels."""
    (tmp_path / "qa.csv").write_text(
        '\ufeffquestion,ground_truth,topic\n"Who, then?",Ada,people\nWhere?,Rome,\n', "utf-8"
    )
    (tmp_path / "qa.jsonl").write_text(
        '{"query": "Who, then?", "answers": ["Ada"], "topic": "people"}\n'
        '{"query": "Where?", "answers": "Rome"}\n'
    )
    table, rows = (load_dataset(tmp_path / name) for name in ("qa.csv", "qa.jsonl"))
    assert table.queries == rows.queries
    first, second = table.queries
    assert (first.text, first.gold_answers, first.labels) == (
        "Who, then?",
        ("Ada",),
        {"topic": "people"},
    )
    assert second.labels == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("question,answer\na,b,c\n", "line 2: another number of cells"),
        ('question,answer\n"a,b\n', "is a quote open"),
        ("question,answer\n", "no questions"),
        ("column\na\n", "line 2: the field 'text' is missing"),
    ],
)
def test_a_malformed_csv_file_is_told_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    """The way out is in the message."""
    (tmp_path / "qa.csv").write_text(text)
    with pytest.raises(DatasetError, match=message):
        load_dataset(tmp_path / "qa.csv")
