"""Rows of CSV, TSV, JSON, JSON lines, Parquet, Arrow and Excel files, by the name of the file."""

from __future__ import annotations

import ast
import csv
import io
import os
import tokenize
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.core import limits
from ragstone.core.parsing import parse_json
from ragstone.core.regular_files import open_regular
from ragstone.data.readers.excel import EXCEL_END, excel_rows
from ragstone.data.readers.foreign_formats import FORMATS, rows_in
from ragstone.data.readers.foreign_rows import is_promptfoo_table
from ragstone.data.readers.parquet_columns import ParquetFile, batches
from ragstone.data.readers.parquet_structure import check_stream
from ragstone.data.readers.rows import (
    FieldError,
    Row,
    decoded,
    has_end,
    json_document,
    json_rows,
    read_bytes,
    reading,
    show,
)
from ragstone.data.readers.split_files import split_files
from ragstone.errors import DatasetError

TABLE_ENDS: Final = (".csv", ".tsv", ".json", ".jsonl", ".parquet", EXCEL_END)
"""Ends of the names of files that are read as tables; those of text with `.gz` too."""
_ARROW_END: Final = b"\xff\xff\xff\xff\0\0\0\0"
"""The end of an Arrow stream."""
_SHEETS: Final = (".xls", ".xlsm", ".ods")


def read_table(path: Path, *, split: str = "", sheet: str = "") -> Iterator[tuple[int, Row]]:
    """Yield number and fields of each row: of its line in a text file, else counted from 1.

    Args:
        path: the file, or a folder of the package `datasets`.
        split: the split of a folder with several.
        sheet: the sheet of an Excel file with several that have rows.

    Raises:
        DatasetError: the format is not one of these, or a row is malformed; with file and line.
    """
    if path.is_dir():
        return (row for file in split_files(path, split) for row in read_table(file))
    readers: Mapping[str, Callable[[Path], Iterator[tuple[int, Row]]]] = {
        ".csv": partial(_separated_rows, delimiter=","),
        ".tsv": partial(_separated_rows, delimiter="\t"),
        ".jsonl": json_rows,
        ".json": _json_list,
        ".parquet": _parquet_rows,
        ".arrow": _arrow_rows,
        EXCEL_END: partial(excel_rows, sheet=sheet),
    }
    for end, rows_of in readers.items():
        if has_end(path, end):
            return rows_of(path)
    is_sheet = has_end(path, *_SHEETS)
    way_out = "save the sheet as CSV (UTF-8)" if is_sheet else "convert it to one"
    raise DatasetError(
        f"{path} is not a table that can be read; known are {', '.join(TABLE_ENDS)}: {way_out}",
        path=path,
    )


def json_table(path: Path) -> list[Any] | None:
    """Return the items of a JSON file: a list, or the rows in the document of another tool."""
    document = json_document(path)
    return rows_in(document) if isinstance(document, dict) else document


def is_json_lines(content: bytes) -> bool:
    """Return whether a file is JSON lines, which `datasets` writes to files called `.json` too."""
    first, _, rest = content.lstrip().partition(b"\n")
    if not (first.startswith(b"{") and first.rstrip().endswith(b"}") and rest.strip()):
        return False
    try:
        return isinstance(parse_json(first), dict)
    except ValueError:
        return False


def _json_list(path: Path) -> Iterator[tuple[int, Row]]:
    if is_json_lines(read_bytes(path)):
        yield from json_rows(path)
        return
    document = json_table(path)
    if not isinstance(document, list):
        raise DatasetError(
            f"{path}: expected a list of objects, or the rows of a known tool "
            f"({', '.join(one.name for one in FORMATS)})",
            path=path,
        )
    for number, item in enumerate(document, start=1):
        with reading(path, f"item {number}"):
            row = Row.of(item)
        yield number, row


def _parquet_rows(path: Path) -> Iterator[tuple[int, Row]]:
    for first, batch in batches(ParquetFile(str(path), partial(open_regular, path))):
        for number, row in enumerate(batch.to_struct_array().to_pylist(), start=first):
            yield number, Row(row)


def _arrow_rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Yield the rows of an Arrow file in the form of a stream, as `datasets` writes them."""
    from arro3.io import read_ipc_stream

    with open_regular(path) as file:
        # A stream that is cut between two batches would be read without an error.
        file.seek(max(0, file.seek(0, os.SEEK_END) - len(_ARROW_END)))
        is_whole = file.read() == _ARROW_END
        file.seek(0)
        try:
            check_stream(file)
            parts = (batch.to_struct_array().to_pylist() for batch in read_ipc_stream(file))
            yield from enumerate(map(Row, chain.from_iterable(parts)), start=1)
        except GeneratorExit:
            raise
        except BaseException as error:
            # The Rust reader raises errors of its own, plain exceptions and panics.
            if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
                raise
            cause = str(error)[: limits.MAX_CAUSE_CHARACTERS]
            raise DatasetError(f"{path} is not a complete Arrow file ({cause})") from error
    if not is_whole:
        raise DatasetError(f"{path} is not a complete Arrow file; get the file again", path=path)


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
    if is_promptfoo_table(names):
        # One column per prompt and provider, each with the same columns after it.
        return [n if n not in names[:i] else f"{n} {i}" for i, n in enumerate(names)]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise FieldError(f"two columns are called {show(twice)}; rename one of them")
    return names


def _cell(text: str) -> Any:
    """Return the value of a cell.

    >>> _cell('["a", "b"]'), _cell("['a']"), _cell(""), _cell("1912")
    (['a', 'b'], ['a'], None, '1912')
    """
    if not text:
        return None
    if text.startswith("[") and text.endswith("]"):
        for parse in (orjson.loads, _python_list):
            try:
                found = parse(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError, tokenize.TokenError):
                continue
            if isinstance(found, list):
                return found
    if text.startswith(("[", "{")) and "array([" in text:
        raise FieldError(
            "a cell contains an object with an array as numpy prints it, which cannot be read; "
            "write the table as JSON lines or Parquet"
        )
    return text


def _python_list(text: str) -> Any:
    """Return a list in Python's spelling, or an array of texts as numpy prints it.

    >>> _python_list("['a', 'b']"), _python_list("['a' 'b']")
    (['a', 'b'], ['a', 'b'])
    """
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    kept = [one for one in tokens if one.type in (tokenize.STRING, tokenize.OP)]
    pairs = pairwise(one.type for one in kept)
    if (tokenize.STRING, tokenize.STRING) in pairs:
        # Python itself would join the texts, because there is no comma between them.
        return [ast.literal_eval(one.string) for one in kept if one.type == tokenize.STRING]
    return ast.literal_eval(text)
