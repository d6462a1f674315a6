"""Excel files as tables of questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.made_documents import encrypted_office, xlsx

from ragstone.core import limits
from ragstone.data.load import load_dataset
from ragstone.data.readers.answer_rows import read_answer_rows
from ragstone.data.readers.excel import excel_rows
from ragstone.errors import ConfigError, DatasetError

ROWS = [["id", "question", "gold_answers"], [1, "When?", 1912], ["", "", ""], [2, "Who?", ""]]


def write(folder: Path, content: bytes) -> Path:
    """Write an Excel file and return its path."""
    path = folder / "qa.xlsx"
    path.write_bytes(content)
    return path


def test_a_sheet_is_a_table_of_questions(tmp_path: Path) -> None:
    """Cells are text as Excel shows it; blank rows are left out, empty cells are null."""
    path = write(tmp_path, xlsx({"Questions": ROWS}))

    assert list(excel_rows(path)) == [
        (2, {"id": "1", "question": "When?", "gold_answers": "1912"}),
        (4, {"id": "2", "question": "Who?", "gold_answers": None}),
    ]
    dataset = load_dataset(path)
    assert [(q.query_id, q.text, q.gold_answers) for q in dataset.queries] == [
        ("1", "When?", ("1912",)),
        ("2", "Who?", ()),
    ]
    assert (dataset.name, dataset.source.reader) == ("qa", "table")


def test_answers_may_be_in_excel(tmp_path: Path) -> None:
    """Rows of answers are read too."""
    path = write(tmp_path, xlsx({"A": [["query_id", "answer"], ["q1", "In 1912."]]}))
    (rows,) = read_answer_rows(path).systems.values()
    assert [one.answer for one in rows.predictions.values()] == ["In 1912."]


def test_several_sheets_need_a_name(tmp_path: Path) -> None:
    """An empty sheet does not count; two with rows are both named."""
    other = [["question"], ["Why?"]]
    assert len(list(excel_rows(write(tmp_path, xlsx({"A": ROWS, "Notes": []}))))) == 2
    path = write(tmp_path, xlsx({"A": ROWS, "B": other}))
    with pytest.raises(ConfigError, match=r"2 sheets with rows: A, B; name one, .* sheet: A"):
        load_dataset(path)
    for named in ({"path": path, "sheet": "B"}, f"table({path}, sheet=B)"):
        assert [q.text for q in load_dataset(named).queries] == ["Why?"]
    with pytest.raises(ConfigError, match=r"no sheet 'C' with rows.* Known: A, B"):
        load_dataset({"path": path, "sheet": "C"})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot read .*qa.xlsx"),
        (encrypted_office(), "cannot read .*qa.xlsx: document is encrypted"),
        (xlsx({"A": [["a", "a"], [1, 2]]}), "must name each column once, found a, a"),
        (xlsx({"A": [["a", "", "c"], [1, 2, 3]]}), "must name each column once"),
    ],
)
def test_malformed_files(content: bytes, message: str, tmp_path: Path) -> None:
    """Each is an error with the file."""
    with pytest.raises(DatasetError, match=message):
        list(excel_rows(write(tmp_path, content)))


def test_large_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file beyond the limit is not read."""
    monkeypatch.setattr(limits, "MAX_PARSED_FILE_BYTES", 10)
    with pytest.raises(DatasetError, match="more than 10 bytes; save the sheet as CSV"):
        list(excel_rows(write(tmp_path, xlsx({"A": ROWS}))))
