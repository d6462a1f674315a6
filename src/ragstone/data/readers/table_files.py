"""Rows of CSV, TSV, JSON, JSON lines, Parquet and Excel files, by the name of the file."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.core import limits
from ragstone.core.regular_files import open_regular
from ragstone.data.readers.excel import EXCEL_END, excel_rows
from ragstone.data.readers.parquet_columns import ParquetFile, batches
from ragstone.data.readers.rows import (
    FieldError,
    Row,
    decoded,
    json_document,
    json_rows,
    read_bytes,
    reading,
    show,
)
from ragstone.errors import DatasetError

TABLE_ENDS: Final = (".csv", ".tsv", ".json", ".jsonl", ".parquet", EXCEL_END)
"""Ends of the names of files that are read as tables; those of text with `.gz` too."""
_SHEETS: Final = (".xls", ".xlsm", ".ods")


def read_table(path: Path, sheet: str = "") -> Iterator[tuple[int, Row]]:
    """Yield number and fields of each row: of its line in a text file, else counted from 1.

    `sheet` is the name of a sheet of an Excel file; it may be "" if only one has rows.

    Raises:
        DatasetError: the format is not one of these, or a row is malformed; with file and line.
    """
    name = path.name.removesuffix(".gz").lower()
    if name.endswith((".csv", ".tsv")):
        return _separated_rows(path, "\t" if name.endswith(".tsv") else ",")
    if name.endswith(".jsonl"):
        return json_rows(path)
    if name.endswith(".json"):
        return _json_list(path)
    if name.endswith(".parquet"):
        return _parquet_rows(path)
    if name.endswith(EXCEL_END):
        return excel_rows(path, sheet)
    way_out = "save the sheet as CSV (UTF-8)" if name.endswith(_SHEETS) else "convert it to one"
    raise DatasetError(
        f"{path} is not a table that can be read; known are {', '.join(TABLE_ENDS)}: {way_out}",
        path=path,
    )


def _json_list(path: Path) -> Iterator[tuple[int, Row]]:
    document = json_document(path)
    if not isinstance(document, list):
        raise DatasetError(f"{path}: expected a list of objects, found {show(document)}", path=path)
    for number, item in enumerate(document, start=1):
        with reading(path, f"item {number}"):
            row = Row.of(item)
        yield number, row


def _parquet_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for first, batch in batches(ParquetFile(str(path), partial(open_regular, path))):
        for number, row in enumerate(batch.to_struct_array().to_pylist(), start=first):
            yield number, Row(row)


def _separated_rows(path: Path, delimiter: str) -> Iterator[tuple[int, Row]]:
    """Yield the rows of a CSV or TSV file, whose first line names the columns.

    A cell that is a list in JSON's or Python's spelling is a list; an empty cell is null.
    """
    rows = csv.reader(_text_lines(path), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        start = rows.line_num + 1
        with reading(path, start):
            try:
                with _long_cells():
                    cells = next(rows, None)
            except csv.Error as error:
                raise FieldError(_csv_problem(error, rows.line_num)) from error
            if cells is None:
                break
            if not any(cell.strip() for cell in cells):
                continue
            if not header:
                header = _header(cells)
                continue
            if len(cells) != len(header):
                raise FieldError(
                    f"{len(cells)} cells, but the first line names {len(header)} columns; quote a "
                    f"cell that contains {'a tab' if delimiter != ',' else 'a comma'}"
                )
            row = Row(zip(header, map(_cell, cells), strict=True))
        yield start, row


@contextmanager
def _long_cells() -> Iterator[None]:
    """Raise the maximum length of a cell, which Python keeps for the whole process, for a block."""
    before = csv.field_size_limit(limits.MAX_LINE_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a file as text, blank ones included: a quoted cell may contain them."""
    for number, line in enumerate(read_bytes(path).splitlines(keepends=True), start=1):
        with reading(path, number):
            decoded(line)
        yield line.decode()


def _csv_problem(error: csv.Error, line: int) -> str:
    if "unexpected end" in str(error):
        return (
            f"a quote that is opened in this row never ends (the file ends in line {line}); close "
            'it, and write a quote inside a cell as ""'
        )
    return f"not valid CSV ({error})"


def _header(cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise FieldError(f"two columns are called {twice!r}; rename one of them")
    return names


def _cell(text: str) -> Any:
    """Return the value of a cell.

    >>> _cell('["a", "b"]'), _cell("['a']"), _cell(""), _cell("1912")
    (['a', 'b'], ['a'], None, '1912')
    """
    if not text:
        return None
    if text.startswith("[") and text.endswith("]"):
        for parse in (orjson.loads, ast.literal_eval):
            try:
                found = parse(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(found, list):
                return found
    return text
