"""Items: what a person sees at once, read from the lines of a project's `items.jsonl`.

    {"item_id": "q1", "query_id": "q1", "query": "When does it sail?", "gold_answers": ["at six"],
     "passages": [{"passage_id": "p1", "title": "Times", "text": "..."}],
     "answers": [{"system": "bm25", "setting": "retrieved(3)", "answer": "At six."}],
     "parts": ["It sails at six."], "suggested": {"support": "yes"}, "known": {"support": "yes"}}

Only `item_id` and `query` are required. An item with one answer may have `system`, `setting`,
`answer` and `reason` instead of `answers`. Further fields are labels of the query.

An item with `known` labels is a qualification item: each person gets it, and it is in no result.
The known labels of a question about several parts are an object with a label per part. If an item
is shown to a person a second time, its id is `ITEM_ID#again`: the first labels stay as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.core.schemas import labels_from_json
from ragstone.data.readers.rows import FieldError, Row, json_rows, reading, show, within
from ragstone.errors import DatasetError
from ragstone.types import Message, Passage, Query

AGAIN: Final = "#again"
"""The end of the id of an item that a person gets a second time, to measure self-consistency."""
_ROLES: Final = ("user", "agent")


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The answer of a system, which people see without its name."""

    system: str
    setting: str = ""
    text: str | None = None
    """None if the system failed, with `reason`."""
    reason: str = ""

    @property
    def part(self) -> str:
        """The part of an item that a label of this answer names: `system · setting`."""
        return f"{self.system} · {self.setting}" if self.setting else self.system


@dataclass(frozen=True, slots=True)
class AnnotationItem:
    """A query with all that is shown with it."""

    item_id: str
    query: Query
    passages: tuple[Passage, ...] = ()
    answers: tuple[ShownAnswer, ...] = ()
    parts: tuple[str, ...] = ()
    """Claims or nuggets to be checked."""
    suggested: Mapping[str, Any] = field(default_factory=dict)
    """Question -> a model's label."""
    known: Mapping[str, Any] = field(default_factory=dict)
    """Question -> the right label of a qualification item; no browser gets it."""


def base_id(item_id: str) -> str:
    """Return the id of an item in the project's file, also if a person gets it a second time.

    >>> base_id("q1#again"), base_id("q1")
    ('q1', 'q1')
    """
    return item_id.removesuffix(AGAIN)


def read_items(path: Path) -> Iterator[AnnotationItem]:
    """Yield the items of a file of JSON lines, plain or `.gz`.

    Raises `DatasetError`, with file and line, for a malformed line and for an id that occurs twice.
    """
    seen: dict[str, int] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            item = _item(row)
        first = seen.setdefault(item.item_id, number)
        if first != number:
            problem = f"the item {item.item_id!r} is on line {first} too"
            raise DatasetError(f"{path}, line {number}: {problem}", path=path, line=number)
        yield item


def _item(row: Row) -> AnnotationItem:
    item_id = row.take_id("item_id")
    if item_id.endswith(AGAIN):
        raise FieldError(f"the field 'item_id' may not end with {AGAIN!r}, found {show(item_id)}")
    query_id = row.take_id("query_id") if "query_id" in row else item_id
    text = row.take_question("query")
    history = tuple(_message(one) for one in row.take_list("history", optional=True))
    gold = tuple(row.take_texts("gold_answers") or ())
    passages = tuple(_passage(one) for one in row.take_list("passages", optional=True))
    answers = _answers(row)
    parts = tuple(row.take_texts("parts") or ())
    suggested, known = (_mapping(row, name) for name in ("suggested", "known"))
    labels = labels_from_json(row.take_labels())
    query = Query(query_id, text, gold, history, labels=labels)
    return AnnotationItem(item_id, query, passages, answers, parts, suggested, known)


def _message(written: object) -> Message:
    with within("history"):
        row = Row.of(written)
        role = row.take_text("role")
        if role not in _ROLES:
            raise FieldError(f"the field 'role' must be 'user' or 'agent', found {show(role)}")
        return Message(role, row.take_text("text"))  # type: ignore[arg-type]


def _passage(written: object) -> Passage:
    with within("passages"):
        row = Row.of(written)
        text, title = row.take_text("text"), row.take_text("title", optional=True)
        return Passage(row.take_id("passage_id"), text, title)


def _answers(row: Row) -> tuple[ShownAnswer, ...]:
    listed = row.take_list("answers", optional=True)
    if listed:
        with within("answers"):
            return tuple(_answer(Row.of(one)) for one in listed)
    return (_answer(row),) if "system" in row or "answer" in row else ()


def _answer(row: Row) -> ShownAnswer:
    """Return the answer of a row, which loses its fields."""
    system = row.take_text("system", optional=True)
    setting = row.take_text("setting", optional=True)
    text = row.take_text("answer") if row.get("answer") is not None else row.pop("answer", None)
    return ShownAnswer(system, setting, text, row.take_text("reason", optional=True))


def _mapping(row: Row, name: str) -> dict[str, Any]:
    value = row.pop(name, None)
    if value is not None and not isinstance(value, dict):
        raise FieldError(f"the field {name!r} must be an object, found {show(value)}")
    return value or {}
