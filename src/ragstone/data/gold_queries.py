"""The queries and gold answers of `ragstone score --gold`."""

from __future__ import annotations

from pathlib import Path

from ragstone.core.schemas import labels_from_json
from ragstone.data.corpus import Corpus
from ragstone.data.load import load_dataset
from ragstone.data.readers.field_names import check_names
from ragstone.data.readers.foreign_formats import format_of
from ragstone.data.readers.record_rows import QUERY_FIELDS
from ragstone.data.readers.rows import FieldError, Row, has_end, json_rows, reading
from ragstone.data.readers.table_columns import NAMES
from ragstone.errors import ConfigError
from ragstone.types import Query


def read_gold(path: Path) -> tuple[list[Query], Corpus | None]:
    """Return the queries of a data set's folder, of a table of questions, or of JSON lines.

    The corpus is that of the data set; None for JSON lines of queries.

    Each line of JSON lines has the field `_id`, and optionally `answers`, `text` and labels; or it
    is a row of a table of questions, such as one of another tool.

    Raises:
        DatasetError: a malformed line, no line at all, or a query listed twice.
    """
    if path.is_dir() or not has_end(path, ".jsonl") or _is_table(path):
        dataset = load_dataset(path)
        return list(dataset.queries), dataset.corpus
    found: dict[str, Query] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            query = _query(row)
            if found.setdefault(query.query_id, query) is not query:
                raise FieldError(f"query {query.query_id!r} occurs twice; keep one of the two")
    if not found:
        raise ConfigError(
            f"--gold {path} contains no query; each line is an object such as "
            '{"_id": "q1", "answers": ["1912"]}'
        )
    return list(found.values()), None


def _is_table(path: Path) -> bool:
    """Return whether JSON lines have questions without the field `_id`, or are of another tool."""
    _, first = next(iter(json_rows(path)), (0, Row()))
    has_text = bool(first.keys() & set(NAMES["text"]))
    return ("_id" not in first and has_text) or format_of([first]) is not None


def _query(row: Row) -> Query:
    check_names(row, QUERY_FIELDS)
    query_id, answers = row.take_id(), row.take_texts("answers")
    text = row.take_text("text", optional=True)
    for name in ("history", "rewrite"):
        row.pop(name, None)
    return Query(query_id, text, tuple(answers or ()), labels=labels_from_json(row.take_labels()))
