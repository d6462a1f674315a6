"""Nuggets of queries as JSON lines, in the form of TREC RAG and its nuggetizer.

    {"qid": "q1", "query": "When did it sink?",
     "nuggets": [{"text": "It sank in 1912.", "importance": "vital"},
                 {"text": "It was a steamer.", "importance": "okay"}]}

The importance is `vital` or `okay`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ragstone.data.readers.rows import FieldError, Row, json_rows, reading, show, within
from ragstone.errors import DatasetError
from ragstone.types import Query

LABELS: Final[Mapping[str, str]] = {"vital": "vital_nuggets", "okay": "okay_nuggets"}
"""Importance -> label of the queries with the nuggets of this importance."""
ASSIGNMENTS: Final[Mapping[str, str]] = {
    "vital": "vital_assignments",
    "okay": "okay_assignments",
}
"""Importance -> label of the rows with the assignments of the nuggets of this importance."""
ASSIGNED_GRADES: Final = {"support": 1.0, "partial_support": 0.5, "not_support": 0.0}
"""Assignment of a nugget to an answer -> its grade."""


@dataclass(frozen=True)
class QueryNuggets:
    """The nuggets of one query."""

    query: Query
    """Id, text, and the nuggets as labels."""
    line: int
    """The line of the file."""


def read_nuggets(path: Path) -> dict[str, QueryNuggets]:
    """Return query id -> nuggets of a file.

    Raises:
        DatasetError: a malformed line, a query listed twice, or no line; with file and line.
    """
    found: dict[str, QueryNuggets] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            query = _query(row)
            if query.query_id in found:
                raise FieldError(
                    f"query {show(query.query_id)} has nuggets in line "
                    f"{found[query.query_id].line} "
                    "already; keep one of the two"
                )
        found[query.query_id] = QueryNuggets(query, number)
    if not found:
        raise DatasetError(
            f"{path} contains no nuggets; each line is an object such as "
            '{"qid": "q1", "query": "...", "nuggets": [{"text": "...", "importance": "vital"}]}'
        )
    return found


def _query(row: Row) -> Query:
    name = "qid" if "qid" in row else "query_id"
    query_id = str(row[name]) if type(row.get(name)) is int else row.take_id(name)
    listed: dict[str, list[str]] = {label: [] for label in LABELS.values()}
    for number, given in enumerate(row.take_list("nuggets"), start=1):
        with within(f"nugget {number}"):
            text, importance = _nugget(given)
            listed[LABELS[importance]].append(text)
    labels = {label: tuple(texts) for label, texts in listed.items() if texts}
    return Query(query_id, row.take_text("query", optional=True), labels=labels)


def _nugget(given: Any) -> tuple[str, str]:
    """Return the text and the importance of a nugget."""
    nugget = Row.of(given)
    importance = nugget.get("importance")
    if importance not in LABELS:
        raise FieldError(f"'importance' must be vital or okay, found {show(importance)}")
    return nugget.take_question("text"), str(importance)


def assigned_row(row: Row) -> Row:
    """Return a row of the nuggetizer's assignments, with the assignments as labels.

    Raises:
        FieldError: a nugget has no text, or another importance or assignment.
    """
    found: dict[str, list[str]] = {}
    for number, given in enumerate(row.take_list("nuggets"), start=1):
        with within(f"nugget {number}"):
            _, importance = _nugget(given)
            assignment = given.get("assignment")
            if assignment not in ASSIGNED_GRADES:
                raise FieldError(
                    f"'assignment' must be {', '.join(ASSIGNED_GRADES)}, found {show(assignment)}"
                )
            found.setdefault(ASSIGNMENTS[importance], []).append(assignment)
    return Row({**row, **found})


def with_nuggets(
    queries: Iterable[Query], found: Mapping[str, QueryNuggets], source: Path
) -> list[Query]:
    """Return queries with the nuggets of a file as labels; a query without any keeps its own.

    Raises:
        DatasetError: a line has nuggets of a query that is absent.
    """
    given = list(queries)
    known = {query.query_id for query in given}
    for query_id, one in found.items():
        if query_id not in known:
            raise DatasetError(
                f"{source}, line {one.line}: the data have no query {show(query_id)}; remove the "
                "line, "
                "or add the query to the data",
                path=source,
                line=one.line,
            )
    return [_with_labels(query, found.get(query.query_id)) for query in given]


def _with_labels(query: Query, nuggets: QueryNuggets | None) -> Query:
    if nuggets is None:
        return query
    others = {name: v for name, v in query.labels.items() if name not in LABELS.values()}
    return replace(query, labels={**others, **nuggets.query.labels})
