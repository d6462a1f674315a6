"""The connection to a database: its address, and what goes wrong with it."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa
from tests.support import read_only

from ragstone.annotation.connections import VARIABLE, Connections, database_address
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.errors import ConfigError, RagstoneError, StoreUnavailable

SECRET = "s3cr/t word"  # noqa: S105


def label(client_id: str, value: Any = "yes") -> Event:
    """Return a label."""
    return Event(client_id, "label", "q1", "support", value=value)


def test_the_address_is_given_or_of_the_environment_or_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path may have characters that mean something in an address."""
    path = tmp_path / "a?b#c%20.db"
    assert database_address("", path).database == str(path)
    monkeypatch.setenv(VARIABLE, "postgresql://ann@host/labels")
    assert database_address("", path).drivername == "postgresql+psycopg"
    assert database_address("sqlite:///x.db", path).database == "x.db"


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (f"mysql://ann:{SECRET}@host/x", "a database 'mysql' cannot be used; write sqlite"),
        (f"postgresql:/ann:{SECRET}@host", "the address of the database is malformed"),
        ("postgresql://ann:s3cr@host:port/x", "the address of the database is malformed"),
        ("sqlite://", "cannot be used"),
        ("labels.db", "the address of the database is malformed; write sqlite:///PATH or"),
    ],
)
def test_a_wrong_address_is_an_error_that_does_not_show_it(address: str, told: str) -> None:
    """It may contain a password."""
    with pytest.raises(ConfigError) as caught:
        database_address(address, Path("x"))
    assert told in str(caught.value)
    assert "s3cr" not in str(caught.value)


@pytest.mark.parametrize("form", ["//ann:{}@127.0.0.1:1/x", "//ann@127.0.0.1:1/x?password={}"])
def test_a_postgresql_that_cannot_be_reached_is_named_without_the_password(form: str) -> None:
    """The message has host and database."""
    address = f"postgresql:{form.format(SECRET.replace('/', '%2F').replace(' ', '%20'))}"
    with pytest.raises(StoreUnavailable) as caught:
        Database.open(address, "ferry")
    assert "the PostgreSQL database 'x' at 127.0.0.1 does not answer or" in str(caught.value)
    assert "s3cr" not in f"{caught.value!r} {caught.value.__cause__}"


def test_a_password_in_a_message_of_the_driver_is_redacted() -> None:
    """In each form in which it may be written."""
    connections = Connections(database_address("postgresql://ann:s3cr%2Ft@host/x", Path()))
    error = sa.exc.OperationalError("", {}, Exception("no s3cr/t, s3cr%2Ft"))
    assert str(connections._error(error)).endswith("no ***, ***")


def test_a_database_of_postgresql_that_does_not_exist_is_named(postgres_url: str) -> None:
    """The server tells its name."""
    with pytest.raises(StoreUnavailable, match='database "test_none" does not exist'):
        Database.open(
            sa.make_url(postgres_url).set(database="test_none", drivername="postgresql+psycopg"),
            "ferry",
        )


def test_a_file_that_is_no_database_is_not_changed(tmp_path: Path) -> None:
    """The error names the file."""
    path = tmp_path / "annotation.db"
    path.write_bytes(b"these are notes, no database\n" * 100)
    before = path.read_bytes()
    with pytest.raises(
        StoreUnavailable, match=r"annotation\.db is not an SQLite database"
    ) as caught:
        Database.open(f"sqlite:///{path}", "ferry")
    assert caught.value.path == path
    assert path.read_bytes() == before


def test_a_damaged_database_is_named_with_the_way_out(tmp_path: Path) -> None:
    """Pages of the file that are overwritten are noticed."""
    path = tmp_path / "annotation.db"
    database = Database.open(f"sqlite:///{path}", "ferry")
    database.append("ann", [label(f"c{n}") for n in range(500)])
    database.close()
    with path.open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * (path.stat().st_size - 8192))
    database = Database.open(f"sqlite:///{path}", "ferry")
    with pytest.raises(StoreUnavailable, match=r"is damaged.*ragstone annotate restore"):
        list(database.events())


def test_a_database_that_can_only_be_read_is_an_error(tmp_path: Path) -> None:
    """A server that could keep nothing does not start."""
    folder = tmp_path / "mine"
    folder.mkdir()
    Database.open(f"sqlite:///{folder / 'a.db'}", "ferry").close()
    with read_only(folder), pytest.raises(StoreUnavailable, match="can only be read; give this"):
        Database.open(f"sqlite:///{folder / 'a.db'}", "ferry")


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    """The message says what to check."""
    with pytest.raises(StoreUnavailable, match="cannot be opened; check the folder"):
        Database.open(f"sqlite:///{tmp_path / 'none' / 'a.db'}", "ferry")


def test_a_full_disk_keeps_nothing_of_a_request_and_the_next_one_everything(tmp_path: Path) -> None:
    """SQLite is told that no page is left; later there are some."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")
    pages = [40]

    def limited(connection: Any, _record: Any, _proxy: Any) -> None:
        connection.execute(f"PRAGMA max_page_count={pages[0]}")

    sa.event.listen(database.connections.engine, "checkout", limited)
    events = [label(f"c{n}", "x" * 1000) for n in range(300)]
    with pytest.raises(StoreUnavailable, match="cannot grow, the disk is full; free some space"):
        database.append("ann", events)
    assert database.count() == 0

    pages[0] = 10_000
    assert len(database.append("ann", events)) == 300


def test_a_database_that_another_process_locks_is_an_error(
    tmp_path: Path,
) -> None:
    """After a wait."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")

    def impatient(connection: Any, _record: Any, _proxy: Any) -> None:
        connection.execute("PRAGMA busy_timeout=1")

    sa.event.listen(database.connections.engine, "checkout", impatient)
    other = sqlite3.connect(tmp_path / "a.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="is locked by another process"):
        database.append("ann", [label("1")])
    other.execute("COMMIT")
    other.close()
    assert len(database.append("ann", [label("1")])) == 1


def test_a_restarted_postgresql_is_connected_again(postgres: Any, postgres_url: str) -> None:
    """While it is away, events are refused as a whole; afterwards the same request is kept."""
    database = Database.open(postgres_url, "ferry")
    database.append("ann", [label("1")])
    postgres.kill()
    with pytest.raises(StoreUnavailable, match="the PostgreSQL database"):
        database.append("ann", [label("2")])
    with pytest.raises(StoreUnavailable):
        list(database.labels())
    postgres.start()

    assert [one.sequence for one in database.append("ann", [label("1"), label("2")])] == [1, 2]
    database.close()


def test_a_connection_that_is_lost_within_a_transaction_is_tried_once_more(
    postgres_url: str,
) -> None:
    """The server ended it, for example because an administrator restarted it."""
    database = Database.open(postgres_url, "ferry")
    tries = list[int]()

    def action(connection: sa.Connection) -> str:
        tries.append(connection.execute(sa.text("SELECT pg_backend_pid()")).scalar_one())
        if len(tries) == 1:
            with psycopg.connect(postgres_url, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s)", [tries[0]])
        return str(connection.execute(sa.text("SELECT 'kept'")).scalar_one())

    assert database.connections.write(action) == "kept"
    assert len(set(tries)) == 2
    database.close()


def test_the_settings_of_sqlite_survive_a_loss_of_power(tmp_path: Path) -> None:
    """A write-ahead log that is synced at each commit."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "ferry")
    with database.connections.reading() as connection:
        names = ("journal_mode", "synchronous")
        found = [connection.execute(sa.text(f"PRAGMA {name}")).scalar() for name in names]
    assert found == ["wal", 2]


def test_a_missing_extra_is_told_before_anything_else() -> None:
    """The command that installs it is in the message."""
    code = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "import importlib.util as u; found = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'sqlalchemy' else found(name, *a)\n"
        "from ragstone.cli import main; main()"
    )
    command = [sys.executable, "-c", code, "annotate", "no-such-project"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert run.returncode == 1
    assert "ragstone annotate needs the package 'sqlalchemy'" in run.stderr
    assert "pip install 'ragstone[annotate]'" in run.stderr


def test_a_missing_driver_of_postgresql_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite needs none."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(RagstoneError, match="'psycopg', which is not installed"):
        Database.open("postgresql://host/x", "ferry")
