"""The call log: every finished model call, in one SQLite file.

A reply counts only after its transaction is committed with `synchronous=FULL`, which syncs the
write-ahead log to the disk. Replies that arrive together share a transaction, which limits syncs to
a few hundred per second. No counted reply is lost by `kill -9`, or by power loss on a disk that
honours syncs.

With the address of a PostgreSQL database, several machines share their replies: each is committed
there first, and this file gets a copy.

Several processes may share a log. The first reply to a call is stored, and every process returns
the stored reply. A row has a checksum: a damaged reply counts as missing.
"""

from __future__ import annotations

import contextlib
import logging
import math
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Protocol

from ragstone.calls import clock
from ragstone.calls.leases import CallLeases, Leases
from ragstone.calls.log_file import (
    COLUMNS,
    READ,
    Entry,
    connect,
    connect_to_read,
    fetch,
    in_parts,
    read_outcome,
    sqlite_errors,
    to_row,
    transaction,
)
from ragstone.calls.postgres import PostgresLog, outcome_of
from ragstone.calls.postgres_leases import PostgresLeases
from ragstone.calls.types import Outcome, Reply
from ragstone.core import limits
from ragstone.core.redaction import redacted
from ragstone.core.threads import started_thread
from ragstone.errors import StoreError

_LOG: Final = logging.getLogger(__name__)
_SAMPLE: Final = """
SELECT length(CAST(messages AS BLOB)), tokens_in, tokens_out, seconds,
  CASE WHEN details LIKE '%"tokens_reasoning"%' THEN json_extract(details, '$.tokens_reasoning') END
FROM calls
WHERE rowid > (SELECT max(rowid) FROM calls) - ? AND identity = ? AND replied
ORDER BY rowid DESC LIMIT ?"""
_REJECT: Final = """
UPDATE calls SET rejected = ?, rejected_for = ? WHERE key = ? AND replied AND rejected IS NULL"""
_INSERT_SIZES: Final = (64, 8, 1)
"""Rows per INSERT. One long statement releases the GIL; many short ones contend for it."""
_GROUP_SECONDS: Final = 0.004
"""Seconds in which arriving replies join one transaction, and so share one sync."""


class CommitListener(Protocol):
    """Listener, called on the writer thread when calls are committed."""

    def committed(self, outcomes: Sequence[Outcome]) -> None:
        """Handle committed outcomes."""

    def fail(self, error: StoreError) -> None:
        """Handle the error that prevents further commits."""


class CallLog(contextlib.AbstractContextManager["CallLog"]):
    """A call log in the SQLite file `path`, created with the first call.

    Use it as a context manager, or call `close`.

    Args:
        path: the file.
        shared: the address of a PostgreSQL database, in which machines share their replies.
    """

    def __init__(self, path: Path, shared: str = "") -> None:
        self.path = Path(path)
        self.shared = PostgresLog(shared) if shared else None
        self._lock = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._queue: SimpleQueue[tuple[Entry, CommitListener] | None] = SimpleQueue()
        self._writer: threading.Thread | None = None
        self._writing: sqlite3.Connection | None = None
        """The writer's connection."""
        self._damaged: dict[str, str] = {}
        """Key of a damaged reply -> its checksum. The next reply to the call replaces it."""

    def __exit__(self, *_: object) -> None:
        """Close the log."""
        self.close()

    def close(self) -> None:
        """Store the pending calls, and close the file."""
        self._stop_writer()
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None
        if self.shared is not None:
            self.shared.close()

    def leases(self) -> CallLeases:
        """Return new leases of calls, for all processes that share the log."""
        return PostgresLeases(self.shared.url) if self.shared else Leases(self.path)

    @property
    def pending(self) -> int:
        """Number of calls that wait for a commit."""
        return self._queue.qsize()

    def put(self, entry: Entry, listener: CommitListener) -> None:
        """Queue a call for storage. The listener is called after its commit."""
        self._queue.put((entry, listener))
        if self._writer is None:
            self._start_writer()

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return key -> reply for the keys with a stored reply that was not rejected."""
        found = self.outcomes(keys)
        return {key: outcome for key, outcome in found.items() if isinstance(outcome, Reply)}

    def outcomes(
        self,
        keys: Sequence[str],
        *,
        rejected_since: float = math.inf,
        failed_since: float = math.inf,
    ) -> dict[str, Outcome]:
        """Return key -> outcome for the keys whose call need not be made.

        These are the replies, and the failures since `failed_since`. A reply that was rejected
        before `rejected_since`, or whose checksum is wrong, is left out.
        """
        found = self._own(keys, rejected_since, failed_since)
        if self.shared is None or len(found) == len(keys):
            return found
        missing = [key for key in keys if key not in found]
        rows = self.shared.rows(missing, rejected_since, failed_since)
        self._copy(rows)
        return found | {row[0]: outcome for row in rows if (outcome := outcome_of(row))}

    def after_failures(self, keys: Sequence[str]) -> float:
        """Return now, or a date after all failures of some calls if the clock was set back."""
        latest = clock.now()
        if self.path.exists():
            with self._reading() as connection:
                for part, places in in_parts(keys):
                    query = (
                        f"SELECT max(made_at) FROM calls WHERE key IN ({places}) AND NOT replied"  # noqa: S608 - only question marks
                    )
                    (failed,) = connection.execute(query, part).fetchone()
                    latest = max(latest, math.nextafter(failed or 0.0, math.inf))
        return latest

    def _own(
        self, keys: Sequence[str], rejected_since: float, failed_since: float
    ) -> dict[str, Outcome]:
        if not self.path.exists():
            return {}
        found: dict[str, Outcome] = {}
        with self._reading() as connection:
            for row in _select(connection, keys, rejected_since, failed_since):
                outcome = read_outcome(row)
                if outcome is None:
                    self._note_damage(row[0], row[-1])
                else:
                    found[row[0]] = outcome
        return found

    def _copy(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Store rows of other machines."""
        if not rows:
            return
        with self._lock, sqlite_errors(self.path):
            self._reader = self._reader or connect(self.path)
            if self._reader.execute("PRAGMA query_only").fetchone() == (0,):
                with transaction(self._reader):
                    _replace_damaged(self._reader, {row[0] for row in rows}, self._damaged)
                    _insert(self._reader, rows)

    def _note_damage(self, key: str, checksum: str) -> None:
        if key not in self._damaged:
            _LOG.warning(
                "%s: the kept reply %s is damaged: its checksum is wrong. It counts as missing",
                self.path,
                key[:12],
            )
            self._damaged[key] = checksum

    def reject(self, keys: Sequence[str], reason: str) -> None:
        """Mark replies as unusable: runs that start later make their calls again.

        No-op if the log is in a folder that is not writable.
        """
        if self.shared is not None:
            self.shared.reject(keys)
        rows = [(clock.now(), reason, key) for key in keys]
        with self._reading() as connection:
            if connection.execute("PRAGMA query_only").fetchone() == (0,):
                with transaction(connection):
                    connection.executemany(_REJECT, rows)

    def sample(self, identity: str) -> list[tuple[int, tuple[Any, ...]]]:
        """Return a model's latest replies: bytes, and tokens in, out, seconds, reasoning."""
        if not self.path.exists():
            return []
        with self._reading() as connection:
            values = (limits.MAX_SAMPLED_ROWS, redacted(identity), limits.MAX_SAMPLED_REPLIES)
            rows = connection.execute(_SAMPLE, values).fetchall()
        return [(size, tuple(usage)) for size, *usage in rows]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, sqlite_errors(self.path):
            if self._reader is None:
                self._reader = connect_to_read(self.path)
            yield self._reader

    def _start_writer(self) -> None:
        with self._lock:
            if self._writer is None:
                self._writer = started_thread(self._write, "ragstone-call-log")

    def _stop_writer(self) -> None:
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            self._queue.put(None)
            writer.join()

    def _write(self) -> None:
        """Commit calls in groups until `close`: the writer thread."""
        stopping = False
        while not stopping:
            group = [self._queue.get()]
            if group[0] is not None:
                time.sleep(_GROUP_SECONDS)
            while not self._queue.empty():
                group.append(self._queue.get())
            stopping = None in group
            self._store([item for item in group if item is not None])
        if self._writing is not None:
            self._writing.close()
            self._writing = None

    def _store(self, items: Sequence[tuple[Entry, CommitListener]]) -> None:
        """Commit calls, and tell their listeners."""
        try:
            entries = self._first([entry for entry, _ in items])
            with sqlite_errors(self.path):
                self._writing = self._writing or connect(self.path)
                outcomes = _commit(self._writing, entries, self._damaged)
            _notify(items, outcomes)
        except Exception as error:  # noqa: BLE001 - if this thread ended, every caller would hang
            failure = error if isinstance(error, StoreError) else _unexpected(self.path, error)
            for listener in {id(x): x for _, x in items}.values():
                listener.fail(failure)

    def _first(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Commit calls for all machines, and return them with the first outcome of each."""
        if self.shared is None or not entries:
            return entries
        stored = self.shared.commit(entries)
        return [replace(one, outcome=stored.get(one.key, one.outcome)) for one in entries]


def _unexpected(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"cannot store or count calls in {path}: {type(error).__name__}: {error}. Every reply "
        "stored before is safe: run the same command again to resume"
    )


def _notify(items: Sequence[tuple[Entry, CommitListener]], outcomes: Sequence[Outcome]) -> None:
    """Pass each listener its outcomes, in one call per listener."""
    grouped: dict[int, tuple[CommitListener, list[Outcome]]] = {}
    for (_, listener), outcome in zip(items, outcomes, strict=True):
        grouped.setdefault(id(listener), (listener, []))[1].append(outcome)
    for listener, group in grouped.values():
        listener.committed(group)


def _select(
    connection: sqlite3.Connection, keys: Sequence[str], rejected_since: float, failed_since: float
) -> Iterator[Any]:
    for part, places in in_parts(keys):
        query = (
            f"SELECT {', '.join(READ)} FROM calls WHERE key IN ({places}) AND "  # noqa: S608 - only our own names
            "CASE WHEN replied THEN rejected IS NULL OR rejected >= ? ELSE made_at >= ? END"
        )
        yield from fetch(connection, query, (*part, rejected_since, failed_since))


def _commit(
    connection: sqlite3.Connection, entries: Sequence[Entry], damaged: dict[str, str]
) -> list[Outcome]:
    """Commit some calls, and return the outcome that the log contains for each of them."""
    if not entries:
        return []
    now = clock.now()
    rows = [to_row(entry, now) for entry in entries]
    with transaction(connection):
        _replace_damaged(connection, {entry.key for entry in entries}, damaged)
        changed = _insert(connection, rows)
        outcomes: list[Outcome] = [entry.outcome for entry in entries]
        if changed < len(rows):
            # Another process stored a reply first: that reply counts.
            found = _select(connection, [e.key for e in entries], math.inf, math.inf)
            stored = {row[0]: read_outcome(row) for row in found}
            outcomes = [stored.get(e.key) or e.outcome for e in entries]
    return outcomes


def _replace_damaged(
    connection: sqlite3.Connection, keys: set[str], damaged: dict[str, str]
) -> None:
    """Let the next rows of some keys take the place of damaged ones."""
    for key in damaged and damaged.keys() & keys:
        replaced = "UPDATE calls SET replied = 0 WHERE key = ? AND checksum = ?"
        connection.execute(replaced, (key, damaged.pop(key)))


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> int:
    """Insert rows in groups, and return the number of rows inserted or updated."""
    changed = start = 0
    while start < len(rows):
        size = next(size for size in _INSERT_SIZES if size <= len(rows) - start)
        values = [value for row in rows[start : start + size] for value in row]
        changed += connection.execute(_insert_statement(size), values).rowcount
        start += size
    return changed


@cache
def _insert_statement(size: int) -> str:
    row = f"({','.join('?' * len(COLUMNS))})"
    updates = ", ".join(f"{name}=excluded.{name}" for name in COLUMNS[1:])
    return (
        f"INSERT INTO calls ({', '.join(COLUMNS)}) VALUES {','.join([row] * size)} "  # noqa: S608 - only our own names
        f"ON CONFLICT(key) DO UPDATE SET {updates} "
        "WHERE NOT calls.replied OR (calls.rejected IS NOT NULL AND excluded.replied)"
    )
