"""The database of a project: append-only events, and the labels that are derived from them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson
import sqlalchemy as sa

from ragstone.annotation.events import Event, GivenLabel, KeptEvent
from ragstone.annotation.people import ROLES, PeopleTable, Person, PersonRole
from ragstone.annotation.tables import EVENTS, LABELS, META, METADATA, VERSION
from ragstone.core.times import utc_text
from ragstone.errors import ConfigError

__all__ = ["ROLES", "SKIPPED", "Database", "Person", "PersonRole"]
_CHANGES_A_LABEL: Final = ("label", "skip")
SKIPPED: Final = "skipped"
"""The field of the label that a skip leaves; its value is the reason."""


class Database(PeopleTable):
    """The events of one project, in SQLite or PostgreSQL. Methods may be called in any thread."""

    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    @classmethod
    def open(cls, url: str, project: str) -> Database:
        """Open the database of a project; a new one gets its tables.

        Args:
            url: `sqlite:///PATH` or `postgresql://...`.
            project: the name of the project; a database belongs to one project.
        """
        engine = sa.create_engine(_with_driver(url))
        if engine.dialect.name == "sqlite":
            sa.event.listen(engine, "connect", _sqlite_settings)
        made = cls(engine)
        METADATA.create_all(engine)
        with engine.begin() as connection:
            known = {row.name: row.value for row in connection.execute(sa.select(META))}
            if not known:
                rows = [
                    {"name": "version", "value": str(VERSION)},
                    {"name": "project", "value": project},
                ]
                connection.execute(sa.insert(META), rows)
            elif known["project"] != project:
                raise ConfigError(
                    f"the database belongs to the project {known['project']!r}, not to {project!r}",
                    value=project,
                )
        return made

    def close(self) -> None:
        """Close the connections."""
        self._engine.dispose()

    # Events

    def append(self, person: str, events: Sequence[Event]) -> list[KeptEvent]:
        """Keep events and return them as kept, in order; of a second copy, the first one.

        When this returns, the events survive the end of the process.
        """
        with self._engine.begin() as connection:
            if connection.dialect.name == "postgresql":
                # One writer at a time: sequence numbers become visible in their order.
                connection.execute(sa.text("LOCK TABLE event IN EXCLUSIVE MODE"))
            return [_keep(connection, person, one) for one in events]

    def events(
        self, *, item_id: str = "", person: str = "", after: int = 0, kinds: Sequence[str] = ()
    ) -> Iterator[KeptEvent]:
        """Yield kept events in the order of the server, including those that were undone."""
        wanted = sa.select(EVENTS).where(EVENTS.c.sequence > after).order_by(EVENTS.c.sequence)
        for column, value in ((EVENTS.c.item_id, item_id), (EVENTS.c.person, person)):
            if value:
                wanted = wanted.where(column == value)
        if kinds:
            wanted = wanted.where(EVENTS.c.kind.in_(kinds))
        for row in self._rows(wanted):
            yield _kept(row)

    def undone(self, item_id: str) -> set[str]:
        """Return the client ids of the events of an item that were undone."""
        wanted = sa.select(EVENTS.c.client_id).where(EVENTS.c.item_id == item_id, EVENTS.c.undone)
        return {row.client_id for row in self._rows(wanted)}

    def labels(
        self, *, item_id: str = "", person: str = "", field: str = ""
    ) -> Iterator[GivenLabel]:
        """Yield the labels that count now, by item, person, field and part."""
        columns = LABELS.c
        order = (columns.item_id, columns.person, columns.field, columns.part)
        wanted = sa.select(LABELS).order_by(*order)
        for column, value in (
            (columns.item_id, item_id), (columns.person, person), (columns.field, field)
        ):  # fmt: skip
            if value:
                wanted = wanted.where(column == value)
        for row in self._rows(wanted):
            yield _label(row)

    def count(self) -> int:
        """Return the number of kept events."""
        with self._engine.connect() as connection:
            return connection.execute(sa.select(sa.func.count()).select_from(EVENTS)).scalar_one()


def _with_driver(url: str) -> str:
    return url.replace("postgresql://", "postgresql+psycopg://", 1)


def _sqlite_settings(connection: Any, _record: Any) -> None:
    for setting in ("journal_mode=WAL", "synchronous=FULL", "busy_timeout=30000"):
        connection.execute(f"PRAGMA {setting}")


def _keep(connection: sa.Connection, person: str, event: Event) -> KeptEvent:
    known = connection.execute(
        sa.select(EVENTS).where(EVENTS.c.client_id == event.client_id)
    ).one_or_none()
    if known is not None:
        return _kept(known)
    received = utc_text(timespec="milliseconds")
    values = {
        "client_id": event.client_id,
        "person": person,
        "received": received,
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
    made = connection.execute(sa.insert(EVENTS).values(values).returning(EVENTS.c.sequence))
    kept = KeptEvent(made.scalar_one(), person, received, event)
    if event.kind in _CHANGES_A_LABEL:
        _derive(connection, event.item_id, person, *_place(event))
    elif event.kind == "undo":
        _undo(connection, person, event)
    return kept


def _place(event: Event) -> tuple[str, str]:
    return (SKIPPED, "") if event.kind == "skip" else (event.field, event.part)


def _undo(connection: sa.Connection, person: str, undo: Event) -> None:
    """Let an earlier event of a person no longer count."""
    mine = (EVENTS.c.client_id == str(undo.value), EVENTS.c.person == person)
    row = connection.execute(sa.select(EVENTS).where(*mine)).one_or_none()
    if row is None or row.undone:
        return
    connection.execute(sa.update(EVENTS).where(*mine).values(undone=True))
    event = _kept(row).event
    if event.kind in _CHANGES_A_LABEL:
        _derive(connection, event.item_id, person, *_place(event))


def _derive(connection: sa.Connection, item_id: str, person: str, field: str, part: str) -> None:
    """Compute one label from the events again."""
    where = {"item_id": item_id, "person": person}
    about = [EVENTS.c[name] == value for name, value in where.items()]
    if field == SKIPPED:
        about.append(EVENTS.c.kind == "skip")
    else:
        about += [EVENTS.c.kind == "label", EVENTS.c.field == field, EVENTS.c.part == part]
    last = connection.execute(
        sa.select(EVENTS)
        .where(*about, ~EVENTS.c.undone)
        .order_by(EVENTS.c.sequence.desc())
        .limit(1)
    ).one_or_none()
    key = {**where, "field": field, "part": part}
    connection.execute(sa.delete(LABELS).where(*(LABELS.c[n] == v for n, v in key.items())))
    if last is not None and last.value != "null":
        names = ("value", "shown", "seconds", "sequence", "received")
        values = {name: getattr(last, name) for name in names}
        connection.execute(sa.insert(LABELS).values({**key, **values}))


def _kept(row: Any) -> KeptEvent:
    value = orjson.loads(row.value)
    event = Event(
        row.client_id, row.kind, row.item_id, row.field, row.part, value, row.shown, row.seconds,
        row.client_time,
    )  # fmt: skip
    return KeptEvent(row.sequence, row.person, row.received, event)


def _label(row: Any) -> GivenLabel:
    value = orjson.loads(row.value)
    return GivenLabel(
        row.item_id, row.person, row.field, row.part, value, row.shown, row.seconds, row.sequence,
        row.received,
    )  # fmt: skip
