"""The call log that many machines share, in a PostgreSQL database.

A reply is committed here before it counts, and then copied into the call log of the store, which
stays complete on its own. A row has the checksum of the log's rows. Texts are in one column of
bytes, because texts of PostgreSQL cannot contain every character.
"""

from __future__ import annotations

import math
import os
import re
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

import orjson

from ragstone.calls.log_file import COLUMNS, READ, Entry, read_outcome, to_row
from ragstone.calls.types import Outcome
from ragstone.core import limits
from ragstone.core.environment import REFERENCE, resolved
from ragstone.core.offline import is_loopback, network_forbidden
from ragstone.core.redaction import remember, without
from ragstone.errors import ConfigError, MissingDependency, StoreError

T = TypeVar("T")
SCHEMA_VERSION: Final = 1
VARIABLE: Final = "RAGSTONE_CALLS"
"""The environment variable with the address."""
_PASSWORD: Final = re.compile(r"://[^/@]*:[^/]+@|password=[^&]")
_FORM: Final = "postgresql://USER@HOST/NAME"
_LOCK: Final = "SELECT pg_advisory_xact_lock(1380009827)"
"""Held by the one transaction that makes tables, or that changes leases."""
_CREATE: Final = (
    "CREATE TABLE IF NOT EXISTS ragstone_call_version (version INTEGER NOT NULL)",
    """INSERT INTO ragstone_call_version
    SELECT 1 WHERE NOT EXISTS (SELECT FROM ragstone_call_version)""",
    """CREATE TABLE IF NOT EXISTS ragstone_calls (
    key TEXT PRIMARY KEY, replied BOOLEAN NOT NULL, made_at DOUBLE PRECISION NOT NULL,
    rejected DOUBLE PRECISION, checksum TEXT NOT NULL, content BYTEA NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS ragstone_call_owners (
    owner TEXT PRIMARY KEY, beat TIMESTAMPTZ NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS ragstone_call_leases (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS ragstone_call_limits (
    endpoint TEXT PRIMARY KEY, paused_until TIMESTAMPTZ NOT NULL, overloads BIGINT NOT NULL)""",
    """CREATE TABLE IF NOT EXISTS ragstone_call_users (
    endpoint TEXT NOT NULL, owner TEXT NOT NULL, PRIMARY KEY (endpoint, owner))""",
)
_SELECT: Final = """
SELECT content FROM ragstone_calls WHERE key = ANY(%s) AND
  CASE WHEN replied THEN rejected IS NULL OR rejected >= %s ELSE made_at >= %s END"""
_INSERT: Final = """
INSERT INTO ragstone_calls AS c VALUES (%s, %s, %s, NULL, %s, %s)
ON CONFLICT (key) DO UPDATE SET replied = excluded.replied, made_at = excluded.made_at,
  rejected = NULL, checksum = excluded.checksum, content = excluded.content
WHERE NOT c.replied OR (c.rejected IS NOT NULL AND excluded.replied)"""
_DAMAGED: Final = "UPDATE ragstone_calls SET replied = FALSE WHERE key = %s AND checksum = %s"
_REJECT: Final = """
UPDATE ragstone_calls SET rejected = %s WHERE key = ANY(%s) AND replied AND rejected IS NULL"""

Row = tuple[Any, ...]
"""The values of `COLUMNS`."""


def shared_address(written: str | None) -> str:
    """Return the address of a shared call log; "" without one.

    Args:
        written: the address; "" for that of the environment variable `RAGSTONE_CALLS`, if it is
            set; None for none. Only the variable may contain a password: the others are recorded.

    Raises:
        ConfigError: the address is of another kind, or contains a password; it is not shown.

    >>> shared_address(None)
    ''
    """
    if written is None:
        return ""
    address = written or os.environ.get(VARIABLE, "")
    if address and not address.startswith(("postgresql://", "postgres://")):
        raise ConfigError(
            f"the address of a shared call log begins with postgresql://; write {_FORM}",
            key="calls",
        )
    if _PASSWORD.search(REFERENCE.sub("", written)):
        raise ConfigError(
            "the address of the call log contains a password; put the whole address into the "
            f"environment variable {VARIABLE}, or the password into PGPASSWORD or ~/.pgpass",
            key="calls",
        )
    return address


class PostgresDatabase:
    """A connection to the database of a shared call log; it is opened by the first use.

    The methods may be called from any thread.
    """

    def __init__(self, url: str) -> None:
        try:
            import psycopg
            from psycopg import conninfo
        except ImportError as error:
            raise MissingDependency("a shared call log", "psycopg", "annotate") from error
        self._psycopg = psycopg
        try:
            given = conninfo.conninfo_to_dict(resolved(url, "the address of the call log"))
        except psycopg.Error:
            raise ConfigError(
                f"the address of the shared call log is malformed; write {_FORM}"
            ) from None
        self._options: dict[str, Any] = {"connect_timeout": limits.CHECK_TIMEOUT_SECONDS, **given}
        host = given.get("host") or "this machine"
        self.shown = f"the PostgreSQL call log {given.get('dbname', '')!r} at {host}"
        """The database as messages name it, without user and password."""
        self._passwords = [str(v) for n, v in given.items() if "password" in n and v]
        remember(self._passwords)
        self._lock = threading.Lock()
        self._connection: Any = None

    def run(self, action: Callable[[Any], T], *, alone: bool = False) -> T:
        """Run an action in a transaction, and return its result.

        A lost connection is opened again once: an action must be one that may run twice.

        Args:
            action: gets the connection.
            alone: whether no other transaction of this kind runs at the same time.

        Raises:
            StoreError: the database cannot be used.
        """
        with self._lock:
            try:
                return self._run(action, alone=alone)
            except self._psycopg.OperationalError as error:
                if self._connection is not None and not self._connection.closed:
                    raise self._error(error) from None
            except self._psycopg.Error as error:
                raise self._error(error) from None
            try:
                return self._run(action, alone=alone)
            except self._psycopg.Error as error:
                raise self._error(error) from None

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _run(self, action: Callable[[Any], T], *, alone: bool) -> T:
        if self._connection is None or self._connection.closed:
            self._connection = self._open()
        with self._connection.transaction():
            if alone:
                self._connection.execute(_LOCK)
            return action(self._connection)

    def _open(self) -> Any:
        host = str(self._options.get("host") or "")
        if network_forbidden() and host and not (host.startswith("/") or is_loopback(host)):
            raise StoreError(f"offline: {self.shown} is on another machine; run without --offline")
        connection: Any = self._psycopg.connect(**self._options, autocommit=True)
        connection.execute("SET synchronous_commit = on")
        with connection.transaction():
            connection.execute(_LOCK)
            for statement in _CREATE:
                connection.execute(statement)
            (version,) = connection.execute("SELECT version FROM ragstone_call_version").fetchone()
        if version > SCHEMA_VERSION:
            connection.close()
            raise StoreError(
                f"{self.shown} was written by a newer Ragstone (version {version} of the tables, "
                f"this one reads up to {SCHEMA_VERSION}); upgrade with: pip install -U ragstone"
            )
        return connection

    def _error(self, error: Exception) -> StoreError:
        """Return an error without secrets and without written values."""
        told = without(str(error).partition("\nDETAIL")[0], self._passwords)
        text = " ".join(told.split())
        return StoreError(
            f"cannot use {self.shown}: {text}. Every reply stored before is safe; check that the "
            "server runs and that this user may create tables there, and run the command again"
        )


class PostgresLog:
    """The replies of all machines that share a database."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.database = PostgresDatabase(url)
        self._damaged: dict[str, str] = {}
        """Key of a damaged row -> its checksum. The next reply to the call replaces it."""

    def close(self) -> None:
        """Close the connection."""
        self.database.close()

    def rows(self, keys: Sequence[str], rejected_since: float, failed_since: float) -> list[Row]:
        """Return the sound rows of the keys whose call need not be made."""
        values = list(keys), rejected_since, failed_since
        found = self.database.run(lambda c: c.execute(_SELECT, values).fetchall())
        rows = [tuple(orjson.loads(content)) for (content,) in found]
        return [row for row in rows if self._is_sound(row)]

    def commit(self, entries: Sequence[Entry]) -> Mapping[str, Outcome]:
        """Commit some calls; return key -> outcome of the calls that another machine made first."""
        # Equal orders of keys: two machines that store the same calls never wait for each other.
        rows = sorted(to_row(entry, time.time()) for entry in entries)
        damaged = [
            (key, self._damaged[key]) for key in self._damaged.keys() & {row[0] for row in rows}
        ]

        def store(connection: Any) -> int:
            with connection.cursor() as cursor:
                if damaged:
                    cursor.executemany(_DAMAGED, damaged)
                cursor.executemany(_INSERT, list(map(_values, rows)))
                return int(cursor.rowcount)

        changed = self.database.run(store)
        for key, _ in damaged:
            del self._damaged[key]
        if changed == len(rows):
            return {}
        stored = self.rows([row[0] for row in rows], math.inf, -math.inf)
        return {row[0]: outcome for row in stored if (outcome := outcome_of(row))}

    def reject(self, keys: Sequence[str]) -> None:
        """Mark replies as unusable."""
        values = time.time(), list(keys)
        self.database.run(lambda connection: connection.execute(_REJECT, values))

    def _is_sound(self, row: Row) -> bool:
        sound = len(row) == len(COLUMNS) and outcome_of(row) is not None
        if not sound:
            self._damaged[row[0]] = _named(row)["checksum"]
        return sound


def outcome_of(row: Row) -> Outcome | None:
    """Return the outcome in a row of `COLUMNS`, or None if it is damaged."""
    named = _named(row)
    return read_outcome([named[name] for name in READ])


def _named(row: Row) -> dict[str, Any]:
    return dict(zip(COLUMNS, row, strict=False))


def _values(row: Row) -> Row:
    named = _named(row)
    facts = bool(named["replied"]), named["made_at"], named["checksum"]
    return (row[0], *facts, orjson.dumps(row))
