"""Leases of calls: which process makes a call, so that no other makes it too.

The leases are in a small SQLite file beside the call log. It contains nothing that must survive: a
lost lease costs at most one repeated call. An owner renews its heartbeat every few seconds; the
leases of an owner whose process ended, or whose heartbeat stopped, are free.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import socket
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from ragstone.calls import clock
from ragstone.calls.file_locks import lock_problem
from ragstone.calls.log_file import in_parts, sqlite_errors, transaction
from ragstone.core import limits
from ragstone.core.atomic_files import make_folder, private_file
from ragstone.core.threads import started_thread

if TYPE_CHECKING:
    from ragstone.calls.rate_control import ConcurrencyLimiter

_LOG: Final = logging.getLogger(__name__)
_CREATE: Final = (
    "CREATE TABLE IF NOT EXISTS owners (owner TEXT PRIMARY KEY, beat REAL NOT NULL)",
    "CREATE TABLE IF NOT EXISTS leases (key TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID",
)


class CallLeases(Protocol):
    """Which owner makes a call, for all processes or machines that share a log."""

    def claim(self, keys: Sequence[str]) -> set[str]:
        """Return the calls that this owner must make; the others have a live owner."""

    def release(self, keys: Iterable[str]) -> None:
        """Give leases back."""

    def share(self, identity: str, pace: ConcurrencyLimiter) -> None:
        """Share the limit on calls to an endpoint with the other owners."""

    def close(self) -> None:
        """Give every lease back."""


class Leases(CallLeases):
    """The leases of one `Calls` beside the call log `path`; the file is opened by the first claim.

    `claim` and `release` may be called from any thread.
    """

    def __init__(self, path: Path) -> None:
        self.path = file_of(path)
        self.owner = new_owner()
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._released: list[str] = []
        self._beats: dict[str, tuple[float, float]] = {}
        """Other owner -> its last heartbeat, and when it was first seen on this clock."""
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None
        self._problem: str | None = None

    def claim(self, keys: Sequence[str]) -> set[str]:
        """Return the calls that this owner must make; the others have a live owner.

        Without working locks, every call is claimed, after a warning.
        """
        claimed: set[str] = set()
        with self._lock, sqlite_errors(self.path):
            if not self._locks_work():
                return set(keys)
            for part, places in in_parts(keys):
                try:
                    claimed |= self._claim(part, places)
                except sqlite3.DatabaseError as error:
                    code = getattr(error, "sqlite_errorcode", None)
                    if code == sqlite3.SQLITE_READONLY_DBMOVED:
                        self._disconnect()  # another process has discarded a damaged file
                    elif isinstance(error, sqlite3.OperationalError):
                        raise
                    else:
                        self._discard()
                    claimed |= self._claim(part, places)
        return claimed

    def release(self, keys: Iterable[str]) -> None:
        """Give leases back, with the next claim or heartbeat."""
        with self._lock:
            self._released.extend(keys)

    def share(self, identity: str, pace: ConcurrencyLimiter) -> None:
        """Leave the limit as it is: each process on a machine finds its own."""

    def close(self) -> None:
        """Give every lease back and end the heartbeat."""
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        with self._lock:
            if self._connection is not None:
                with contextlib.suppress(sqlite3.Error), self._transaction() as connection:
                    self._bury(connection, self.owner)
                self._disconnect()
            self._thread = None
            self._closing.clear()

    def _locks_work(self) -> bool:
        if self._problem is None:
            make_folder(self.path.parent, private=True)
            self._problem = lock_problem(self.path.parent)
            if self._problem:
                _LOG.warning(
                    "%s: %s; use this store from one process at a time, or calls are repeated and "
                    "the call log may be damaged",
                    self.path.parent,
                    self._problem,
                )
        return not self._problem

    def _claim(self, keys: Sequence[str], places: str) -> set[str]:
        query = f"SELECT DISTINCT owner FROM leases WHERE key IN ({places})"  # noqa: S608 - only question marks
        with self._transaction() as connection:
            self._flush(connection)
            for (owner,) in connection.execute(query, keys).fetchall():
                if owner != self.owner and self._is_dead(connection, owner):
                    self._bury(connection, owner)
            insert = "INSERT OR IGNORE INTO leases VALUES (?, ?)"
            return {k for k in keys if connection.execute(insert, (k, self.owner)).rowcount}

    def _flush(self, connection: sqlite3.Connection) -> None:
        rows = [(key, self.owner) for key in sorted(self._released)]
        connection.executemany("DELETE FROM leases WHERE key = ? AND owner = ?", rows)
        self._released.clear()

    @staticmethod
    def _bury(connection: sqlite3.Connection, owner: str) -> None:
        connection.execute("DELETE FROM leases WHERE owner = ?", (owner,))
        connection.execute("DELETE FROM owners WHERE owner = ?", (owner,))

    def _is_dead(self, connection: sqlite3.Connection, owner: str) -> bool:
        """Return whether an owner's process ended or its heartbeat stopped.

        The heartbeat is observed on this process's clock, because machines' clocks differ.
        """
        row = connection.execute("SELECT beat FROM owners WHERE owner = ?", (owner,)).fetchone()
        if row is None or not may_live(owner):
            return True
        now = clock.monotonic()
        beat, since = self._beats.get(owner, (None, now))
        if beat != row[0]:
            since = now
        self._beats[owner] = (row[0], since)
        return now - since > limits.LEASE_EXPIRY_SECONDS

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        if self._connection is None:
            self._connection = self._open()
        with transaction(self._connection):
            yield self._connection

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            private_file(self.path),
            timeout=limits.LOG_LOCK_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        with contextlib.ExitStack() as closing:
            closing.callback(connection.close)
            connection.execute("PRAGMA synchronous=OFF")
            # Nothing is synced here, so power loss may leave damage that no query would notice.
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
            if found != "ok":
                raise sqlite3.DatabaseError(found)
            for statement in _CREATE:
                connection.execute(statement)
            self._renew(connection)
            closing.pop_all()
        if self._thread is None:
            self._start_heartbeat()
        return connection

    def _start_heartbeat(self) -> None:
        self._thread = started_thread(self._keep_alive, "ragstone-leases")

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _discard(self) -> None:
        """Remove a damaged file: its leases are worth less than an error."""
        self._disconnect()
        for suffix in ("", "-wal", "-shm", "-journal"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _renew(self, connection: sqlite3.Connection) -> None:
        connection.execute("INSERT OR REPLACE INTO owners VALUES (?, ?)", (self.owner, clock.now()))

    def _keep_alive(self) -> None:
        """Renew the heartbeat until `close`: a thread."""
        while not self._closing.wait(limits.LEASE_HEARTBEAT_SECONDS):
            self._beat()

    def _beat(self) -> None:
        # A missed heartbeat costs a repeated call; the next claim reports a lasting error.
        with contextlib.suppress(sqlite3.Error), self._lock, self._transaction() as connection:
            self._renew(connection)
            self._flush(connection)


def live_owners(path: Path) -> list[str]:
    """Return the owners beside a call log whose heartbeat is recent, by this machine's clock."""
    file = file_of(path)
    if not file.exists():
        return []
    with sqlite_errors(file), contextlib.closing(sqlite3.connect(file)) as connection:
        rows = connection.execute("SELECT owner, beat FROM owners").fetchall()
    recent = clock.now() - limits.LEASE_EXPIRY_SECONDS
    return [owner for owner, beat in rows if beat > recent and may_live(owner)]


def file_of(path: Path) -> Path:
    """Return the file of the leases beside a call log."""
    return path.with_name(f"{path.stem}.leases.sqlite")


@cache
def _machine() -> str:
    """Return a name of this machine's processes: equal names share one set of process ids."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")[:8]
        return f"{socket.gethostname()}/{boot}/{Path('/proc/self/ns/pid').stat().st_ino}"
    return socket.gethostname()


def new_owner() -> str:
    """Return a new owner of leases in this process."""
    return f"{_machine()}:{os.getpid()}:{secrets.token_hex(4)}"


def may_live(owner: str) -> bool:
    """Return False if an owner was a process of this machine that has ended."""
    machine, pid, _ = owner.rsplit(":", 2)
    if machine != _machine() or "/" not in machine:
        return True
    return Path(f"/proc/{pid}").exists()
