"""Rows of queries with the answers of one or several systems, from any table.

A row has any of `query_id`, `query`, `gold_answers`, `contexts`, `passage_ids`, `steps`, `answer`
and `system`; ragas' names are known too. Other columns are labels of the query.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from ragstone.core.schemas import labels_from_json
from ragstone.data.readers.parquet_columns import check_labels
from ragstone.data.readers.reported_steps import passages_of, read_steps
from ragstone.data.readers.rows import FieldError, Row, reading, show
from ragstone.data.readers.table_columns import TableColumns, find_columns
from ragstone.data.readers.table_files import read_table
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Context, ContextPassage, Hop, Prediction, Query

_ID_LENGTH: Final = 12
_SEEN_FIRST: Final = 100
"""Rows whose columns are known before the first row is read: JSON lines have no header."""


@dataclass
class SystemRows:
    """The rows of one system: predictions and contexts by query."""

    queries: list[Query] = field(default_factory=list)
    predictions: dict[str, Prediction] = field(default_factory=dict)
    contexts: dict[str, Context] = field(default_factory=dict)


@dataclass(frozen=True)
class AnswerTable:
    """The rows of a table by system, and the meaning of its columns."""

    systems: Mapping[str, SystemRows]
    """System -> its rows, in order; the name is "" without a column `system`."""
    columns: TableColumns

    def of(self, system: str) -> SystemRows:
        """Return the rows of a system; raise `ConfigError` if there are none."""
        if system not in self.systems:
            known = ", ".join(map(repr, self.systems))
            raise ConfigError(f"no row is of the system {system!r}; the systems are {known}")
        return self.systems[system]


def query_id_of(text: str) -> str:
    """Return the id of a query that has none: it is the same in every file and order.

    >>> query_id_of("Where is Lisbon?")
    'q-bda9ed7e839a'
    """
    return f"q-{hashlib.sha256(text.encode()).hexdigest()[:_ID_LENGTH]}"


def read_answer_rows(
    path: Path, columns: Mapping[str, str] | None = None, setting: str = ""
) -> AnswerTable:
    """Return the rows of a CSV, TSV, JSON, JSON lines or Parquet file.

    Args:
        path: the file.
        columns: role -> column, where the name of the column does not tell its role.
        setting: read only the rows whose `setting` is this one.

    Raises:
        ConfigError: two columns may have one role, or a column is not there.
        DatasetError: a malformed row, no row, or two rows of one system for one query.
    """
    found = dict[str, SystemRows]()
    first, rows = with_names(read_table(path), path)
    known = find_columns(first, columns or {}, path)
    if "answer" not in known.of:
        raise ConfigError(
            f"{path} has no column of answers; its columns are {', '.join(first) or 'none'}; name "
            "it with --columns answer=COLUMN"
        )
    for number, row in rows:
        with reading(path, number):
            named = known.named(row)
            if setting and named.get("setting") != setting:
                continue
            _add(named, found)
    if not found:
        only = f" of the setting {setting!r}" if setting else ""
        raise DatasetError(f"{path} contains no answer{only}")
    return AnswerTable(found, known)


def with_names(
    rows: Iterable[tuple[int, Mapping[str, Any]]], source: Path
) -> tuple[list[str], Iterable[tuple[int, Mapping[str, Any]]]]:
    """Return the columns of a table's first rows, and all rows.

    Raises:
        DatasetError: there is no row, or one is malformed.
    """
    others = iter(rows)
    head = list(islice(others, _SEEN_FIRST))
    if not head:
        raise DatasetError(f"{source} contains no row", path=source)
    return list(dict.fromkeys(name for _, row in head for name in row)), chain(head, others)


def _add(row: Row, found: dict[str, SystemRows]) -> None:
    """Add a row to those of its system."""
    mine = found.setdefault(str(row.pop("system", None) or ""), SystemRows())
    text = row.take_text("text", optional=True)
    query_id = take_query_id(row, text)
    if query_id in mine.predictions:
        raise FieldError(
            f"query {query_id!r} has a second answer; keep one, give each row its own query_id, "
            "or name the system of each row in a column 'system'"
        )
    answer, reason = row.pop("answer", None), row.pop("reason", None)
    if not isinstance(answer, str | None):
        raise FieldError(f"the answer must be text or null, found {show(answer)}")
    why = "" if answer is not None else str(reason or "the row has no answer")
    gold = tuple(take_texts(row, "gold_answers") or ())
    contexts, ids = take_texts(row, "contexts"), take_texts(row, "passage_ids")
    steps = read_steps(row)
    if contexts is None and ids is None and steps is not None:
        contexts, ids = _of_steps(steps)
    for name in ("setting", "steps"):
        row.pop(name, None)
    mine.predictions[query_id] = Prediction(
        query_id, answer, why, passage_ids=None if ids is None else tuple(ids), steps=steps
    )
    labels = labels_from_json(check_labels(row).take_labels())
    mine.queries.append(Query(query_id, text, gold, labels=labels))
    if contexts is not None:
        named = ids if ids and len(ids) == len(contexts) else None
        names = named or [str(place) for place in range(1, len(contexts) + 1)]
        pairs = zip(names, contexts, strict=True)
        passages = tuple(ContextPassage(i, shown, "retrieved") for i, shown in pairs)
        mine.contexts[query_id] = Context(query_id, "recorded", passages)


def _of_steps(steps: Sequence[Hop]) -> tuple[list[str] | None, list[str]]:
    """Return the texts and the ids of all steps; no text without those of all passages."""
    found = passages_of(steps)
    texts = [passage.text for passage in found]
    ids = [passage.passage_id or str(place) for place, passage in enumerate(found, start=1)]
    return texts if all(texts) else None, ids


def take_query_id(row: Row, text: str) -> str:
    """Return the id of a row, or the digest of its query."""
    value = row.pop("query_id", None)
    if value is None and text.strip():
        return query_id_of(text)
    if value is None:
        raise FieldError("the row has neither a query_id nor the text of a query")
    return Row(query_id=str(value) if type(value) is int else value).take_id("query_id")


def take_texts(row: Row, role: str) -> list[str] | None:
    """Return the texts of a column: a list of texts or of objects with `text`, or one text."""
    value = row.pop(role, None)
    if isinstance(value, list | tuple):
        value = [_text_of(item, role) for item in value]
    elif isinstance(value, Mapping):
        value = _text_of(value, role)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return Row({role: value}).take_texts(role)


def _text_of(item: Any, role: str) -> Any:
    if not isinstance(item, Mapping):
        return item
    name = "id" if role == "passage_ids" else "text"
    return item.get(name, item.get("passage_id" if name == "id" else "page_content"))
