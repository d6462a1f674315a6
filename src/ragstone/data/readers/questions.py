"""A file of questions with their gold answers: CSV, or one JSON object per line."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.data.dataset import Dataset
from ragstone.data.readers.base import Reader
from ragstone.data.readers.rows import Row, decoded, json_rows, lines, read_bytes, reading
from ragstone.errors import DatasetError

_NAMES: Final = {
    "text": ("text", "query", "question", "user_input"),
    "gold_answers": ("gold_answers", "answers", "answer", "ground_truth", "reference"),
    "query_id": ("query_id", "_id", "id"),
}
"""Field of a query -> the names that it may have; only the first that is there is read."""
_DIGITS: Final = 12


@dataclass(frozen=True)
class QuestionReader(Reader):
    """Reads a CSV file with a header, or JSON lines, with one question per row; no passages.

    The columns are `text` (or `query`, `question`, `user_input`), `gold_answers` (or `answers`,
    `answer`, `ground_truth`, `reference`) and `query_id` (or `id`). Without ids, an id is a digest
    of the text. Any other column is a label.

    Args:
        path: the file.
    """

    path: str | Path

    def read(self) -> Dataset:
        """Return the data set; raise `DatasetError` with file and line if a row is malformed."""
        path = Path(self.path)
        rows = csv_rows(path) if path.suffix == ".csv" else json_rows(path)
        return questions_dataset(rows, path.stem)


def questions_dataset(rows: Iterable[tuple[int, Mapping[str, Any]]], name: str) -> Dataset:
    """Return the data set of numbered rows of questions."""
    found = []
    for number, row in rows:
        with reading(Path(name), number):
            found.append(question_row(row))
    if not found:
        raise DatasetError(f"{name}: no questions; expected one per row")
    return Dataset.from_records(queries=found, name=name)


def question_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row under the names of `Dataset.from_records`.

    >>> question_row({"question": "Who?", "ground_truth": "Ada", "id": 7, "topic": "people"})
    {'topic': 'people', 'text': 'Who?', 'gold_answers': 'Ada', 'query_id': '7'}
    """
    used = {field: next((n for n in names if n in row), "") for field, names in _NAMES.items()}
    rest = {key: value for key, value in row.items() if key not in used.values()}
    found = rest | {field: row[name] for field, name in used.items() if name}
    text = Row(found).take_question("text")
    found["query_id"] = str(
        found.get("query_id") or hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
    )
    return found


def csv_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield line number and fields of each row of a CSV file; an empty cell is left out."""
    with reading(path, 1):
        table = csv.DictReader(io.StringIO(decoded(read_bytes(path))), strict=True)
    try:
        for row in table:
            if None in row or None in row.values():
                raise DatasetError(
                    f"{path}, line {table.line_num}: another number of cells than the header; "
                    "quote cells that contain a comma"
                )
            yield table.line_num, {key: value for key, value in row.items() if value}
    except csv.Error as error:
        raise DatasetError(f"{path}, line {table.line_num}: {error}; is a quote open?") from error


def is_question_file(path: Path) -> bool:
    """Return whether the first line of a JSON lines file is a question without passages."""
    try:
        _, first = next(lines(path), (0, b""))
        row = orjson.loads(first)
    except (DatasetError, orjson.JSONDecodeError):
        return False
    return isinstance(row, dict) and "doc_pool" not in row and bool(row.keys() & {*_NAMES["text"]})
