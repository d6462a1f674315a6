"""The call log: every finished model call, in one SQLite file.

A reply counts only after its transaction is committed with `synchronous=FULL`, which syncs the
write-ahead log to the disk. Replies that arrive together share a transaction, which limits syncs to
a few hundred per second. No counted reply is lost by `kill -9`, or by power loss on a disk that
honours syncs.

Several processes may share a log. The first reply to a call is stored, and every process returns
the stored reply. The file must be on a local disk: SQLite's write-ahead log does not work over a
network file system.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Protocol

import orjson

from ragstone.calls.types import Failure, Outcome, Reply, Request, TokenLogprob
from ragstone.core import limits
from ragstone.errors import StoreError

SCHEMA_VERSION: Final = 1
"""Version of the table's columns, stored in the file."""

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS calls (
  key TEXT PRIMARY KEY, identity TEXT NOT NULL, model TEXT NOT NULL, prompt_hash TEXT NOT NULL,
  messages TEXT NOT NULL, sampling TEXT NOT NULL, sample INTEGER NOT NULL,
  replied INTEGER NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL, status INTEGER,
  finish_reason TEXT NOT NULL, tokens_in INTEGER, tokens_out INTEGER, seconds REAL,
  attempts INTEGER NOT NULL, details TEXT NOT NULL, made_at REAL NOT NULL
)"""
_COLUMNS: Final = re.findall(r"(\w+) (?:TEXT|INTEGER|REAL)", _CREATE)
_REPLY_COLUMNS: Final = (
    "key, text, finish_reason, tokens_in, tokens_out, seconds, attempts, details, made_at"
)
_SAMPLE: Final = """
SELECT length(CAST(messages AS BLOB)), tokens_in, tokens_out, seconds FROM calls
WHERE rowid > (SELECT max(rowid) FROM calls) - ? AND identity = ? AND replied
ORDER BY rowid DESC LIMIT ?"""
_INSERT_SIZES: Final = (64, 8, 1)
"""Rows per INSERT. One long statement releases the GIL; many short ones contend for it."""
_GROUP_SECONDS: Final = 0.004
"""Seconds in which arriving replies join one transaction, and so share one sync."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One finished call, to be stored."""

    key: str
    identity: str
    model: str
    request: Request
    outcome: Outcome


class CommitListener(Protocol):
    """Listener, called on the writer thread when calls are committed."""

    def committed(self, outcomes: Sequence[Outcome]) -> None:
        """Handle committed outcomes."""

    def fail(self, error: StoreError) -> None:
        """Handle the error that prevents further commits."""


class CallLog(contextlib.AbstractContextManager["CallLog"]):
    """A call log in the SQLite file `path`, created with the first call.

    Use it as a context manager, or call `close`.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._queue: SimpleQueue[tuple[Entry, CommitListener] | None] = SimpleQueue()
        self._writer: threading.Thread | None = None

    def __exit__(self, *_: object) -> None:
        """Close the log."""
        self.close()

    def close(self) -> None:
        """Store the pending calls, and close the file."""
        with self._lock:
            writer, self._writer = self._writer, None
        if writer is not None:
            self._queue.put(None)
            writer.join()
        with self._lock:
            if self._reader is not None:
                self._reader.close()
                self._reader = None

    @property
    def pending(self) -> int:
        """Number of calls that wait for a commit."""
        return self._queue.qsize()

    def put(self, entry: Entry, listener: CommitListener) -> None:
        """Queue a call for storage. The listener is called after its commit."""
        self._queue.put((entry, listener))
        if self._writer is None:
            with self._lock:
                if self._writer is None:
                    self._writer = threading.Thread(
                        target=self._write, name="ragstone-call-log", daemon=True
                    )
                    self._writer.start()

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return key -> reply for the keys with a stored reply; failures are left out."""
        if not self.path.exists():
            return {}
        found: dict[str, Reply] = {}
        with self._reading() as connection:
            for start in range(0, len(keys), limits.MAX_KEYS_PER_QUERY):
                found |= _find(connection, keys[start : start + limits.MAX_KEYS_PER_QUERY])
        return found

    def sample(self, identity: str) -> list[tuple[int, tuple[Any, ...]]]:
        """Return a model's latest replies: prompt bytes, (tokens in, tokens out, seconds)."""
        if not self.path.exists():
            return []
        with self._reading() as connection:
            values = (limits.MAX_SAMPLED_ROWS, identity, limits.MAX_SAMPLED_REPLIES)
            rows = connection.execute(_SAMPLE, values).fetchall()
        return [(size, tuple(usage)) for size, *usage in rows]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, sqlite_errors(self.path):
            if self._reader is None:
                self._reader = connect(self.path)
            yield self._reader

    def _write(self) -> None:
        """Commit calls in groups until `close`: the writer thread."""
        connection: sqlite3.Connection | None = None
        stopping = False
        while not stopping:
            group = [self._queue.get()]
            if group[0] is not None:
                time.sleep(_GROUP_SECONDS)
            while not self._queue.empty():
                group.append(self._queue.get())
            stopping = None in group
            items = [item for item in group if item is not None]
            try:
                with sqlite_errors(self.path):
                    connection = connection or connect(self.path)
                    outcomes = _commit(connection, [entry for entry, _ in items])
                _notify(items, outcomes)
            except Exception as error:  # noqa: BLE001 - if this thread ended, every caller would hang
                failure = error if isinstance(error, StoreError) else _unexpected(self.path, error)
                for listener in {id(x): x for _, x in items}.values():
                    listener.fail(failure)
        if connection is not None:
            connection.close()


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


def connect(path: Path) -> sqlite3.Connection:
    """Open a log, creating its table if needed; raise `StoreError` for a newer version."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(
        path, timeout=limits.LOG_LOCK_SECONDS, isolation_level=None, check_same_thread=False
    )
    with contextlib.ExitStack() as closing:
        closing.callback(connection.close)
        _prepare(connection, path)
        closing.pop_all()
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    _enable_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer Ragstone (version {version} of the call log, this one "
            f"reads up to {SCHEMA_VERSION}); upgrade with: pip install -U ragstone"
        )
    if version < SCHEMA_VERSION:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_CREATE)
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
        connection.execute("COMMIT")


def _enable_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, waiting for another process that does the same."""
    deadline = time.monotonic() + limits.LOG_LOCK_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _find(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Reply]:
    places = ",".join("?" * len(keys))
    query = f"SELECT {_REPLY_COLUMNS} FROM calls WHERE replied AND key IN ({places})"  # noqa: S608 - only question marks
    return {row[0]: _reply(row) for row in connection.execute(query, keys)}


def _reply(row: Sequence[Any]) -> Reply:
    key, text, finish_reason, tokens_in, tokens_out, seconds, attempts, details, made_at = row
    more: Mapping[str, Any] = orjson.loads(details) if details else {}
    passage_ids = more.get("passage_ids")
    return Reply(
        text=text,
        finish_reason=finish_reason,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        seconds=seconds,
        logprobs=tuple(
            TokenLogprob(token, value, tuple((t, v) for t, v in top))
            for token, value, top in more.get("logprobs", ())
        ),
        reasoning=more.get("reasoning", ""),
        passage_ids=None if passage_ids is None else tuple(passage_ids),
        served_by=more.get("served_by", ""),
        attempts=attempts,
        key=key,
        rendered=more.get("rendered", ""),
        made_at=made_at,
    )


def _commit(connection: sqlite3.Connection, entries: Sequence[Entry]) -> list[Outcome]:
    """Commit some calls, and return the outcome that the log contains for each of them."""
    if not entries:
        return []
    now = time.time()
    rows = [_row(entry, now) for entry in entries]
    connection.execute("BEGIN IMMEDIATE")
    try:
        changed = _insert(connection, rows)
        outcomes: list[Outcome] = [entry.outcome for entry in entries]
        if changed < len(rows):
            # Another process stored a reply first: that reply counts.
            stored = _find(connection, [entry.key for entry in entries])
            outcomes = [stored.get(e.key, e.outcome) for e in entries]
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return outcomes


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
    row = f"({','.join('?' * len(_COLUMNS))})"
    updates = ", ".join(f"{name}=excluded.{name}" for name in _COLUMNS[1:])
    return (
        f"INSERT INTO calls ({', '.join(_COLUMNS)}) VALUES {','.join([row] * size)} "  # noqa: S608 - only our own names
        f"ON CONFLICT(key) DO UPDATE SET {updates} WHERE NOT calls.replied"
    )


def _row(entry: Entry, now: float) -> tuple[Any, ...]:
    request, outcome = entry.request, entry.outcome
    prompt = request.prompt_hash, request.rendered.decode(), request.sampling.canonical.decode()
    if isinstance(outcome, Failure):
        reason = outcome.reason.encode("utf-8", "replace").decode()
        result: tuple[Any, ...] = (0, "", reason, outcome.status)
        reply = Reply("")
    else:
        result, reply = (1, outcome.text, "", None), outcome
    usage = reply.finish_reason, reply.tokens_in, reply.tokens_out
    call = entry.key, entry.identity, entry.model, *prompt, request.sample
    return (*call, *result, *usage, outcome.seconds, outcome.attempts, _details(reply), now)


def _details(reply: Reply) -> str:
    """Return the optional fields of a reply as JSON; empty text if none is set."""
    fields = {
        "logprobs": [(t.token, t.logprob, t.top) for t in reply.logprobs],
        "reasoning": reply.reasoning,
        "passage_ids": reply.passage_ids,
        "served_by": reply.served_by,
        "rendered": reply.rendered,
        "rendered_hash": reply.rendered_hash,
    }
    # An empty tuple of passages is a fact: the system retrieved none.
    more = {name: value for name, value in fields.items() if value not in ("", [], None)}
    return orjson.dumps(more).decode() if more else ""


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a `StoreError` with the remedy."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error) or "malformed" in str(error):
            remedy = "move the file away to start a new log, or restore it from a copy"
        else:
            remedy = (
                "free disk space or set another folder with store=PATH, and run the command again"
            )
        raise StoreError(
            f"cannot use the call log {path}: {error}. Every reply stored before is safe; {remedy}"
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot create the call log {path}: {error.strerror or error}; "
            "set a writable folder with store=PATH"
        ) from error
