"""The queries and gold answers of `ragstone score --gold`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ragstone.core.schemas import labels_from_json
from ragstone.data.corpus import Corpus
from ragstone.data.load import load_dataset
from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.foreign_formats import format_of
from ragstone.data.readers.record_rows import QUERY_FIELDS
from ragstone.data.readers.rows import (
    FieldError,
    Row,
    has_end,
    json_object,
    json_rows,
    parsed,
    row_error,
)
from ragstone.data.readers.table_columns import NAMES
from ragstone.errors import ConfigError
from ragstone.types import Query

_PLAIN: Final = frozenset({"_id", "text", "answers"})


def read_gold(path: Path) -> tuple[list[Query], Corpus | None]:
    """Return the queries of a data set's folder, of a table of questions, or of JSON lines.

    The corpus is that of the data set; None for JSON lines of queries.

    Each line of JSON lines has the field `_id`, and optionally `answers`, `text` and labels; or it
    is a row of a table of questions, such as one of another tool.

    Raises:
        DatasetError: a malformed line, no line at all, or a query listed twice.
    """
    if not has_gold_lines(path):
        dataset = load_dataset(path)
        return list(dataset.queries), dataset.corpus
    found: dict[str, Query] = {}
    for number, query in gold_lines(path):
        if found.setdefault(query.query_id, query) is not query:
            twice = FieldError(f"query {query.query_id!r} occurs twice; keep one of the two")
            raise row_error(path, number, twice)
    if not found:
        raise ConfigError(
            f"--gold {path} contains no query; each line is an object such as "
            '{"_id": "q1", "answers": ["1912"]}'
        )
    return list(found.values()), None


def gold_lines(path: Path) -> Iterator[tuple[int, Query]]:
    """Yield the number and the query of each line of such JSON lines."""
    return parsed(path, lambda line: _query(json_object(line)))


def has_gold_lines(path: Path) -> bool:
    """Return whether a file is JSON lines of queries; else it is a data set or a table."""
    return not path.is_dir() and has_end(path, ".jsonl") and not _is_table(path)


def _is_table(path: Path) -> bool:
    """Return whether JSON lines have questions without the field `_id`, or are of another tool."""
    _, first = next(iter(json_rows(path)), (0, Row()))
    has_text = bool(first.keys() & set(NAMES["text"]))
    return ("_id" not in first and has_text) or format_of([first]) is not None


def _query(row: Row) -> Query:
    if row.keys() != _PLAIN:
        check_names(row, QUERY_FIELDS)
    query_id, answers = row.take_id(), row.take_texts("answers")
    text = row.take_text("text", optional=True)
    if not row:
        return Query(query_id, text, tuple(answers or ()), labels={})
    for name in ("history", "rewrite"):
        row.pop(name, None)
    labels = labels_from_json(row.take_labels()) if row else {}
    return Query(query_id, text, tuple(answers or ()), labels=labels)
