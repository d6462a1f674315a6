"""Items: the texts that a person sees at once, read from the lines of a project's `items.jsonl`.

    {"item_id": "q1", "query_id": "q1", "query": "When does it sail?", "gold_answers": ["at six"],
     "passages": [{"passage_id": "p1", "title": "Times", "text": "..."}],
     "answers": [{"system": "bm25", "setting": "retrieved(3)", "answer": "At six.",
                  "passage_ids": ["p1"]}],
     "parts": ["It sails at six."], "suggested": {"support": "yes"}, "known": {"support": "yes"}}

Only `item_id` and `query` are required. An item with one answer may have `system`, `setting`,
`answer` and `reason` instead of `answers`. `inclusion_probability` and `round` are those that
`ragstone judge next` wrote. Further fields are labels of the query.

An item with `known` labels is a qualification item: each person gets it, and it is in no result.
The known labels of a question about several parts are an object with a label per part. If an item
is shown to a person a second time, its id is `ITEM_ID#again`: the first labels stay as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.core.schemas import labels_from_json, labels_to_json
from ragstone.data.readers.ratings import Inclusion, read_inclusion
from ragstone.data.readers.rows import FieldError, Row, json_rows, reading, show, within
from ragstone.errors import DatasetError
from ragstone.types import Message, Passage, Query

AGAIN: Final = "#again"
"""The end of the id of an item that a person gets a second time, to measure self-consistency."""
ADJUDICATED: Final = "adjudicated:"
"""The beginning of the field of a reviewer's decision; the name of the question follows."""
_ROLES: Final = ("user", "agent")
_DRAWN: Final = ("inclusion_probability", "round")


@dataclass(frozen=True, slots=True)
class ShownAnswer:
    """The answer of a system, which people see without its name."""

    system: str
    setting: str = ""
    text: str | None = None
    """None if the system failed, with `reason`."""
    reason: str = ""
    passage_ids: tuple[str, ...] = ()
    """The passages of the item that the system was shown; empty: all."""
    inclusion: Inclusion | None = None
    """How the answer was drawn, if not as the whole item was."""

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
    inclusion: Inclusion | None = None
    """How the item was drawn, by `ragstone judge next`."""


def base_id(item_id: str) -> str:
    """Return the id of an item in the project's file, also if a person gets it a second time.

    >>> base_id("q1#again"), base_id("q1")
    ('q1', 'q1')
    """
    return item_id.removesuffix(AGAIN)


def read_items(path: Path) -> Iterator[AnnotationItem]:
    """Yield the items of a file of JSON lines, plain or `.gz`; `item_line` writes them.

    Raises `DatasetError`, with file and line, for a malformed line and for an id that occurs twice.
    """
    seen: dict[str, int] = {}
    for number, row in json_rows(path):
        with reading(path, number):
            item = item_of(row)
        first = seen.setdefault(item.item_id, number)
        if first != number:
            problem = f"the item {item.item_id!r} is on line {first} too"
            raise DatasetError(f"{path}, line {number}: {problem}", path=path, line=number)
        yield item


def item_of(row: Row) -> AnnotationItem:
    """Return the item of a row, which loses its fields; raise `FieldError` if it is malformed."""
    item_id = row.take_id("item_id")
    if item_id.endswith(AGAIN):
        raise FieldError(f"the field 'item_id' may not end with {AGAIN!r}, found {show(item_id)}")
    query_id = row.take_id("query_id") if "query_id" in row else item_id
    text = row.take_question("query")
    history = tuple(_message(one) for one in row.take_list("history", optional=True))
    rewrite = row.take_text("rewrite", optional=True)
    gold = tuple(row.take_texts("gold_answers") or ())
    passages = tuple(_passage(one) for one in row.take_list("passages", optional=True))
    answers = _answers(row)
    parts = tuple(row.take_texts("parts") or ())
    suggested, known = (_mapping(row, name) for name in ("suggested", "known"))
    inclusion = _inclusion(row)
    labels = labels_from_json(row.take_labels())
    query = Query(query_id, text, gold, history, rewrite, labels)
    return AnnotationItem(item_id, query, passages, answers, parts, suggested, known, inclusion)


def _inclusion(row: Row) -> Inclusion | None:
    """Return how a row was drawn; the row loses the fields. Without them, `round` is a label."""
    if _DRAWN[0] not in row:
        return None
    return read_inclusion(Row({name: row.pop(name) for name in _DRAWN if name in row}))


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
            rows = [Row.of(one) for one in listed]
            found = [replace(_answer(one), inclusion=_inclusion(one)) for one in rows]
            if len({one.part for one in found}) < len(found):
                raise FieldError("two answers have the same 'system' and 'setting'; keep one")
            return tuple(found)
    return (_answer(row),) if "system" in row or "answer" in row else ()


def _answer(row: Row) -> ShownAnswer:
    """Return the answer of a row, which loses its fields."""
    system = row.take_text("system", optional=True)
    setting = row.take_text("setting", optional=True)
    text = row.take_text("answer") if row.get("answer") is not None else row.pop("answer", None)
    reason = row.take_text("reason", optional=True)
    return ShownAnswer(system, setting, text, reason, tuple(row.take_texts("passage_ids") or ()))


def _mapping(row: Row, name: str) -> dict[str, Any]:
    value = row.pop(name, None)
    if value is not None and not isinstance(value, dict):
        raise FieldError(f"the field {name!r} must be an object, found {show(value)}")
    return value or {}


def item_line(item: AnnotationItem) -> bytes:
    """Return the line of an item; `read_items` reads an equal item from it."""
    query, labels = item.query, labels_to_json(item.query.labels)
    own = {
        "item_id": item.item_id,
        "query_id": query.query_id,
        "query": query.text,
        "history": [{"role": one.role, "text": one.text} for one in query.history],
        "rewrite": query.rewrite,
        "gold_answers": list(query.gold_answers),
        "passages": [_filled(_passage_row(one)) for one in item.passages],
        "answers": [_filled(_answer_row(one)) for one in item.answers],
        "parts": list(item.parts),
        "suggested": dict(item.suggested),
        "known": dict(item.known),
        **_drawn_row(item.inclusion),
        "metadata": labels_from_json(labels),
    }
    return orjson.dumps(_filled(own), option=orjson.OPT_APPEND_NEWLINE)


def _passage_row(passage: Passage) -> dict[str, Any]:
    return {"passage_id": passage.passage_id, "title": passage.title, "text": passage.text}


def _answer_row(answer: ShownAnswer) -> dict[str, Any]:
    own = {"system": answer.system, "setting": answer.setting}
    text = {} if answer.text is None else {"answer": answer.text}
    rest = {"reason": answer.reason, "passage_ids": list(answer.passage_ids)}
    return own | text | rest | _drawn_row(answer.inclusion)


def _drawn_row(inclusion: Inclusion | None) -> dict[str, Any]:
    return (
        dict(zip(_DRAWN, (inclusion.probability, inclusion.round), strict=True))
        if inclusion
        else {}
    )


def _filled(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without its empty fields; an answer or a passage may be an empty text."""
    return {name: value for name, value in row.items() if value or name in ("answer", "text")}
