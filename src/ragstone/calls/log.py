"""The call log: every model call that ended, kept in one SQLite file.

What "kept" means: a reply counts only after the transaction that holds it is committed with
`synchronous=FULL`, which syncs the write-ahead log to the disk. Replies that arrive together share
one transaction, so the price of a sync is paid a few hundred times a second at most. `kill -9` at
any moment, and power loss on a disk that honours a sync, lose no reply that was counted.

Several processes may use one log at once: the first reply to a call stays, and a process that got
another reply to the same call is handed the one that stayed. The file must lie on a local disk:
SQLite's write-ahead log does not work over a network file system.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final, Protocol, Self

import orjson

from ragstone.calls.types import Failure, Outcome, Reply, Request, TokenLogprob
from ragstone.errors import StoreError

LAYOUT: Final = 1
"""Version of the table's columns, kept in the file."""

_COLUMNS: Final = (
    "key",
    "identity",
    "model",
    "prompt_hash",
    "messages",
    "sampling",
    "sample",
    "replied",
    "text",
    "reason",
    "status",
    "finish_reason",
    "tokens_in",
    "tokens_out",
    "seconds",
    "attempts",
    "details",
    "made_at",
)
_CREATE: Final = """
CREATE TABLE IF NOT EXISTS calls (
  key TEXT PRIMARY KEY, identity TEXT NOT NULL, model TEXT NOT NULL, prompt_hash TEXT NOT NULL,
  messages TEXT NOT NULL, sampling TEXT NOT NULL, sample INTEGER NOT NULL,
  replied INTEGER NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL, status INTEGER,
  finish_reason TEXT NOT NULL, tokens_in INTEGER, tokens_out INTEGER, seconds REAL,
  attempts INTEGER NOT NULL, details TEXT NOT NULL, made_at REAL NOT NULL
)"""
_REPLY_COLUMNS: Final = (
    "key, text, finish_reason, tokens_in, tokens_out, seconds, attempts, details"
)
_SAMPLE: Final = """
SELECT length(CAST(messages AS BLOB)), tokens_in, tokens_out, seconds FROM calls
WHERE rowid > (SELECT max(rowid) FROM calls) - 20000 AND identity = ? AND replied
ORDER BY rowid DESC LIMIT ?"""
_BLOCKS: Final = (64, 8, 1)
"""Rows a statement. One long statement runs without Python's lock, many short ones fight for it."""
_GATHER_SECONDS: Final = 0.004
_LOOKUP: Final = 500
_BUSY_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Entry:
    """One call that ended, about to be kept."""

    key: str
    identity: str
    model: str
    request: Request
    outcome: Outcome


class Receiver(Protocol):
    """Who wants to know that calls are kept; told from the writer's thread."""

    def kept(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes that are now durable."""
        ...

    def fail(self, error: StoreError) -> None:
        """Take the reason why nothing more can be kept."""
        ...


class CallLog:
    """The calls of a store, in the SQLite file `path`; made when the first call is kept.

    Use it as a context manager, or call `close`.
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._queue: SimpleQueue[tuple[Entry, Receiver] | None] = SimpleQueue()
        self._writer: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Return the log itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the log."""
        self.close()

    def close(self) -> None:
        """Keep what is waiting to be kept, and close the file."""
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
    def waiting(self) -> int:
        """How many calls are not yet durable."""
        return self._queue.qsize()

    def put(self, entry: Entry, receiver: Receiver) -> None:
        """Have a call kept; the receiver is told once it is durable."""
        self._queue.put((entry, receiver))
        if self._writer is None:
            with self._lock:
                if self._writer is None:
                    self._writer = threading.Thread(
                        target=self._write, name="ragstone-call-log", daemon=True
                    )
                    self._writer.start()

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Return the replies that are kept under these keys; failures are not among them."""
        if not self.path.exists():
            return {}
        found: dict[str, Reply] = {}
        with self._reading() as connection:
            for start in range(0, len(keys), _LOOKUP):
                found |= _find(connection, keys[start : start + _LOOKUP])
        return found

    def sample(self, identity: str, limit: int = 200) -> list[tuple[int, tuple[Any, ...]]]:
        """Return the latest replies of a model: characters asked, (tokens in, out, seconds)."""
        if not self.path.exists():
            return []
        with self._reading() as connection:
            rows = connection.execute(_SAMPLE, (identity, limit)).fetchall()
        return [(characters, tuple(rest)) for characters, *rest in rows]

    @contextlib.contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._lock, sqlite_errors(self.path):
            if self._reader is None:
                self._reader = connect(self.path)
            yield self._reader

    def _write(self) -> None:
        """Keep calls in groups until told to stop: the writer thread."""
        connection: sqlite3.Connection | None = None
        stopping = False
        while not stopping:
            group = [self._queue.get()]
            if group[0] is not None:
                time.sleep(_GATHER_SECONDS)
            while not self._queue.empty():
                group.append(self._queue.get())
            stopping = None in group
            items = [item for item in group if item is not None]
            try:
                with sqlite_errors(self.path):
                    connection = connection or connect(self.path)
                    kept = _keep(connection, [entry for entry, _ in items])
                _tell(items, kept)
            except Exception as error:  # noqa: BLE001 - were this thread to end, all would wait
                told = error if isinstance(error, StoreError) else _unexpected(self.path, error)
                for receiver in {id(r): r for _, r in items}.values():
                    receiver.fail(told)
        if connection is not None:
            connection.close()


def _unexpected(path: Path, error: Exception) -> StoreError:
    return StoreError(
        f"calls could not be kept in {path}, or be counted: {type(error).__name__}: {error}. What "
        "was kept before is safe: run the same command again"
    )


def _tell(items: Sequence[tuple[Entry, Receiver]], kept: Sequence[Outcome]) -> None:
    """Hand each receiver its outcomes, all at once."""
    receivers = {id(receiver): receiver for _, receiver in items}
    theirs: dict[int, list[Outcome]] = {mark: [] for mark in receivers}
    for (_, receiver), outcome in zip(items, kept, strict=True):
        theirs[id(receiver)].append(outcome)
    for mark, outcomes in theirs.items():
        receivers[mark].kept(outcomes)


def connect(path: Path) -> sqlite3.Connection:
    """Open a log, making its table where there is none; a newer layout is a `StoreError`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(
        path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    _become_wal(connection)
    connection.execute("PRAGMA synchronous=FULL")
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if layout > LAYOUT:
        raise StoreError(
            f"{path} was written by a newer Ragstone (layout {layout}, this one reads {LAYOUT}); "
            "upgrade with: pip install -U ragstone"
        )
    if layout < LAYOUT:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(_CREATE)
        connection.execute(f"PRAGMA user_version={LAYOUT}")
        connection.execute("COMMIT")


def _become_wal(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log, waiting for another process that does the same."""
    give_up = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > give_up:
                raise
            time.sleep(0.02)
        else:
            return


def _find(connection: sqlite3.Connection, keys: Sequence[str]) -> dict[str, Reply]:
    marks = ",".join("?" * len(keys))
    query = f"SELECT {_REPLY_COLUMNS} FROM calls WHERE replied AND key IN ({marks})"  # noqa: S608 - only question marks
    return {row[0]: _reply(row) for row in connection.execute(query, keys)}


def _reply(row: Sequence[Any]) -> Reply:
    key, text, finish_reason, tokens_in, tokens_out, seconds, attempts, details = row
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
    )


def _keep(connection: sqlite3.Connection, entries: Sequence[Entry]) -> list[Outcome]:
    """Commit some calls and return how each of them stands in the log now."""
    if not entries:
        return []
    now = time.time()
    rows = [_row(entry, now) for entry in entries]
    connection.execute("BEGIN IMMEDIATE")
    try:
        changed = _insert(connection, rows)
        outcomes: list[Outcome] = [entry.outcome for entry in entries]
        if changed < len(rows):
            # Another process had a reply first: its reply is the one that counts.
            standing = _find(connection, [entry.key for entry in entries])
            outcomes = [standing.get(e.key, e.outcome) for e in entries]
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    return outcomes


def _insert(connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]) -> int:
    """Insert rows block by block and return how many took their place."""
    changed = start = 0
    while start < len(rows):
        size = next(block for block in _BLOCKS if block <= len(rows) - start)
        values = [value for row in rows[start : start + size] for value in row]
        changed += connection.execute(_insert_statement(size), values).rowcount
        start += size
    return changed


@cache
def _insert_statement(size: int) -> str:
    one = f"({','.join('?' * len(_COLUMNS))})"
    updates = ", ".join(f"{name}=excluded.{name}" for name in _COLUMNS[1:])
    return (
        f"INSERT INTO calls ({', '.join(_COLUMNS)}) VALUES {','.join([one] * size)} "  # noqa: S608 - only our own names
        f"ON CONFLICT(key) DO UPDATE SET {updates} WHERE NOT calls.replied"
    )


def _row(entry: Entry, now: float) -> tuple[Any, ...]:
    request, outcome = entry.request, entry.outcome
    asked = (
        entry.key,
        entry.identity,
        entry.model,
        request.prompt_hash,
        request.rendered.decode(),
        request.sampling.canonical.decode(),
        request.sample,
    )
    if isinstance(outcome, Failure):
        ended: tuple[Any, ...] = (0, "", _printable(outcome.reason), outcome.status, "", None, None)
        return (*asked, *ended, outcome.seconds, outcome.attempts, "", now)
    ended = (
        1,
        outcome.text,
        "",
        None,
        outcome.finish_reason,
        outcome.tokens_in,
        outcome.tokens_out,
    )
    return (*asked, *ended, outcome.seconds, outcome.attempts, _details(outcome), now)


def _details(reply: Reply) -> str:
    """Return what only some replies have, as JSON; the empty text where there is nothing."""
    more: dict[str, Any] = {}
    if reply.logprobs:
        more["logprobs"] = [(t.token, t.logprob, t.top) for t in reply.logprobs]
    if reply.reasoning:
        more["reasoning"] = reply.reasoning
    if reply.passage_ids is not None:
        more["passage_ids"] = reply.passage_ids
    if reply.served_by:
        more["served_by"] = reply.served_by
    if reply.rendered:
        more |= {"rendered": reply.rendered, "rendered_hash": reply.rendered_hash}
    return orjson.dumps(more).decode() if more else ""


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@contextlib.contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into a `StoreError` that says what is kept and what to do."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error) or "malformed" in str(error):
            way_out = "move the file away to start a new log, or restore it from a copy"
        else:
            way_out = "make room, or give another folder with store=PATH, and run the command again"
        raise StoreError(
            f"cannot use the call log {path}: {error}. Every reply kept before is safe; {way_out}"
        ) from error
    except OSError as error:
        raise StoreError(
            f"cannot make the call log {path}: {error.strerror or error}; "
            "give a folder that can be written with store=PATH"
        ) from error
