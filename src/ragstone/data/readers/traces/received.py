"""Spans that were received over a network, in one SQLite file: an application's traces, as sent.

    received = ReceivedSpans(Path("store/traces.sqlite"))
    received.add(kept)      # on the disk when it returns
    received.spans("5b8e")  # as the readers of files return them

A span that is sent again replaces the earlier one, so that a repeated request counts once. The
resource and scope that spans of one request share are stored once.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

import orjson

from ragstone.calls.log_file import open_shared, transaction
from ragstone.core import limits
from ragstone.data.readers.traces.otlp_json import json_spans
from ragstone.data.readers.traces.otlp_protobuf import join_spans, protobuf_spans
from ragstone.data.readers.traces.span import TraceSpan
from ragstone.errors import StoreError

SCHEMA_VERSION: Final = 1
"""Version of the tables, stored in the file."""
Form: TypeAlias = Literal["json", "protobuf"]

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS groups (
  group_id TEXT PRIMARY KEY, form TEXT NOT NULL, content BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS spans (
  trace_id TEXT NOT NULL, span_id TEXT NOT NULL, group_id TEXT NOT NULL, content BLOB NOT NULL,
  received REAL NOT NULL, PRIMARY KEY (trace_id, span_id)
);
CREATE TABLE IF NOT EXISTS traces (
  trace_id TEXT PRIMARY KEY, is_read INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS unread ON traces (trace_id) WHERE is_read = 0;
CREATE TABLE IF NOT EXISTS found (
  trace_id TEXT NOT NULL, number INTEGER NOT NULL, system TEXT NOT NULL, query TEXT NOT NULL,
  answer TEXT, reason TEXT NOT NULL, start INTEGER NOT NULL, seconds REAL NOT NULL,
  spans INTEGER NOT NULL, row BLOB, PRIMARY KEY (trace_id, number)
);
CREATE INDEX IF NOT EXISTS found_by_time ON found (start);
"""


@dataclass(frozen=True, slots=True)
class SpanGroup:
    """The resource and scope that some spans of a request share, in the form of the request."""

    group_id: str
    form: Form
    content: bytes


@dataclass(frozen=True, slots=True)
class KeptSpan:
    """One span of a request, in the form of the request."""

    trace_id: str
    span_id: str
    group: SpanGroup
    content: bytes


class ReceivedSpans:
    """The file of received spans; it may be used by several threads.

    Args:
        path: the file; it is created when the first span is added.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()

    @cached_property
    def _connection(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = open_shared(self.path)
        with contextlib.ExitStack() as closing:
            closing.callback(connection.close)
            # A commit returns when its spans are on the disk.
            connection.execute("PRAGMA synchronous=FULL")
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA_VERSION:
                raise StoreError(
                    f"{self.path} was written by a newer Ragstone (version {version} of received "
                    f"traces, this one reads up to {SCHEMA_VERSION}); upgrade with: "
                    "pip install -U ragstone"
                )
            connection.executescript(_CREATE)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")
            closing.pop_all()
        return connection

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if "_connection" in vars(self):
                self._connection.close()
                del self._connection

    @contextlib.contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Yield the open file for changes that are kept together, or not at all.

        Raises:
            StoreError: the file is damaged, locked or newer, or the disk is full.
        """
        try:
            with self._lock, transaction(self._connection):
                yield self._connection
        except (sqlite3.Error, OSError) as error:
            raise StoreError(f"cannot write {self.path}: {error}") from error

    def select(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a query; none if nothing was received.

        Raises:
            StoreError: the file is damaged, locked or newer.
        """
        if not self.path.exists():
            return []
        try:
            with self._lock:
                return self._connection.execute(statement, values).fetchall()
        except (sqlite3.Error, OSError) as error:
            raise StoreError(
                f"cannot read {self.path}: {error}; set the file aside to receive traces again"
            ) from error

    def add(self, kept: Sequence[KeptSpan]) -> None:
        """Keep some spans: they are on the disk when this returns.

        Raises:
            StoreError: the file cannot be written; none of the spans is kept.
        """
        now = time.time()
        groups = {span.group.group_id: span.group for span in kept}
        spans = [(s.trace_id, s.span_id, s.group.group_id, s.content, now) for s in kept]
        traces = [(trace_id,) for trace_id in dict.fromkeys(span.trace_id for span in kept)]
        with self.changing() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO groups VALUES (?, ?, ?)",
                [(one.group_id, one.form, one.content) for one in groups.values()],
            )
            connection.executemany("INSERT OR REPLACE INTO spans VALUES (?, ?, ?, ?, ?)", spans)
            connection.executemany("INSERT OR REPLACE INTO traces VALUES (?, 0)", traces)

    def size(self, trace_id: str) -> int:
        """Return the number of spans of a trace."""
        found = self.select("SELECT count(*) FROM spans WHERE trace_id = ?", (trace_id,))
        return int(found[0][0]) if found else 0

    def spans(self, trace_id: str) -> list[TraceSpan]:
        """Return the spans of a trace, at most `MAX_TRACE_SPANS`."""
        found = self.select(
            "SELECT g.group_id, g.form, g.content, s.content FROM spans s JOIN groups g "
            "USING (group_id) WHERE s.trace_id = ? ORDER BY g.group_id LIMIT ?",
            (trace_id, limits.MAX_TRACE_SPANS),
        )
        return list(_read(found))

    def trace_ids(self) -> list[str]:
        """Return the ids of all traces, in the order in which they were first received."""
        found = self.select("SELECT trace_id FROM traces ORDER BY rowid")
        return [trace_id for (trace_id,) in found]


def received_in(store: Path) -> ReceivedSpans:
    """Return the received spans of a store."""
    return ReceivedSpans(store / "traces.sqlite")


def _read(found: Iterable[tuple[str, Form, bytes, bytes]]) -> Iterator[TraceSpan]:
    """Yield spans, put back into messages with their shared resource and scope."""
    for (_, form, shared), members in groupby(found, key=lambda row: row[:3]):
        contents = [content for *_, content in members]
        if form == "protobuf":
            yield from protobuf_spans(memoryview(join_spans(shared, contents)))
        else:
            group = orjson.loads(shared)
            group["scopeSpans"][0]["spans"] = [orjson.loads(content) for content in contents]
            yield from json_spans({"resourceSpans": [group]})
