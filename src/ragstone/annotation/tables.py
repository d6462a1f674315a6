"""The tables of a project's database: events, the labels derived from them, people and sessions."""

from __future__ import annotations

from typing import Any, Final

import orjson
import sqlalchemy as sa

from ragstone.annotation.events import Event, GivenLabel, KeptEvent

VERSION: Final = 1
"""The version of the tables; `ragstone.annotation.migrations` has the steps to it."""
METADATA: Final = sa.MetaData()
_TEXT: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Text in the order of its code points, as in SQLite, whatever language PostgreSQL sorts by."""

META: Final = sa.Table(
    "meta",
    METADATA,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("value", _TEXT, nullable=False),
)
"""`version` of the tables, and `project`: the name of the project that they belong to."""
EVENTS: Final = sa.Table(
    "event",
    METADATA,
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("client_id", _TEXT, nullable=False, unique=True),
    sa.Column("person", _TEXT, nullable=False),
    sa.Column("received", _TEXT, nullable=False),
    sa.Column("kind", _TEXT, nullable=False),
    sa.Column("item_id", _TEXT, nullable=False),
    sa.Column("field", _TEXT, nullable=False),
    sa.Column("part", _TEXT, nullable=False),
    sa.Column("value", _TEXT, nullable=False),
    sa.Column("shown", _TEXT, nullable=False),
    sa.Column("seconds", sa.Float),
    sa.Column("client_time", _TEXT, nullable=False),
    sa.Column("undone", sa.Boolean, nullable=False, default=False),
    sa.Index("event_item", "item_id", "person"),
    sa.Index("event_person", "person", "sequence"),
)
"""Append-only but for `undone`, which an undo sets; it can be derived from the undo events."""
LABELS: Final = sa.Table(
    "label",
    METADATA,
    sa.Column("item_id", _TEXT, primary_key=True),
    sa.Column("person", _TEXT, primary_key=True),
    sa.Column("field", _TEXT, primary_key=True),
    sa.Column("part", _TEXT, primary_key=True),
    sa.Column("value", _TEXT, nullable=False),
    sa.Column("shown", _TEXT, nullable=False),
    sa.Column("seconds", sa.Float),
    sa.Column("sequence", sa.Integer, nullable=False),
    sa.Column("received", _TEXT, nullable=False),
    sa.Index("label_person", "person"),
)
"""The last label that counts per item, person, field and part; derived from the events."""
PEOPLE: Final = sa.Table(
    "person",
    METADATA,
    sa.Column("name", _TEXT, primary_key=True),
    sa.Column("role", _TEXT, nullable=False),
    sa.Column("token_hash", _TEXT, nullable=False, unique=True),
    sa.Column("added", _TEXT, nullable=False),
)
SESSIONS: Final = sa.Table(
    "session",
    METADATA,
    sa.Column("token_hash", _TEXT, primary_key=True),
    sa.Column("person", _TEXT, nullable=False),
    sa.Column("opened", _TEXT, nullable=False),
)


def event_row(kept: KeptEvent) -> dict[str, Any]:
    """Return an event as a row of the table."""
    event = kept.event
    return {
        "sequence": kept.sequence,
        "client_id": event.client_id,
        "person": kept.person,
        "received": kept.received,
        "kind": event.kind,
        "item_id": event.item_id,
        "field": event.field,
        "part": event.part,
        "value": orjson.dumps(event.value).decode(),
        "shown": event.shown,
        "seconds": event.seconds,
        "client_time": event.client_time,
        "undone": False,
    }


def kept_event(row: Any) -> KeptEvent:
    """Return the event of a row."""
    value = orjson.loads(row.value)
    event = Event(
        row.client_id, row.kind, row.item_id, row.field, row.part, value, row.shown, row.seconds,
        row.client_time,
    )  # fmt: skip
    return KeptEvent(row.sequence, row.person, row.received, event)


def given_label(row: Any) -> GivenLabel:
    """Return the label of a row."""
    value = orjson.loads(row.value)
    return GivenLabel(
        row.item_id, row.person, row.field, row.part, value, row.shown, row.seconds, row.sequence,
        row.received,
    )  # fmt: skip
