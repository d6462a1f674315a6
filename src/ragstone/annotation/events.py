"""Events: everything that people do, in the order in which the server received it.

The browser makes the id of an event, so that a second copy of an event counts once. Events are
never changed; an `undo` names an earlier event, which no longer counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, get_args

import orjson

from ragstone.core.parsing import LimitError, parse_json
from ragstone.data.readers.ratings import Shown
from ragstone.data.readers.rows import FieldError, Row, show
from ragstone.web import limits

EventKind: TypeAlias = Literal[
    "label", "undo", "skip", "open", "comment", "ask", "reply", "withdraw", "draw"
]
"""label: an answer to a question (`value` None removes it); undo: `value` is the `client_id` of an
earlier event of the same person; skip: `value` is the reason; open: the item was shown; comment: a
text; ask: a query to the live agent, or a search; reply: the agent's turn, kept by the server;
withdraw: the owner takes an item out of the project; draw: the server drew the item to be labelled,
`value` is `{"inclusion_probability", "round"}`."""
KINDS: Final[tuple[str, ...]] = get_args(EventKind)
_SHOWN: Final = ("", "before", "after", "never")
_SERVER: Final = ("reply", "draw")
"""Kinds that the server alone makes."""
DRAW_ID: Final = "draw-"
"""The beginning of the ids of draws, which item and round give: no other event may take one."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that a person did."""

    client_id: str
    """Made by the client, unique in the project; letters, digits, `-` and `_`."""
    kind: EventKind
    item_id: str
    field: str = ""
    """The question that is answered, such as `support`."""
    part: str = ""
    """The part of the item: a system, a passage, a nugget, or a turn of a conversation."""
    value: Any = None
    """Plain data, as in JSON."""
    shown: Shown = ""
    """If a model's suggestion was shown before or after the label, or never."""
    seconds: float | None = None
    """Time on the item until the event."""
    client_time: str = ""
    """The clock of the client, which may be wrong: the server's order counts."""


@dataclass(frozen=True, slots=True)
class KeptEvent:
    """An event as the database has it."""

    sequence: int
    """Number of the event in the order in which the server received them."""
    person: str
    received: str
    """UTC, by the server's clock."""
    event: Event


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """The current answer of a person to a question about an item; derived from the events."""

    item_id: str
    person: str
    field: str
    part: str
    value: Any
    shown: Shown = ""
    seconds: float | None = None
    sequence: int = 0
    received: str = ""


def read_events(body: bytes) -> list[Event]:
    """Return the events of a request: one object, a list, or `{"events": [...]}`.

    Raises `FieldError`, with the number of the event, if one is malformed or too large.
    """
    try:
        document = parse_json(body)
    except (LimitError, ValueError) as error:
        raise FieldError(f"the body is not JSON: {error}") from error
    if isinstance(document, dict) and "events" in document:
        document = document["events"]
    found = document if isinstance(document, list) else [document]
    if len(found) > limits.POSTED_EVENTS:
        raise FieldError(
            f"a request has at most {limits.POSTED_EVENTS:,} events, found {len(found):,}"
        )
    return [_numbered(number, one) for number, one in enumerate(found, 1)]


def _numbered(number: int, written: object) -> Event:
    try:
        return _event(Row.of(written))
    except FieldError as error:
        raise FieldError(f"event {number}: {error}") from error


def _event(row: Row) -> Event:
    """Return an event of a client."""
    kind, shown = row.take_text("kind"), row.take_text("shown", optional=True)
    _one_of("kind", kind, [name for name in KINDS if name not in _SERVER])
    _one_of("shown", shown, _SHOWN)
    value = row.pop("value", None)
    if len(orjson.dumps(value)) > limits.EVENT_VALUE_BYTES:
        raise FieldError(f"the field 'value' is larger than {limits.EVENT_VALUE_BYTES:,} bytes")
    made = Event(
        row.take_id("client_id"),
        kind,  # type: ignore[arg-type]
        row.take_id("item_id"),
        row.take_text("field", optional=True),
        row.take_text("part", optional=True),
        value,
        shown,  # type: ignore[arg-type]
        _seconds(row.pop("seconds", None)),
        row.take_text("client_time", optional=True),
    )
    for name in ("client_id", "item_id", "field", "part", "client_time"):
        if len(getattr(made, name)) > limits.EVENT_ID_CHARACTERS:
            most = limits.EVENT_ID_CHARACTERS
            raise FieldError(f"the field {name!r} has more than {most:,} characters")
    if row:
        raise FieldError(f"unknown field {next(iter(row))!r}")
    for name in ("client_id", "item_id"):
        if "\0" in getattr(made, name):
            raise FieldError(f"the field {name!r} has the character NUL, which no database keeps")
    return made


def _one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    if value not in allowed:
        listed = ", ".join(repr(one) for one in allowed)
        raise FieldError(f"the field {name!r} must be one of {listed}, found {show(value)}")


def _seconds(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:  # noqa: PLR2004
        raise FieldError(f"the field 'seconds' must be a number from 0 on, found {show(value)}")
    return float(value)
