"""The database of a project: append-only events, and the labels that are derived from them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import sqlalchemy as sa

from ragstone.annotation.connections import Connections, database_address
from ragstone.annotation.derived import SKIPPED
from ragstone.annotation.events import Event, GivenLabel, KeptEvent
from ragstone.annotation.keeping import Posted, Receipt, keep
from ragstone.annotation.migrations import prepare
from ragstone.annotation.people import ROLES, PeopleTable, Person, PersonRole
from ragstone.annotation.tables import EVENTS, LABELS, count_rows, given_label, kept_event
from ragstone.data.readers.ratings import Inclusion

if TYPE_CHECKING:
    from ragstone.annotation.project import Project

__all__ = ["ROLES", "SKIPPED", "Database", "Person", "PersonRole"]


class Database(PeopleTable):
    """The events of one project, in SQLite or PostgreSQL. Methods may be called in any thread.

    Each raises `StoreUnavailable` if the database cannot be used now.
    """

    def __init__(self, connections: Connections, project: str) -> None:
        super().__init__(connections)
        self.project = project

    @classmethod
    def open(cls, url: str | sa.URL, project: str, backups: Path | None = None) -> Database:
        """Open the database of a project. A new one gets its tables, an old one is upgraded.

        Args:
            url: `sqlite:///PATH` or `postgresql://...`.
            project: the name of the project; a database belongs to one project.
            backups: the folder of the backup that is made before an upgrade; by default `backups`
                beside the file of an SQLite database, or in the current folder.

        Raises:
            ConfigError: the address is wrong, or the database is of another project or program.
            NewerFile: the database is of a newer version.
            StoreUnavailable: the database cannot be used.
        """
        address = database_address(str(url), Path()) if isinstance(url, str) else url
        connections = Connections(address)
        beside = Path() if connections.path is None else connections.path.parent
        try:
            prepare(connections, project, backups or beside / "backups")
        except BaseException:
            connections.close()
            raise
        return cls(connections, project)

    @classmethod
    def of(cls, project: Project, written: str = "") -> Database:
        """Open the database of a project folder.

        Args:
            project: the project.
            written: the address of a database; by default that of the environment variable
                RAGSTONE_DATABASE, else the file in the folder.
        """
        from ragstone.annotation.project import BACKUPS, DATABASE

        url = database_address(written, project.folder / DATABASE)
        return cls.open(url, project.name, project.folder / BACKUPS)

    @property
    def is_near(self) -> bool:
        """Whether it is on this machine: a file, or a server that answers within a millisecond."""
        return self.connections.is_near

    def close(self) -> None:
        """Close the connections."""
        self.connections.close()

    # Events

    def keep(
        self, posts: Sequence[Posted], item_ids: Container[str] | None = None
    ) -> list[list[Receipt]]:
        """Keep the events of some requests together, and return the receipts of each request.

        When this returns, the events survive the end of the process.

        Args:
            posts: the requests, in the order in which they arrived.
            item_ids: the items of the project; None: any item is accepted.
        """
        return self.connections.write(lambda connection: keep(connection, posts, item_ids))

    def append(self, person: str, events: Sequence[Event]) -> list[KeptEvent]:
        """Keep events and return them as kept, in order; of a second copy, the first one.

        Events that are refused, such as those for a withdrawn item, are left out.
        """
        (receipts,) = self.keep([Posted(person, events)])
        return [one.kept for one in receipts if one.kept is not None]

    def events(
        self,
        *,
        item_id: str = "",
        person: str = "",
        after: int = 0,
        kinds: Sequence[str] = (),
        counted: bool = False,
    ) -> Iterator[KeptEvent]:
        """Yield kept events in the order of the server; `counted`: without those that were undone.

        The other arguments choose by item, person, sequence number and kind.
        """
        given = {"item_id": item_id, "person": person, "after": after, "kinds": list(kinds)}
        values: dict[str, Any] = {name: value for name, value in given.items() if value}
        values |= {"undone": False} if counted else {}
        for row in self._rows(_events_of(*values), values):
            yield kept_event(row)

    def event(self, client_id: str) -> KeptEvent | None:
        """Return an event by its client id, or None."""
        row = self._row(sa.select(EVENTS).where(EVENTS.c.client_id == client_id))
        return None if row is None else kept_event(row)

    def draws(self) -> dict[str, Inclusion]:
        """Return item id -> how an active server drew the item, of the items that it drew."""
        values = {one.event.item_id: one.event.value for one in self.events(kinds=("draw",))}
        return {
            item_id: Inclusion(value["inclusion_probability"], value["round"])
            for item_id, value in values.items()
        }

    def undone(self, item_id: str) -> set[str]:
        """Return the client ids of the events of an item that were undone."""
        wanted = sa.select(EVENTS.c.client_id).where(EVENTS.c.item_id == item_id, EVENTS.c.undone)
        return {row.client_id for row in self._rows(wanted)}

    def withdrawn(self, item_ids: Sequence[str] | None = None) -> dict[str, str]:
        """Return item id -> reason, for items that the owner took out of the project.

        Args:
            item_ids: the items of interest; None: all.
        """
        wanted = sa.select(EVENTS.c.item_id, EVENTS.c.value).where(
            EVENTS.c.kind == "withdraw", ~EVENTS.c.undone
        )
        if item_ids is not None:
            wanted = wanted.where(EVENTS.c.item_id.in_(item_ids))
        rows = self._rows(wanted.order_by(EVENTS.c.sequence))
        return {row.item_id: str(orjson.loads(row.value) or "") for row in rows}

    def labels(
        self, *, item_id: str = "", person: str = "", field: str = ""
    ) -> Iterator[GivenLabel]:
        """Yield the labels that count now, by item, person, field and part."""
        given = {"item_id": item_id, "person": person, "field": field}
        values = {name: value for name, value in given.items() if value}
        for row in self._rows(_labels_of(*values), values):
            yield given_label(row)

    def count(self) -> int:
        """Return the number of kept events."""
        with self.connections.reading() as connection:
            return count_rows(connection, EVENTS)


@cache
def _events_of(*names: str) -> sa.Select[Any]:
    """Return the query for the events with some values: to build it takes as long as to run it."""
    columns = EVENTS.c
    conditions = {
        "after": columns.sequence > sa.bindparam("after"),
        "item_id": columns.item_id == sa.bindparam("item_id"),
        "person": columns.person == sa.bindparam("person"),
        "undone": columns.undone == sa.bindparam("undone"),
        "kinds": columns.kind.in_(sa.bindparam("kinds", expanding=True)),
    }
    found = (conditions[name] for name in names)
    return sa.select(EVENTS).where(*found).order_by(columns.sequence)


@cache
def _labels_of(*names: str) -> sa.Select[Any]:
    """Return the query for the labels with some values; see `_events_of`."""
    columns = LABELS.c
    order = (columns.item_id, columns.person, columns.field, columns.part)
    return (
        sa.select(LABELS)
        .where(*(columns[name] == sa.bindparam(name) for name in names))
        .order_by(*order)
    )
