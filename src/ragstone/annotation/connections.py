"""The connection to a project's database: its address, its transactions and its errors.

No message contains a password, and no error carries written values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa

from ragstone.core.environment import resolved
from ragstone.core.offline import is_loopback
from ragstone.core.redaction import remember, without
from ragstone.errors import ConfigError, MissingDependency, StoreError, StoreUnavailable

T = TypeVar("T")
VARIABLE: Final = "RAGSTONE_DATABASE"
"""The environment variable with the address: a password in it is in no list of processes."""
_FORMS: Final = "sqlite:///PATH or postgresql://USER@HOST/NAME"
_BEGIN: Final = "ragstone_begin"
"""The option of a connection that has the statement with which its transaction begins."""
_LOCK: Final = (
    "SELECT pg_advisory_xact_lock(1380009810), set_config('synchronous_commit', 'on', true)"
)
_SECRET_KEYS: Final = ("password", "sslpassword")
_PATIENCE: Final = {"connect_timeout": 10, "tcp_user_timeout": 30_000}
"""Seconds to connect, and milliseconds to wait for the server, unless the address has its own."""
_CAUSES: Final = (
    (
        "not a database",
        "is not an SQLite database; name another file, or move it and restore a backup",
    ),
    ("malformed", "is damaged; move it away and restore a backup: ragstone annotate restore"),
    ("readonly", "can only be read; give this user the right to write the file and its folder"),
    ("unable to open", "cannot be opened; check the folder and the rights of this user"),
    ("is full", "cannot grow, the disk is full; free some space"),
    ("No space left", "cannot grow, the disk of its server is full; free some space"),
    ("locked", "is locked by another process; stop that process, or wait for it"),
)
"""Part of a driver's message -> the cause, and the way out."""


def database_address(written: str, path: Path) -> sa.URL:
    """Return the address of a database: the given one, else the environment's, else a file.

    Raises `ConfigError` for an address of another form, without showing it.
    """
    address = written or os.environ.get(VARIABLE, "")
    if not address:
        return sa.URL.create("sqlite", database=str(path.resolve()))
    try:
        url = sa.make_url(resolved(address, "the address of the database"))
    except (sa.exc.ArgumentError, ValueError):
        raise ConfigError(f"the address of the database is malformed; write {_FORMS}") from None
    name = url.get_backend_name()
    if name in ("postgresql", "postgres"):
        return url.set(drivername="postgresql+psycopg")
    if name == "sqlite" and url.database:
        return url
    raise ConfigError(
        f"a database {url.drivername!r} cannot be used; write {_FORMS}", value=url.drivername
    )


class Connections:
    """The connections to one database. Methods may be called in any thread."""

    def __init__(self, url: sa.URL) -> None:
        self.url = url
        self.is_sqlite = url.get_backend_name() == "sqlite"
        written = [url.password, *(url.query.get(key) for key in _SECRET_KEYS)]
        self._passwords = [str(value) for value in written if value]
        remember(self._passwords)
        given = {} if self.is_sqlite else _PATIENCE
        arguments = {name: value for name, value in given.items() if name not in url.query}
        try:
            # A connection is tried before its use: the server may have been restarted.
            self.engine = sa.create_engine(
                url, pool_pre_ping=not self.is_sqlite, hide_parameters=True, connect_args=arguments
            )
        except ImportError as error:
            raise MissingDependency("a PostgreSQL database", "psycopg", "annotate") from error
        if self.is_sqlite:
            sa.event.listen(self.engine, "connect", _sqlite_settings)
            sa.event.listen(self.engine, "begin", _sqlite_begin)

    @property
    def shown(self) -> str:
        """The database as messages name it, without user and password."""
        if self.is_sqlite:
            return f"the database {self.url.database}"
        where = self.url.host or self.url.query.get("host") or "this machine"
        return f"the PostgreSQL database {self.url.database or ''!r} at {where}"

    @cached_property
    def is_near(self) -> bool:
        """Whether the database is on this machine."""
        host = str(self.url.host or self.url.query.get("host") or "")
        return self.is_sqlite or host.startswith("/") or not host or is_loopback(host)

    @property
    def path(self) -> Path | None:
        """The file of an SQLite database."""
        return Path(self.url.database or "") if self.is_sqlite else None

    def write(self, action: Callable[[sa.Connection], T]) -> T:
        """Run an action in a transaction of the only writer, and return its result.

        A lost connection is opened again once: the action must be one that may run twice.

        Raises:
            StoreUnavailable: the database cannot be used now; nothing was written, or all of it.
        """
        try:
            with self._writing() as connection:
                return action(connection)
        except sa.exc.DBAPIError as error:
            if not error.connection_invalidated:
                raise self._error(error) from None
        try:
            with self._writing() as connection:
                return action(connection)
        except sa.exc.DBAPIError as error:
            raise self._error(error) from None

    @contextmanager
    def reading(self, *, snapshot: bool = False) -> Iterator[sa.Connection]:
        """Yield a connection for reading.

        Args:
            snapshot: whether all statements see one state of the database; otherwise each does.
        """
        try:
            with self.engine.connect() as connection:
                if snapshot and self.is_sqlite:
                    connection.execution_options(**{_BEGIN: "BEGIN"})
                elif snapshot:
                    connection.execution_options(isolation_level="REPEATABLE READ")
                yield connection
        except sa.exc.DBAPIError as error:
            raise self._error(error) from None

    def close(self) -> None:
        """Close the connections."""
        self.engine.dispose()

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self.engine.connect() as connection:
            connection.execution_options(**{_BEGIN: "BEGIN IMMEDIATE"})
            with connection.begin():
                if not self.is_sqlite:
                    connection.execute(sa.text(_LOCK))
                yield connection

    def _error(self, error: sa.exc.DBAPIError) -> StoreError:
        """Return an error with the cause in our words and without secrets."""
        told = without(str(error.orig), self._passwords)
        for sign, words in _CAUSES:
            if sign in told:
                return StoreUnavailable(f"{self.shown} {words}", path=self.path)
        first = " ".join(told.split())
        verb = "failed" if self.is_sqlite else "does not answer or refuses"
        return StoreUnavailable(f"{self.shown} {verb}: {first}", path=self.path)


def _sqlite_settings(connection: Any, _record: Any) -> None:
    # Transactions begin in `_sqlite_begin`, not where the driver guesses.
    connection.isolation_level = None
    for setting in ("busy_timeout=30000", "journal_mode=WAL", "synchronous=FULL"):
        connection.execute(f"PRAGMA {setting}")


def _sqlite_begin(connection: sa.Connection) -> None:
    statement = connection.get_execution_options().get(_BEGIN)
    # A single query needs no transaction: each further statement waits for other threads.
    if statement:
        connection.exec_driver_sql(statement)
