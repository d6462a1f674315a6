"""Records of queries, conversations and passages as rows of tables, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.data.readers.rows import (
    FieldError,
    Ids,
    as_object,
    row_error,
    show,
    take_id,
    take_labels,
    take_list,
    take_question,
    take_text,
    take_texts,
    within,
)

if TYPE_CHECKING:
    from ragstone.data.table_builder import TableBuilder

_ROLES: Final = {"user": "user", "agent": "agent", "assistant": "agent"}
_Row = tuple[str, str, list[str], str, str, str]
RowsOf: TypeAlias = Callable[[Mapping[str, Any]], Iterable[tuple[Any, ...]]]
"""Returns the rows of a record, with the id in front; raises `FieldError`."""


def add_rows(
    builder: TableBuilder,
    ids: Ids,
    source: Path | str,
    records: Iterable[tuple[int, Mapping[str, Any]]],
    rows_of: RowsOf,
    *,
    unit: str = "line",
) -> None:
    """Add the rows of numbered records to a table.

    Raises `DatasetError` with source and number if a record is malformed, or an id occurs twice.
    """
    for number, record in records:
        place = f"{unit} {number}"
        try:
            for row in rows_of(record):
                ids.add(row[0], f"{Path(source).name}, {place}")
                builder.add(row)
        except FieldError as error:
            raise row_error(source, place, error, number) from error


def query_rows(row: Mapping[str, Any]) -> list[_Row]:
    """Return a query as the only row of a list."""
    row = _named(row, query_id="_id", gold_answers="answers")
    query_id, text = take_id(row), take_question(row, "text")
    answers, rewrite = take_texts(row, "answers") or [], take_text(row, "rewrite", optional=True)
    history = [_message(message) for message in take_list(row, "history", optional=True)]
    return [(query_id, text, answers, _history(history), rewrite, take_labels(row))]


def passage_rows(row: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Return a passage as the only row of a list."""
    row = _named(row, passage_id="_id", document_id="document")
    passage_id = take_id(row)
    text, title = take_text(row, "text"), take_text(row, "title", optional=True)
    document_id = take_text(row, "document", optional=True)
    return [(passage_id, text, title, document_id, take_labels(row))]


def turn_rows(row: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield one query per turn, with the earlier turns as its history."""
    row = _named(row, conversation_id="_id")
    conversation, turns = take_id(row), take_list(row, "turns")
    if not turns:
        raise FieldError("the field 'turns' must list at least one turn, found []")
    history: list[list[str]] = []
    for number, turn in enumerate(turns, start=1):
        with within(f"turn {number}"):
            fields = as_object(turn)
            text, agent = take_question(fields, "user"), take_text(fields, "agent", optional=True)
            answers, rewrite = (
                take_texts(fields, "answers"),
                take_text(fields, "rewrite", optional=True),
            )
            labels = take_labels(_placed({**row, **fields}, conversation, number))
        gold = answers if answers is not None else [agent] if agent else []
        yield f"{conversation}::{number}", text, gold, _history(history), rewrite, labels
        history.append(["user", text])
        if agent:
            history.append(["agent", agent])


def _named(row: Mapping[str, Any], **names: str) -> dict[str, Any]:
    """Return a record with the field names of files, such as `_id` for `query_id`."""
    return {names[k] if k in names and names[k] not in row else k: v for k, v in row.items()}


def _placed(extras: dict[str, Any], conversation: str, turn: int) -> dict[str, Any]:
    """Add the labels `conversation` and `turn`; a field of that name must have the same value."""
    for name, value in (("conversation", conversation), ("turn", turn)):
        if extras.setdefault(name, value) != value:
            raise FieldError(
                f"the label {name!r} must be {value!r}, found {show(extras[name])}; "
                f"rename the field"
            )
    return extras


def _message(value: Any) -> list[str]:
    role = value.get("role") if type(value) is dict else None
    if type(role) is not str or role not in _ROLES or type(value.get("text")) is not str:
        raise FieldError(
            f"the field 'history' must contain objects with a text and the role 'user', 'agent' or "
            f'\'assistant\', such as {{"role": "user", "text": "..."}}, found {show(value)}'
        )
    return [_ROLES[role], value["text"]]


def _history(messages: list[list[str]]) -> str:
    return json.dumps(messages, ensure_ascii=False) if messages else ""
