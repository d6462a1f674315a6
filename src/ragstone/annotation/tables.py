"""The tables of a project's database: events, the labels derived from them, people and sessions."""

from __future__ import annotations

from typing import Final

import sqlalchemy as sa

VERSION: Final = 1
"""The version of the tables; `ragstone.annotation.migrations` has the steps to it."""
METADATA: Final = sa.MetaData()

META: Final = sa.Table(
    "meta",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""`version` of the tables, and `project`: the name of the project that they belong to."""
EVENTS: Final = sa.Table(
    "event",
    METADATA,
    sa.Column("sequence", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("client_id", sa.Text, nullable=False, unique=True),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("received", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("item_id", sa.Text, nullable=False),
    sa.Column("field", sa.Text, nullable=False),
    sa.Column("part", sa.Text, nullable=False),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("shown", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float),
    sa.Column("client_time", sa.Text, nullable=False),
    sa.Column("undone", sa.Boolean, nullable=False, default=False),
    sa.Index("event_item", "item_id", "person"),
    sa.Index("event_person", "person", "sequence"),
)
"""Append-only but for `undone`, which an undo sets; it can be derived from the undo events."""
LABELS: Final = sa.Table(
    "label",
    METADATA,
    sa.Column("item_id", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, primary_key=True),
    sa.Column("field", sa.Text, primary_key=True),
    sa.Column("part", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("shown", sa.Text, nullable=False),
    sa.Column("seconds", sa.Float),
    sa.Column("sequence", sa.Integer, nullable=False),
    sa.Column("received", sa.Text, nullable=False),
    sa.Index("label_person", "person"),
)
"""The last label that counts per item, person, field and part; derived from the events."""
PEOPLE: Final = sa.Table(
    "person",
    METADATA,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("token_hash", sa.Text, nullable=False, unique=True),
    sa.Column("added", sa.Text, nullable=False),
)
SESSIONS: Final = sa.Table(
    "session",
    METADATA,
    sa.Column("token_hash", sa.Text, primary_key=True),
    sa.Column("person", sa.Text, nullable=False),
    sa.Column("opened", sa.Text, nullable=False),
)
