"""Parquet files as batches of Arrow columns, with checks of names, types and nulls."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

import orjson
from arro3.core import Array, DataType, RecordBatch

from ragstone.core import limits
from ragstone.data.readers.parquet_process import record_batches
from ragstone.data.readers.parquet_structure import UnsafeParquet, check_structure
from ragstone.data.readers.rows import BREAKS, FieldError, Row, listed_names, show
from ragstone.errors import DatasetError, nearest_name

if TYPE_CHECKING:
    from arro3.core import Schema

Fields = Mapping[str, tuple[str, ...]]
"""Field -> possible names of its column, the usual one first."""

CORPUS_FIELDS: Final[Fields] = {
    "passage_id": ("_id", "id", "passage_id", "corpus-id", "doc_id", "docid", "pid"),
    "text": ("text", "passage", "contents", "content"),
    "title": ("title",),
    "document_id": ("document", "document_id"),
}
QUERY_FIELDS: Final[Fields] = {
    "query_id": ("_id", "id", "query_id", "query-id", "qid"),
    "text": ("text", "query", "question"),
    "gold_answers": ("answers", "gold_answers", "answer"),
    "rewrite": ("rewrite",),
    "history": ("history",),
}
QREL_FIELDS: Final[Fields] = {
    "query_id": ("query-id", "query_id", "qid"),
    "passage_id": ("corpus-id", "passage_id", "doc_id", "docid", "pid"),
    "relevance": ("score", "relevance", "label", "grade"),
}
NEEDED: Final = frozenset({"passage_id", "query_id", "text", "relevance"})


class ParquetFile(NamedTuple):
    """A Parquet file: its name in errors, and the function that opens it."""

    name: str
    open: Callable[[], BinaryIO]


def batches(file: ParquetFile) -> Iterator[tuple[int, RecordBatch]]:
    """Yield the rows of a file in batches, each with the number of its first row, from 1.

    One batch and its pages are in memory at a time.
    """
    first = 1
    try:
        with file.open() as opened, _whole(file.name, opened):
            for batch in record_batches(opened):
                yield first, batch
                first += batch.num_rows
    except OSError as error:
        raise DatasetError(f"{file.name} cannot be read: {error}") from error


@contextmanager
def _whole(name: str, file: BinaryIO) -> Iterator[None]:
    """Turn the Rust reader's errors about a damaged file into a `DatasetError`."""
    problem = f"{name} is not a complete Parquet file; get the file again"
    try:
        check_structure(file)
        yield
    except GeneratorExit:
        raise
    except UnsafeParquet as error:
        raise DatasetError(f"{problem} ({error})") from error
    except BaseException as error:
        kind = type(error)
        # The reader raises plain exceptions too, from the columns of a batch.
        is_rust = kind.__name__ == "PanicException" or kind.__module__.startswith("arro3")
        if is_rust or kind is Exception:
            cause = str(error)[: limits.MAX_CAUSE_CHARACTERS]
            raise DatasetError(f"{problem} ({cause})") from error
        raise


def find_columns(
    schema: Schema, mapping: Mapping[str, str], fields: Fields, name: str, key: str
) -> dict[str, str]:
    """Return field -> column; raise `DatasetError` if a required column is missing.

    `mapping` is the user's choice of columns; `name` (of the file) and `key` (of the mapping) are
    for errors.
    """
    found: dict[str, str] = {}
    for field, known in fields.items():
        column = mapping.get(field) or next((c for c in known if c in schema.names), known[0])
        if column in schema.names:
            found[field] = column
        elif field in mapping or field in NEEDED:
            looked = show(column) if field in mapping else " or ".join(map(repr, known))
            raise DatasetError(
                f"{name} has no column {looked} for {field}{nearest_name(column, schema.names)}; "
                f"it has: {listed_names(schema.names)}; name the column with "
                f"{key}: {{{field}: COLUMN}}"
            )
    return found


def texts(batch: RecordBatch, column: str, *, ids: bool = False, optional: bool = False) -> Array:
    """Return a column as text; raise `FieldError` for another type, or a null.

    With `ids`, whole numbers become text too. With `optional`, a null becomes an empty text.
    """
    array = batch.column(column)
    array = array if isinstance(array, Array) else Array.from_arrow(array)
    kind = array.type.value_type if DataType.is_dictionary(array.type) else array.type
    is_text = kind is not None and (
        DataType.is_string(kind) or DataType.is_large_string(kind) or DataType.is_string_view(kind)
    )
    if not is_text and not (ids and kind is not None and DataType.is_integer(kind)):
        wanted = "text or whole numbers" if ids else "text"
        raise FieldError(f"the column {show(column)} must contain {wanted}, found {array.type}")
    array = array.cast(DataType.string())
    if array.null_count and not optional:
        place = list(array.to_pylist()).index(None)
        raise RowError(place, f"the column {show(column)} is null")
    if array.null_count:
        array = Array([value or "" for value in array.to_pylist()], type=DataType.string())
    return array


class RowError(FieldError):
    """An error in one row of a batch, counted from 0."""

    def __init__(self, place: int, problem: str) -> None:
        super().__init__(problem)
        self.place = place


def check_ids(values: Sequence[str], column: str) -> None:
    """Raise `RowError` if an id is empty, or contains a tab or a line break."""
    joined = "".join(values)
    if not any(mark in joined for mark in BREAKS) and all(map(str.strip, values)):
        return
    for place, value in enumerate(values):
        if not value.strip() or BREAKS.intersection(value):
            raise RowError(
                place,
                f"the column {show(column)} must be text on one line, without tabs and not empty, "
                f"found {show(value)}",
            )


def check_labels(row: Mapping[str, Any]) -> Row:
    """Return the row, where NaN and infinity, which JSON does not have, are absent values.

    Raises:
        FieldError: a value has no JSON form, such as an image.
    """
    for column, value in row.items():
        try:
            orjson.dumps(value)
        except TypeError as error:
            raise FieldError(
                f"the column {show(column)} ({type(value).__name__}) cannot become a label; "
                f"write the file without it"
            ) from error
    return Row((name, None if _is_no_number(value) else value) for name, value in row.items())


def _is_no_number(value: Any) -> bool:
    return type(value) is float and not math.isfinite(value)


def rows(
    file: ParquetFile, mapping: Mapping[str, str], fields: Fields, key: str
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield number (from 1) and values of each row; columns have the names of fields."""
    for first, batch in batches(file):
        columns = find_columns(batch.schema, mapping, fields, file.name, key)
        renamed = {column: field for field, column in columns.items()}
        for number, row in enumerate(batch.to_struct_array().to_pylist(), start=first):
            yield number, {renamed.get(c, c): v for c, v in row.items()}
