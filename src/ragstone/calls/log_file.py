"""The file of a call log: its columns, versions, rows and checksums."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

import orjson

from ragstone.calls import clock
from ragstone.calls.file_locks import journal_mode
from ragstone.calls.types import Failure, Outcome, Reply, Request, TokenLogprob
from ragstone.calls.wire_formats import NO_ANSWER
from ragstone.core import limits
from ragstone.core.atomic_files import private_file
from ragstone.core.redaction import redacted
from ragstone.core.schemas import lists_to_steps, steps_to_lists
from ragstone.errors import StoreError
from ragstone.types import FailureKind, Passage, Reported

SCHEMA_VERSION: Final = 2
"""Version of the table's columns, stored in the file."""

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS calls (
  key TEXT PRIMARY KEY, identity TEXT NOT NULL, model TEXT NOT NULL, prompt_hash TEXT NOT NULL,
  messages TEXT NOT NULL, sampling TEXT NOT NULL, sample INTEGER NOT NULL,
  replied INTEGER NOT NULL, text TEXT NOT NULL, reason TEXT NOT NULL, status INTEGER,
  finish_reason TEXT NOT NULL, tokens_in INTEGER, tokens_out INTEGER, seconds REAL,
  attempts INTEGER NOT NULL, details TEXT NOT NULL, made_at REAL NOT NULL,
  kind TEXT NOT NULL DEFAULT '', checksum TEXT NOT NULL DEFAULT '',
  rejected REAL, rejected_for TEXT NOT NULL DEFAULT ''
)"""
_DEFINITIONS: Final = dict(re.findall(r"(\w+) ((?:TEXT|INTEGER|REAL)[^,\n]*)", _CREATE))
COLUMNS: Final = tuple(_DEFINITIONS)
READ: Final = tuple(
    name for name in COLUMNS if name not in {"messages", "rejected", "rejected_for"}
)
"""The columns of an outcome; the last one is the checksum of the others. The prompt has a digest of
its own."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One finished call, to be stored."""

    key: str
    identity: str
    model: str
    request: Request
    outcome: Outcome


def connect(path: Path) -> sqlite3.Connection:
    """Open a log, creating or upgrading its table; raise `StoreError` for a newer version."""
    # SQLite gives its journals the permissions of this file.
    connection = open_shared(private_file(path))
    with contextlib.ExitStack() as closing:
        closing.callback(connection.close)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA fullfsync=ON")  # macOS alone: past the disk's own cache
        if version_of(connection, path) < SCHEMA_VERSION:
            _upgrade(connection)
        closing.pop_all()
    return connection


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Open an existing log, which may be in a folder that is not writable."""
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        try:
            return connect(path)
        except (sqlite3.OperationalError, PermissionError) as error:
            # The permissions may be refused nonetheless, for example on a read-only mount.
            if "locked" in str(error):
                raise
    connection = _open_read_only(path)
    with contextlib.ExitStack() as closing:
        closing.callback(connection.close)
        if version_of(connection, path) < SCHEMA_VERSION:
            show_as_current(connection)
        connection.execute("PRAGMA query_only=ON")
        closing.pop_all()
    return connection


def _open_read_only(path: Path) -> sqlite3.Connection:
    wal = path.with_name(f"{path.name}-wal")
    if not (wal.is_file() and wal.stat().st_size):
        uri = f"{path.resolve().as_uri()}?mode=ro&immutable=1"
        return sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
    # SQLite cannot read a write-ahead log without writing an index of it beside it.
    with tempfile.TemporaryDirectory() as copies:
        for file in (path, wal):
            shutil.copyfile(file, Path(copies) / file.name)
        connection = sqlite3.connect(
            Path(copies) / path.name, isolation_level=None, check_same_thread=False
        )
        # After the first query, the open copies are read without their names.
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return connection


def open_shared(path: Path) -> sqlite3.Connection:
    """Open a file that other processes use, with the journal that its file system supports.

    Waits for processes that switch to that journal too.
    """
    connection = sqlite3.connect(
        path, timeout=limits.LOG_LOCK_SECONDS, isolation_level=None, check_same_thread=False
    )
    deadline = clock.monotonic() + limits.LOG_LOCK_SECONDS
    while True:
        try:
            connection.execute(f"PRAGMA journal_mode={journal_mode(path.parent)}")
        except sqlite3.DatabaseError as error:
            if "locked" not in str(error) or clock.monotonic() > deadline:
                connection.close()
                raise
            time.sleep(0.02)
        else:
            return connection


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit the changes of a block, or undo them if it raises; other processes wait to write."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def in_parts(keys: Sequence[str]) -> Iterator[tuple[Sequence[str], str]]:
    """Yield parts of some keys that fit into one SQL statement, each with its question marks."""
    for start in range(0, len(keys), limits.MAX_KEYS_PER_QUERY):
        part = keys[start : start + limits.MAX_KEYS_PER_QUERY]
        yield part, ",".join("?" * len(part))


def version_of(connection: sqlite3.Connection, path: Path) -> int:
    """Return the version of a log's columns; raise `StoreError` if it is newer than this one."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"{path} was written by a newer Ragstone (version {version} of the call log, this one "
            f"reads up to {SCHEMA_VERSION}); upgrade with: pip install -U ragstone"
        )
    return int(version)


def _missing_columns(connection: sqlite3.Connection) -> dict[str, str]:
    known = {row[1] for row in connection.execute("PRAGMA table_info(calls)")}
    return {name: kind for name, kind in _DEFINITIONS.items() if known and name not in known}


def _upgrade(connection: sqlite3.Connection) -> None:
    """Create the table, or add the columns that an earlier version did not have."""
    rejected = "UPDATE calls SET rejected=0, rejected_for='no answer' WHERE finish_reason = ?"
    with transaction(connection):
        connection.execute(_CREATE)
        for name, kind in _missing_columns(connection).items():
            connection.execute(f"ALTER TABLE calls ADD COLUMN {name} {kind}")
        # Earlier versions took these responses for answers.
        connection.executemany(rejected, [(reason,) for reason in NO_ANSWER])
        connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def show_as_current(connection: sqlite3.Connection) -> None:
    """Hide the table of an earlier version behind a view with all columns."""
    missing = _missing_columns(connection)
    others = ", ".join(f"{'NULL' if n == 'rejected' else repr('')} AS {n}" for n in missing)
    if others:
        connection.execute(f"CREATE TEMP VIEW calls AS SELECT *, {others} FROM main.calls")  # noqa: S608 - our own names


def checksum(row: Sequence[Any]) -> str:
    """Return the checksum of a row of `READ` without its checksum."""
    text = "\x1f".join(map(str, row))
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def read_outcome(row: Sequence[Any]) -> Outcome | None:
    """Return the outcome in a row of `READ`, or None if the row is damaged."""
    # Rows of earlier versions have no checksum.
    if row[-1] and row[-1] != checksum(row[:-1]):
        return None
    try:
        return _to_outcome(row)
    except (ValueError, TypeError, AttributeError):
        return None


def fetch(connection: sqlite3.Connection, query: str, values: Sequence[Any]) -> list[Any]:
    """Return all rows of a query, with U+FFFD in texts that are not UTF-8."""
    try:
        return connection.execute(query, values).fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
    connection.text_factory = partial(str, encoding="utf-8", errors="replace")
    return connection.execute(query, values).fetchall()


def to_row(entry: Entry, now: float) -> tuple[Any, ...]:
    """Return the values of all columns for a finished call."""
    request, outcome = entry.request, entry.outcome
    written, prompt_hash = request.rendered.decode(), request.prompt_hash
    messages = redacted(written)
    if messages != written:
        # The digest of the column, by which damage is found; the key has that of the prompt.
        prompt_hash = hashlib.sha256(messages.encode()).hexdigest()
    call = entry.key, redacted(entry.identity), redacted(entry.model), prompt_hash
    asked = redacted(request.sampling.canonical.decode()), request.sample
    if isinstance(outcome, Failure):
        reason = outcome.reason.encode("utf-8", "replace").decode()
        result: tuple[Any, ...] = (0, "", reason, outcome.status)
        reply, kind, made_at = Reply(""), str(outcome.kind), now
    else:
        result, reply, kind = (1, outcome.text, "", None), outcome, ""
        made_at = now if outcome.made_at is None else outcome.made_at
    seconds = None if outcome.seconds is None else float(outcome.seconds)
    usage = reply.finish_reason, reply.tokens_in, reply.tokens_out, seconds, outcome.attempts
    facts = (*asked, *result, *usage, _details(reply), made_at, kind)
    return (*call, messages, *facts, checksum((*call, *facts)), None, "")


def _to_outcome(row: Sequence[Any]) -> Outcome:
    """Return the outcome in a row; raise `ValueError` or `TypeError` if the details are damaged."""
    named = dict(zip(READ, row, strict=True))
    shared = {name: named[name] for name in ("seconds", "attempts", "key")}
    if not named["replied"]:
        kind = cast("FailureKind", named["kind"] or "failed")
        return Failure(named["reason"], named["status"], **shared, kind=kind)
    more: Mapping[str, Any] = orjson.loads(named["details"]) if named["details"] else {}
    passage_ids = more.get("passage_ids")
    return Reply(
        text=named["text"],
        finish_reason=named["finish_reason"],
        tokens_in=named["tokens_in"],
        tokens_out=named["tokens_out"],
        logprobs=tuple(
            TokenLogprob(token, value, tuple((t, v) for t, v in top))
            for token, value, top in more.get("logprobs", ())
        ),
        reasoning=more.get("reasoning", ""),
        tokens_reasoning=more.get("tokens_reasoning"),
        batch=more.get("batch", ""),
        passage_ids=None if passage_ids is None else tuple(passage_ids),
        reported=_to_reported(more.get("reported")),
        served_by=more.get("served_by", ""),
        rendered=more.get("rendered", ""),
        queued=more.get("queued"),
        made_at=named["made_at"],
        **shared,
    )


def _details(reply: Reply) -> str:
    """Return the optional fields of a reply as JSON; empty text if none is set."""
    fields = {
        "logprobs": [(t.token, t.logprob, t.top) for t in reply.logprobs],
        "reasoning": reply.reasoning,
        "tokens_reasoning": reply.tokens_reasoning,
        "batch": reply.batch,
        "passage_ids": reply.passage_ids,
        "reported": _from_reported(reply.reported),
        "served_by": reply.served_by,
        "rendered": reply.rendered,
        "rendered_hash": reply.rendered_hash,
        "queued": reply.queued,
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
            remedy = (
                f"keep the replies that can be read with: ragstone store check {path.parent} "
                "--repair, or move the file away to start a new log"
            )
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


def _from_reported(reported: Reported | None) -> dict[str, Any] | None:
    """Return the report of a system under test, as plain data."""
    if reported is None:
        return None
    given = reported.contexts
    contexts = None if given is None else [[p.passage_id, p.full_text] for p in given]
    named = {name: getattr(reported, name) for name in ("confidence", "cost", "seconds")}
    named["steps"] = None if reported.steps is None else steps_to_lists(reported.steps)
    return {"contexts": contexts, **{n: value for n, value in named.items() if value is not None}}


def _to_reported(kept: Mapping[str, Any] | None) -> Reported | None:
    """Return the inverse of `_from_reported`."""
    if kept is None:
        return None
    contexts = kept["contexts"]
    passages = None if contexts is None else tuple(Passage(*pair) for pair in contexts)
    steps = None if kept.get("steps") is None else lists_to_steps(kept["steps"])
    return Reported(**{**kept, "contexts": passages, "steps": steps})
