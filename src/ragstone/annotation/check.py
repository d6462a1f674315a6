"""The check of a database: nothing is missing or double, and derived values follow from events."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass, replace

import sqlalchemy as sa

from ragstone.annotation.connections import Connections
from ragstone.annotation.derived import Derived, derive_again, every_row
from ragstone.annotation.items import base_id
from ragstone.annotation.tables import EVENTS, LABELS, PEOPLE, count_rows


@dataclass(frozen=True, slots=True)
class DatabaseCheck:
    """The result of a database check."""

    events: int
    labels: int
    people: int
    damage: tuple[str, ...] = ()
    """Faults of the stored rows: a repair cannot mend them, a backup can."""
    stale: tuple[str, ...] = ()
    """Derived values that do not follow from the events."""
    repaired: bool = False
    """Whether they were derived again."""
    unknown_items: int = 0
    """Events for items that the project does not have, such as those of a changed file."""

    @property
    def is_sound(self) -> bool:
        """Whether nothing is wrong, or not any more."""
        return not self.damage and (self.repaired or not self.stale)


def check_database(
    connections: Connections, item_ids: Container[str] | None = None, *, repair: bool = False
) -> DatabaseCheck:
    """Check a database; with `repair`, derive stale values again.

    Args:
        connections: the database.
        item_ids: the items of the project; None: any item is known.
        repair: whether to derive labels and undone events again if they are stale.
    """
    if not repair:
        with connections.reading(snapshot=True) as connection:
            return _checked(connections, connection, item_ids)

    def action(connection: sa.Connection) -> DatabaseCheck:
        found = _checked(connections, connection, item_ids)
        if not found.stale:
            return found
        derive_again(connection)
        return replace(found, labels=count_rows(connection, LABELS), repaired=True)

    return connections.write(action)


def _checked(
    connections: Connections, connection: sa.Connection, item_ids: Container[str] | None
) -> DatabaseCheck:
    derived, undone, unknown = Derived(), set[str](), 0
    for row in every_row(connection, EVENTS):
        derived.add(row)
        if row["undone"]:
            undone.add(row["client_id"])
        unknown += item_ids is not None and base_id(row["item_id"]) not in item_ids
    return DatabaseCheck(
        events=count_rows(connection, EVENTS),
        labels=count_rows(connection, LABELS),
        people=count_rows(connection, PEOPLE),
        damage=tuple(_damage(connections, connection)),
        stale=tuple(_stale(connection, derived, undone)),
        unknown_items=unknown,
    )


def _damage(connections: Connections, connection: sa.Connection) -> Iterator[str]:
    if connections.is_sqlite:
        told = connection.execute(sa.text("PRAGMA integrity_check")).scalars().all()
        if told != ["ok"]:
            yield f"SQLite reports: {told[0]}"
    count = count_rows(connection, EVENTS)
    number = sa.func.count(sa.distinct(EVENTS.c.client_id))
    double = count - connection.execute(sa.select(number)).scalar_one()
    if double:
        yield f"{double:,} events have the client id of another one"
    missing = (connection.execute(sa.select(sa.func.max(EVENTS.c.sequence))).scalar() or 0) - count
    if missing:
        yield f"{missing:,} events are missing, by the numbers of the others"


def _stale(connection: sa.Connection, derived: Derived, undone: set[str]) -> Iterator[str]:
    wrong = len(derived.undone ^ undone)
    if wrong:
        yield f"{wrong:,} events are marked as undone, or not, against the undo events"
    expected = derived.labels()
    names = tuple(column.name for column in LABELS.primary_key)
    kept = {tuple(row[name] for name in names): row for row in every_row(connection, LABELS)}
    cases: tuple[tuple[str, Callable[[tuple[str, ...]], bool]], ...] = (
        ("labels are missing", lambda place: place not in kept),
        ("labels follow from no event", lambda place: place not in expected),
        ("labels differ from their event", lambda place: kept[place] != expected[place]),  # type: ignore[index]
    )
    left = {*kept, *expected}
    for words, holds in cases:
        found = {place for place in left if holds(place)}
        left -= found
        if found:
            yield f"{len(found):,} {words}"
