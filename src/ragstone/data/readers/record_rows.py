"""Records of queries, conversations and passages as rows of tables, field by field."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from ragstone.data.readers.field_names import check_names, similar_names
from ragstone.data.readers.rows import FieldError, Ids, Row, row_error, show, within

if TYPE_CHECKING:
    from ragstone.data.table_builder import TableBuilder

_LOG: Final = logging.getLogger(__name__)
QUERY_FIELDS: Final = ("text", "answers", "rewrite", "history")
PASSAGE_FIELDS: Final = ("text", "title", "document")
_TURN_FIELDS: Final = ("user", "agent", "answers", "rewrite")
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
    A label with a name close to that of a field gives a warning.
    """
    told: set[str] = set()
    for number, record in records:
        place = f"{unit} {number}"
        try:
            for row in rows_of(record):
                ids.add(row[0], f"{Path(source).name}, {place}")
                builder.add(row)
        except FieldError as error:
            raise row_error(source, place, error, number) from error
        if new := record.keys() - told:
            told |= new
            fields = PASSAGE_FIELDS if rows_of is passage_rows else QUERY_FIELDS
            for name, near in similar_names(sorted(map(str, new)), fields):
                _LOG.warning("%s, %s: %r is a label, and not %r", source, place, name, near)


def query_rows(row: Mapping[str, Any]) -> list[_Row]:
    """Return a query as the only row of a list."""
    row = _named(row, query_id="_id", gold_answers="answers")
    check_names(row, QUERY_FIELDS)
    query_id, text = row.take_id(), row.take_question("text")
    answers, rewrite = row.take_texts("answers") or [], row.take_text("rewrite", optional=True)
    history = [_message(message) for message in row.take_list("history", optional=True)]
    return [(query_id, text, answers, messages_to_json(history), rewrite, row.take_labels())]


def passage_rows(row: Mapping[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """Return a passage as the only row of a list."""
    row = _named(row, passage_id="_id", document_id="document")
    check_names(row, PASSAGE_FIELDS)
    passage_id = row.take_id()
    text, title = row.take_text("text"), row.take_text("title", optional=True)
    document_id = row.take_text("document", optional=True)
    return [(passage_id, text, title, document_id, row.take_labels())]


def turn_rows(row: Mapping[str, Any]) -> Iterator[_Row]:
    """Yield one query per turn, with the earlier turns as its history."""
    row = _named(row, conversation_id="_id")
    conversation, turns = row.take_id(), row.take_list("turns")
    if not turns:
        raise FieldError("the field 'turns' must list at least one turn, found []")
    history: list[list[str]] = []
    for number, turn in enumerate(turns, start=1):
        with within(f"turn {number}"):
            fields = Row.of(turn)
            check_names(fields, _TURN_FIELDS)
            text, agent = fields.take_question("user"), fields.take_text("agent", optional=True)
            answers, rewrite = (
                fields.take_texts("answers"),
                fields.take_text("rewrite", optional=True),
            )
            labels = _placed(Row({**row, **fields}), conversation, number).take_labels()
        gold = answers if answers is not None else [agent] if agent else []
        yield f"{conversation}::{number}", text, gold, messages_to_json(history), rewrite, labels
        history.append(["user", text])
        if agent:
            history.append(["agent", agent])


def _named(row: Mapping[str, Any], **names: str) -> Row:
    """Return a record with the field names of files, such as `_id` for `query_id`."""
    found = Row.of(row)
    for name, written in names.items():
        if name in found and written not in found:
            found[written] = found.pop(name)
    return found


def _placed(extras: Row, conversation: str, turn: int) -> Row:
    """Add the labels `conversation` and `turn`; a field of that name must have the same value."""
    for name, value in (("conversation", conversation), ("turn", turn)):
        if extras.setdefault(name, value) != value:
            raise FieldError(
                f"the label {name!r} must be {show(value)}, found {show(extras[name])}; "
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


def messages_to_json(messages: Sequence[Sequence[str]]) -> str:
    """Return role and text of messages as the JSON of a query's history; "" without messages."""
    return json.dumps(messages, ensure_ascii=False) if messages else ""
