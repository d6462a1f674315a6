"""The version of a database: an old one is upgraded after a backup, a newer one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import sqlalchemy as sa

from ragstone.annotation.backup import read_backup
from ragstone.annotation.check import check_database
from ragstone.annotation.connections import Connections, database_address
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.migrations import STEPS
from ragstone.annotation.tables import VERSION
from ragstone.errors import ConfigError, NewerFile, StoreError

_VERSION_0 = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE event (
    sequence INTEGER PRIMARY KEY, client_id TEXT NOT NULL UNIQUE, person TEXT NOT NULL,
    received TEXT NOT NULL, kind TEXT NOT NULL, item_id TEXT NOT NULL, field TEXT NOT NULL,
    part TEXT NOT NULL, value TEXT NOT NULL, shown TEXT NOT NULL, seconds FLOAT,
    client_time TEXT NOT NULL);
CREATE TABLE person (name TEXT PRIMARY KEY, role TEXT NOT NULL, token_hash TEXT NOT NULL UNIQUE,
    added TEXT NOT NULL);
CREATE TABLE session (token_hash TEXT PRIMARY KEY, person TEXT NOT NULL, opened TEXT NOT NULL);
INSERT INTO meta VALUES ('version', '0'), ('project', 'ferry');
INSERT INTO person VALUES ('ann', 'owner', 'a hash', '2026-01-01');
INSERT INTO event VALUES
    (1, 'a', 'ann', '2026-01-01', 'label', 'q1', 'support', '', '"yes"', '', 1.5, ''),
    (2, 'b', 'ann', '2026-01-02', 'label', 'q1', 'support', '', '"no"', '', NULL, ''),
    (3, 'c', 'ann', '2026-01-03', 'undo', 'q1', '', '', '"b"', '', NULL, ''),
    (4, 'd', 'ann', '2026-01-04', 'skip', 'q2', '', '', '"unclear"', '', NULL, '')
"""


@pytest.fixture
def old(database_url: str) -> str:
    """Return the address of a database of version 0, in turn of each kind."""
    engine = Connections(database_address(database_url, Path())).engine
    with engine.begin() as connection:
        for statement in _VERSION_0.split(";"):
            connection.exec_driver_sql(statement)
    engine.dispose()
    return database_url


def test_an_old_database_is_upgraded_after_a_backup(old: str, tmp_path: Path) -> None:
    """The labels follow from the events; opened again, nothing more happens."""
    for _ in range(2):
        database = Database.open(old, "ferry", tmp_path / "backups")
        labels = [(one.item_id, one.field, one.value) for one in database.labels()]
        assert labels == [("q1", "support", "yes"), ("q2", "skipped", "unclear")]
        assert check_database(database.connections).is_sound
        database.append("ann", [Event("e", "open", "q3")])
        assert database.count() == 5
        database.close()
    (backup,) = (tmp_path / "backups").iterdir()
    found = read_backup(backup)
    assert backup.name.endswith("-version-0.jsonl.gz")
    assert (found.version, found.events, found.people) == (0, 4, 1)


def test_an_upgrade_that_fails_changes_nothing(
    old: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does one that cannot make its backup."""

    def broken(connection: sa.Connection) -> None:
        STEPS[0](connection)
        raise RuntimeError("power")

    def version() -> str:
        connections = Connections(database_address(old, Path()))
        with connections.reading() as connection:
            assert "label" not in sa.inspect(connection).get_table_names()
            found = connection.execute(sa.text("SELECT value FROM meta ORDER BY 1")).scalar()
        connections.close()
        return str(found)

    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write the backup"):
        Database.open(old, "ferry", tmp_path / "file" / "backups")
    assert version() == "0"
    with monkeypatch.context() as patch:
        patch.setattr("ragstone.annotation.migrations.STEPS", {0: broken})
        with pytest.raises(RuntimeError, match="power"):
            Database.open(old, "ferry", tmp_path / "backups")
    assert version() == "0"

    upgraded = Database.open(old, "ferry", tmp_path / "backups")
    assert upgraded.count() == 4
    upgraded.close()


def test_there_is_a_step_from_each_version() -> None:
    """They are numbered without gaps."""
    assert list(STEPS) == list(range(VERSION))


def test_a_newer_database_is_refused_and_named(database: Database, database_url: str) -> None:
    """The error says how to go on."""
    stated = sa.text("UPDATE meta SET value = '99' WHERE name = 'version'")
    database.connections.write(lambda connection: connection.execute(stated))
    with pytest.raises(NewerFile, match=r"has the version 99.*pip install -U ragstone"):
        Database.open(database_url, "ferry")


def test_a_database_of_another_project_is_refused(database: Database, database_url: str) -> None:
    """Both names are in the message."""
    assert database.count() == 0
    with pytest.raises(ConfigError, match="belongs to the project 'ferry', not to 'harbour'"):
        Database.open(database_url, "harbour")


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("CREATE TABLE event (id INTEGER)", "has a table 'event' of another program"),
        ("CREATE TABLE meta (id INTEGER)", "its table 'meta' is of another program"),
        ("CREATE TABLE meta (name TEXT, value TEXT)", "its table 'meta' is of another program"),
    ],
)
def test_a_database_of_another_program_is_refused(
    database_url: str, statement: str, told: str
) -> None:
    """Nothing is added to it."""
    engine = Connections(database_address(database_url, Path())).engine
    with engine.begin() as connection:
        connection.execute(sa.text(statement))
    with pytest.raises(ConfigError, match=told):
        Database.open(database_url, "ferry")
    with engine.connect() as connection:
        assert len(sa.inspect(connection).get_table_names()) == 1
    engine.dispose()
