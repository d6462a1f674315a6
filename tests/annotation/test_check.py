"""The check of a database finds what is damaged and what is stale."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from ragstone.annotation.check import DatabaseCheck, check_database
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event


@pytest.fixture
def filled(database: Database) -> Database:
    """Return a database with labels, one of them undone."""
    labels = [Event(f"c{n}", "label", f"q{n}", "support", value="yes") for n in range(5)]
    database.append("ann", [*labels, Event("undo", "undo", "q0", value="c0")])
    return database


def changed(database: Database, statement: str) -> DatabaseCheck:
    """Change a table behind the back of the database, and check it."""
    database.connections.write(lambda connection: connection.execute(sa.text(statement)))
    return check_database(database.connections)


def test_a_sound_database_has_nothing_to_repair(filled: Database) -> None:
    """Counts are those of its tables; events for items of no file are counted."""
    expected = DatabaseCheck(events=6, labels=4, people=0)
    assert check_database(filled.connections) == expected
    assert check_database(filled.connections, repair=True) == expected
    assert check_database(filled.connections, {"q0", "q1"}).unknown_items == 3
    filled.append("ann", [Event("again", "label", "q1#again", "support", value="yes")])
    assert check_database(filled.connections, {"q0", "q1"}).unknown_items == 3


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("DELETE FROM label WHERE item_id = 'q1'", "1 labels are missing"),
        ("UPDATE label SET value = '\"no\"'", "4 labels differ from their event"),
        ("UPDATE label SET person = 'eve' WHERE item_id = 'q1'", "1 labels follow from no event"),
        ("UPDATE event SET undone = FALSE", "1 events are marked as undone, or not"),
    ],
)
def test_what_is_stale_is_derived_again_on_demand(
    filled: Database, statement: str, told: str
) -> None:
    """The events are not touched."""
    before, events = list(filled.labels()), list(filled.events())
    found = changed(filled, statement)
    assert any(told in one for one in found.stale)
    assert (found.damage, found.is_sound) == ((), False)

    repaired = check_database(filled.connections, repair=True)
    assert (repaired.stale, repaired.repaired, repaired.is_sound) == (found.stale, True, True)
    assert repaired.labels == 4
    assert (list(filled.labels()), list(filled.events())) == (before, events)
    assert check_database(filled.connections).stale == ()


def test_a_missing_event_is_damage_that_no_repair_mends(filled: Database) -> None:
    """The numbers of the others tell."""
    found = changed(filled, "DELETE FROM event WHERE client_id = 'c1'")
    assert found.damage == ("1 events are missing, by the numbers of the others",)
    assert not check_database(filled.connections, repair=True).is_sound


def test_a_double_event_is_damage(postgres_url: str) -> None:
    """It needs a table that lost its rule, which SQLite's cannot."""
    database = Database.open(postgres_url, "ferry")
    database.append("ann", [Event("1", "open", "q1"), Event("2", "open", "q1")])
    drop = sa.text("ALTER TABLE event DROP CONSTRAINT event_client_id_key")
    database.connections.write(lambda connection: connection.execute(drop))
    found = changed(database, "UPDATE event SET client_id = '1'")
    assert found.damage == ("1 events have the client id of another one",)
    database.close()
