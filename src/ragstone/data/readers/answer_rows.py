"""Rows of queries with the answers of one or several systems, from any table.

A row has any of `query_id`, `query`, `gold_answers`, `contexts`, `passage_ids`, `steps`, `answer`
and `system`; ragas' names are known too. Other columns are labels of the query.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, Final

from ragstone.core.fingerprint import short_digest
from ragstone.core.schemas import labels_from_json
from ragstone.data.readers.foreign_formats import ForeignFormat, format_of
from ragstone.data.readers.foreign_rows import HISTORY, SENTENCES, Numbered, item_id, item_text
from ragstone.data.readers.parquet_columns import check_labels
from ragstone.data.readers.reported import cell_value, passages_of, read_reported
from ragstone.data.readers.rows import FieldError, Row, listed_names, reading, show
from ragstone.data.readers.table_columns import NAMES, TableColumns, find_columns
from ragstone.data.readers.table_files import read_table
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import (
    Context,
    ContextPassage,
    Message,
    Passage,
    Prediction,
    Query,
    Role,
)

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


def query_id_of(text: str, history: Iterable[Sequence[str]] = ()) -> str:
    """Return the id of a query that has none: it is the same in every file and order.

    >>> query_id_of("Where is Lisbon?")
    'q-bda9ed7e839a'
    """
    whole = "\n".join([*(part for message in history for part in message), text])
    return f"q-{short_digest(whole)}"


def read_answer_rows(
    path: Path, columns: Mapping[str, str] | None = None, setting: str = "", format_name: str = ""
) -> AnswerTable:
    """Return the rows of a table.

    Args:
        path: the file, or a folder of the package `datasets`.
        columns: role -> column, if the name of the column does not show its role.
        setting: read only the rows whose `setting` is this one.
        format_name: name of the tool that wrote the rows; "" to recognise it.

    Raises:
        ConfigError: two columns may have one role, or a column or the format is missing.
        DatasetError: a malformed row, no row, or two rows of one system for one query.
    """
    found = dict[str, SystemRows]()
    first, rows, known_format = with_names(read_table(path), path, format_name)
    known = find_columns(
        first, columns or {}, path, known_format.columns if known_format else NAMES
    )
    known = with_format(known, known_format, format_name)
    if "answer" not in known.of:
        if {"resourceSpans", "resource_spans"} & set(first):
            raise ConfigError(
                f"{path} has traces and no answers; make rows of them first: ragstone traces "
                f"convert {shlex.quote(str(path))} -o rows.jsonl"
            )
        raise ConfigError(
            f"{path} has no column of answers; its columns are {listed_names(first)}; name "
            "it with --columns answer=COLUMN"
        )
    for number, row in rows:
        with reading(path, number):
            named = known.named(row)
            if setting and named.get("setting") != setting:
                continue
            _add(named, found, known)
    if not found:
        only = f" of the setting {setting!r}" if setting else ""
        raise DatasetError(f"{path} contains no answer{only}")
    return AnswerTable(found, known)


def with_names(
    rows: Iterable[Numbered], source: Path, format_name: str = ""
) -> tuple[list[str], Iterable[Numbered], ForeignFormat | None]:
    """Return the columns of a table's first rows, all rows, and the format of another tool.

    Raises:
        ConfigError: the format is unknown.
        DatasetError: there is no row, or one is malformed.
    """
    head, others = _first_rows(rows)
    if not head:
        raise DatasetError(f"{source} contains no row", path=source)
    found = format_of((row for _, row in head), format_name)
    if found is not None:
        head, others = _first_rows(found.read(chain(head, others), source))
    return list(dict.fromkeys(name for _, row in head for name in row)), chain(head, others), found


def _first_rows(rows: Iterable[Numbered]) -> tuple[list[Numbered], Iterator[Numbered]]:
    others = iter(rows)
    return list(islice(others, _SEEN_FIRST)), others


def with_format(known: TableColumns, found: ForeignFormat | None, named: str) -> TableColumns:
    """Return columns with the format of their rows."""
    if found is None:
        return known
    return replace(known, format=found.name, is_format_guessed=not named)


def _add(row: Row, found: dict[str, SystemRows], known: TableColumns) -> None:
    """Add a row to those of its system."""
    mine = found.setdefault(str(row.pop("system", None) or ""), SystemRows())
    text = row.take_text("text", optional=True)
    history = take_history(row, known)
    query_id = take_query_id(row, text, history)
    if query_id in mine.predictions:
        raise FieldError(
            f"query {show(query_id)} has a second answer; keep one, give each row its own "
            "query_id, "
            "or name the system of each row in a column 'system'"
        )
    answer, reason = row.pop("answer", None), row.pop("reason", None)
    if not isinstance(answer, str | None):
        raise FieldError(f"the answer must be text or null, found {show(answer)}")
    why = "" if answer is not None else str(reason or "the row has no answer")
    gold = tuple(take_texts(row, "gold_answers") or ())
    cited = row.pop(SENTENCES, None) if known.format else None
    reported = {**_take_reported(row, known), "sentences": cited}
    for name in ("setting", *(("context",) if known.format else ())):
        row.pop(name, None)
    prediction = with_passages_of_steps(Prediction(query_id, answer, why, **reported))
    mine.predictions[query_id] = prediction
    labels = labels_from_json(check_labels(row).take_labels())
    messages = tuple(Message(role, said) for role, said in history)
    mine.queries.append(Query(query_id, text, gold, messages, labels=labels))
    if context := recorded_context(prediction):
        mine.contexts[query_id] = context


def _take_reported(row: Row, known: TableColumns) -> dict[str, Any]:
    """Return the system's report; usage and confidence of other tools have other meanings."""
    names = ("steps",) if known.format else ("steps", "usage", "confidence")
    given = {name: cell_value(row.pop(name, None)) for name in names}
    contexts, ids = take_passages(row, "contexts"), take_texts(row, "passage_ids")
    return read_reported({**given, "contexts": contexts, "passage_ids": ids})


def with_passages_of_steps(prediction: Prediction) -> Prediction:
    """Return a prediction with the passages of its steps if it names no others.

    They are the context if all have a text, and the `passage_ids` if all have an id.
    """
    if prediction.steps is None or (prediction.contexts, prediction.passage_ids) != (None, None):
        return prediction
    passages = passages_of(prediction.steps)
    ids = tuple(one.passage_id for one in passages)
    return replace(
        prediction,
        contexts=passages if all(one.text for one in passages) else None,
        passage_ids=ids if all(ids) else None,
    )


def recorded_context(prediction: Prediction) -> Context | None:
    """Return the context that a prediction reports; None if it reports none, or ids alone.

    A passage without an id has its place as its id.
    """
    shown = prediction.contexts
    if shown is None or any(one.passage_id and not one.text for one in shown):
        return None
    passages = tuple(
        ContextPassage(one.passage_id or str(place), one.text, "retrieved")
        for place, one in enumerate(shown, start=1)
    )
    return Context(prediction.query_id, "recorded", passages)


def take_history(row: Row, known: TableColumns) -> list[tuple[Role, str]]:
    """Return the messages before the question, in the rows of a format that has them."""
    return row.pop(HISTORY, None) or [] if known.format else []


def take_query_id(row: Row, text: str, history: Iterable[Sequence[str]] = ()) -> str:
    """Return the id of a row, or the digest of its query."""
    value = row.pop("query_id", None)
    if value is None and text.strip():
        return query_id_of(text, history)
    if value is None:
        raise FieldError("the row has neither a query_id nor the text of a query")
    return Row(query_id=str(value) if type(value) is int else value).take_id("query_id")


def take_passages(row: Row, role: str) -> list[Passage] | None:
    """Return the contexts of a column, with the ids that all of them have."""
    given = row.get(role)
    items = given if isinstance(given, list | tuple) else [given]
    texts = take_texts(row, role)
    if texts is None:
        return None
    ids = [item_id(item) for item in items]
    ids = ids if len(ids) == len(texts) and all(ids) else [""] * len(texts)
    return [Passage(i, text) for i, text in zip(ids, texts, strict=True)]


def take_texts(row: Row, role: str) -> list[str] | None:
    """Return the texts of a column: a list of texts or of objects with `text`, or one text."""
    take = item_id if role == "passage_ids" else item_text
    value = row.pop(role, None)
    if isinstance(value, list | tuple):
        value = [take(item) if isinstance(item, Mapping) else item for item in value]
    elif isinstance(value, Mapping):
        value = take(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    return Row({role: value}).take_texts(role)
