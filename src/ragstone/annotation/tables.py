"""The tables of a project's database: events, the labels derived from them, people and sessions."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

import orjson
import sqlalchemy as sa

from ragstone.annotation.events import Event, GivenLabel, KeptEvent

VERSION: Final = 1
"""The version of the tables; `ragstone.annotation.migrations` has the steps to it."""
METADATA: Final = sa.MetaData()
_TEXT: Final = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
"""Compared byte by byte, as in SQLite: labels come in one order, whatever the server's language."""


def _texts(*names: str, key: bool = False) -> list[sa.Column[str]]:
    """Return columns of texts, all of them in the primary key or none."""
    return [sa.Column(name, _TEXT, primary_key=key, nullable=False) for name in names]


META: Final = sa.Table("meta", METADATA, *_texts("name", key=True), *_texts("value"))
"""`version` of the tables, and `project`: the name of the project that they belong to."""
EVENTS: Final = sa.Table(
    "event",
    METADATA,
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("client_id", _TEXT, nullable=False, unique=True),
    *_texts("person", "received", "kind", "item_id", "field", "part", "value", "shown"),
    sa.Column("seconds", sa.Float),
    *_texts("client_time"),
    sa.Column("undone", sa.Boolean, nullable=False, default=False),
    sa.Index("event_item", "item_id", "person"),
    sa.Index("event_person", "person", "sequence"),
)
"""Append-only but for `undone`, which an undo sets; it can be derived from the undo events."""
LABELS: Final = sa.Table(
    "label",
    METADATA,
    *_texts("item_id", "person", "field", "part", key=True),
    *_texts("value", "shown"),
    sa.Column("seconds", sa.Float),
    sa.Column("sequence", sa.Integer, nullable=False),
    *_texts("received"),
    sa.Index("label_person", "person"),
)
"""The last label that counts per item, person, field and part; derived from the events."""
PEOPLE: Final = sa.Table(
    "person",
    METADATA,
    *_texts("name", key=True),
    *_texts("role"),
    sa.Column("token_hash", _TEXT, nullable=False, unique=True),
    *_texts("added"),
)
SESSIONS: Final = sa.Table(
    "session", METADATA, *_texts("token_hash", key=True), *_texts("person", "opened")
)


def event_row(kept: KeptEvent) -> dict[str, Any]:
    """Return an event as a row of the table."""
    row = {one.name: getattr(kept.event, one.name) for one in fields(Event)}
    row |= {"sequence": kept.sequence, "person": kept.person, "received": kept.received}
    return row | {"value": orjson.dumps(kept.event.value).decode(), "undone": False}


def count_rows(connection: sa.Connection, table: sa.Table) -> int:
    """Return the number of rows of a table."""
    return connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()


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
