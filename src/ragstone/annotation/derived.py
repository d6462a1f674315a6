"""Values derived from the events: which of them were undone, and the labels that count.

`ragstone.annotation.keeping` derives both as events arrive; this module derives them from all
events again, to check a database, to repair it, and after an upgrade.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final, TypeAlias

import orjson
import sqlalchemy as sa

from ragstone.annotation.events import Event
from ragstone.annotation.tables import EVENTS, LABELS

SKIPPED: Final = "skipped"
"""The field of the label that a skip leaves; its value is the reason."""
CHANGES_A_LABEL: Final = ("label", "skip")
Place: TypeAlias = tuple[str, str, str, str]
"""Item, person, field and part of a label."""
_ROWS: Final = 1000


def place_of(event: Event, person: str) -> Place:
    """Return the place of the label that an event gives or removes."""
    if event.kind == "skip":
        return event.item_id, person, SKIPPED, ""
    return event.item_id, person, event.field, event.part


def label_row(place: Place, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of a label that the row of an event gives."""
    names = ("value", "shown", "seconds", "sequence", "received")
    key = dict(zip(("item_id", "person", "field", "part"), place, strict=True))
    return key | {name: row[name] for name in names}


@dataclass
class Derived:
    """Values derived from events that are added in the order of the server."""

    undone: set[str] = field(default_factory=set)
    """Client ids."""
    _given: dict[Place, list[Mapping[str, Any]]] = field(default_factory=dict)
    """Place -> its events that count, the last one last."""
    _persons: dict[str, tuple[str, Place | None]] = field(default_factory=dict)
    """Client id -> person and place."""

    @classmethod
    def of(cls, connection: sa.Connection) -> Derived:
        """Return the values derived from the events of a database."""
        made = cls()
        for row in every_row(connection, EVENTS):
            made.add(row)
        return made

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the next event, as a row of the table."""
        client_id, person = row["client_id"], row["person"]
        place = None
        if row["kind"] in CHANGES_A_LABEL:
            is_skip = row["kind"] == "skip"
            name, part = (SKIPPED, "") if is_skip else (row["field"], row["part"])
            place = (row["item_id"], person, name, part)
            self._given.setdefault(place, []).append(row)
        elif row["kind"] == "undo":
            self._undo(person, row["value"])
        self._persons[client_id] = (person, place)

    def _undo(self, person: str, value: str) -> None:
        named = str(orjson.loads(value))
        known, place = self._persons.get(named, ("", None))
        if known != person or named in self.undone or named not in self._persons:
            return
        self.undone.add(named)
        if place is not None:
            given = self._given[place]
            self._given[place] = [one for one in given if one["client_id"] != named]

    def labels(self) -> dict[Place, dict[str, Any]]:
        """Return the labels that count, as rows of the table."""
        last = {place: given[-1] for place, given in self._given.items() if given}
        return {
            place: label_row(place, row) for place, row in last.items() if row["value"] != "null"
        }


def every_row(
    connection: sa.Connection, table: sa.Table, without: Container[str] = ()
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table in the order of its key, without some columns."""
    columns = [column for column in table.c if column.name not in without]
    names = [str(column.name) for column in columns]
    wanted = sa.select(*columns).order_by(*table.primary_key)
    with connection.execute(wanted.execution_options(yield_per=_ROWS)) as rows:
        for row in rows:
            yield dict(zip(names, row, strict=True))


def insert_rows(
    connection: sa.Connection, table: sa.Table, rows: Iterable[Mapping[str, Any]]
) -> None:
    """Insert rows, some at a time."""
    left = iter(rows)
    while some := list(islice(left, _ROWS)):
        connection.execute(sa.insert(table), some)


def derive_again(connection: sa.Connection) -> None:
    """Derive all values from the events again, and replace the stored ones."""
    found = Derived.of(connection)
    connection.execute(sa.update(EVENTS).where(EVENTS.c.undone).values(undone=False))
    left = iter(sorted(found.undone))
    while some := list(islice(left, _ROWS)):
        chosen = EVENTS.c.client_id.in_(some)
        connection.execute(sa.update(EVENTS).where(chosen).values(undone=True))
    connection.execute(sa.delete(LABELS))
    insert_rows(connection, LABELS, found.labels().values())


def label_now(connection: sa.Connection, place: Place) -> dict[str, Any] | None:
    """Return the label of one place as it follows from the kept events; None if there is none."""
    item_id, person, name, part = place
    columns = EVENTS.c
    given = (columns.kind == "label") & (columns.field == name) & (columns.part == part)
    if (name, part) == (SKIPPED, ""):
        given |= columns.kind == "skip"
    found = connection.execute(
        sa.select(EVENTS)
        .where(columns.item_id == item_id, columns.person == person, given, ~columns.undone)
        .order_by(columns.sequence.desc())
        .limit(1)
    )
    last = found.mappings().one_or_none()
    if last is None or last["value"] == "null":
        return None
    return label_row(place, dict(last))
