"""Queries on a call log, and its pruning: the functions behind `ragstone calls`."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.calls.log_file import connect, connect_to_read, in_parts, sqlite_errors
from ragstone.core.times import utc_text
from ragstone.errors import ConfigError

_SUMMARY: Final = """
SELECT identity, model, sum(replied), sum(NOT replied), CAST(total(tokens_in) AS INTEGER),
  CAST(total(tokens_out) AS INTEGER), round(total(seconds), 1),
  sum(length(messages) + length(text) + length(details)), min(made_at), max(made_at)
FROM calls GROUP BY identity, model ORDER BY model, identity"""


@dataclass(frozen=True, slots=True)
class Filter:
    """Selects calls; an empty filter selects all."""

    model: str = ""
    """The model's name or identity."""
    failures: bool = False
    """Only calls that failed."""
    before: dt.datetime | None = None
    """Only calls made before this moment."""

    @property
    def condition(self) -> tuple[str, list[Any]]:
        """The SQL condition and its values."""
        parts: dict[str, list[Any]] = {"TRUE": []}
        if self.model:
            parts["? IN (model, identity)"] = [self.model]
        if self.failures:
            parts["NOT replied"] = []
        if self.before is not None:
            parts["made_at < ?"] = [self.before.timestamp()]
        return " AND ".join(parts), [value for values in parts.values() for value in values]


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """Totals over the calls of one model."""

    identity: str
    model: str
    replies: int
    failures: int
    tokens_in: int
    tokens_out: int
    seconds: float
    characters: int
    """Length of prompts, replies and details."""
    first: str
    last: str
    """Times of the first and the last call, in UTC."""


@dataclass(frozen=True, slots=True)
class FailedCalls:
    """The calls to one model that failed for one reason."""

    model: str
    reason: str
    count: int
    last: str
    """Time of the last one, in UTC."""


@contextmanager
def _opened(path: Path, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise ConfigError(
            f"no call log {path}; name a store or the file of a log: ragstone calls list STORE"
        )
    with (
        sqlite_errors(path),
        closing(connect(path) if write else connect_to_read(path)) as connection,
    ):
        connection.row_factory = sqlite3.Row
        yield connection


def summary(path: Path) -> list[ModelCalls]:
    """Return one record per model in the log."""
    with _opened(path) as connection:
        rows = connection.execute(_SUMMARY).fetchall()
    return [
        ModelCalls(*(*totals, utc_text(first), utc_text(last))) for *totals, first, last in rows
    ]


def latencies(path: Path) -> dict[str, tuple[float, float]]:
    """Return identity of a model -> median and 95th percentile of the seconds of its replies."""
    import numpy as np

    with _opened(path) as connection:
        rows = connection.execute(
            "SELECT identity, seconds FROM calls WHERE replied AND seconds IS NOT NULL"
        ).fetchall()
    seconds: dict[str, list[float]] = {}
    for identity, value in rows:
        seconds.setdefault(identity, []).append(value)
    found = {name: np.percentile(values, (50, 95)).tolist() for name, values in seconds.items()}
    return {name: (median, high) for name, (median, high) in found.items()}


def failures(path: Path) -> list[FailedCalls]:
    """Return the failed calls by model and reason, the most frequent first."""
    query = (
        "SELECT model, reason, count(*), max(made_at) FROM calls WHERE NOT replied "
        "GROUP BY model, reason ORDER BY count(*) DESC, model, reason"
    )
    with _opened(path) as connection:
        rows = connection.execute(query).fetchall()
    return [FailedCalls(model, why, times, utc_text(last)) for model, why, times, last in rows]


def export(path: Path, selection: Filter) -> Iterator[dict[str, Any]]:
    """Yield the selected calls as plain data, oldest first."""
    condition, values = selection.condition
    with _opened(path) as connection:
        query = f"SELECT * FROM calls WHERE {condition} ORDER BY rowid"  # noqa: S608 - our own text
        yield from map(_plain, connection.execute(query, values))


def find(path: Path, key: str) -> dict[str, Any]:
    """Return the call whose key starts with `key`; raise `ConfigError` if none or several do."""
    with _opened(path) as connection:
        query = "SELECT * FROM calls WHERE key >= ? AND key < ? LIMIT 2"
        rows = connection.execute(query, (key, key + "g")).fetchall()
    if len(rows) != 1:
        matches = "no call" if not rows else "more than one call"
        raise ConfigError(f"{path}: {matches} with a key that starts with {key!r}")
    return _plain(rows[0])


def last_call(path: Path) -> str | None:
    """Return the time in UTC at which the last call of the log ended; None without one."""
    if not path.is_file():
        return None
    with _opened(path) as connection:
        found = connection.execute("SELECT made_at FROM calls ORDER BY rowid DESC LIMIT 1")
        row = found.fetchone()
    return utc_text(row[0]) if row else None


def count(path: Path, selection: Filter) -> int:
    """Return the number of selected calls."""
    condition, values = selection.condition
    with _opened(path) as connection:
        query = f"SELECT count(*) FROM calls WHERE {condition}"  # noqa: S608 - our own text
        (number,) = connection.execute(query, values).fetchone()
    return int(number)


def prune(path: Path, selection: Filter) -> int:
    """Remove the selected calls, free their disk space, and return their number."""
    condition, values = selection.condition
    with _opened(path, write=True) as connection:
        query = f"DELETE FROM calls WHERE {condition}"  # noqa: S608 - our own text
        removed = connection.execute(query, values).rowcount
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return removed


@dataclass(frozen=True, slots=True)
class ReplyOrigin:
    """The model of a kept reply, and when it was made."""

    model: str
    served_by: str
    """The model as the server reported it; "" if it did not."""
    made_at: str


def origins(path: Path, keys: Sequence[str]) -> dict[str, ReplyOrigin]:
    """Return key -> origin for the keys with a reply in the log; {} without a log."""
    if not keys or not path.is_file():
        return {}
    found: dict[str, ReplyOrigin] = {}
    with _opened(path) as connection:
        for part, places in in_parts(keys):
            query = f"SELECT key, model, details, made_at FROM calls WHERE replied AND key IN ({places})"  # noqa: S608, E501 - only question marks
            for key, model, details, made_at in connection.execute(query, part):
                more = orjson.loads(details) if details else {}
                found[key] = ReplyOrigin(model, more.get("served_by", ""), utc_text(made_at))
    return found


def size(path: Path) -> int:
    """Return the size of the log on disk in bytes, including its write-ahead log."""
    files = (path, path.with_name(f"{path.name}-wal"))
    return sum(file.stat().st_size for file in files if file.is_file())


def _plain(row: sqlite3.Row) -> dict[str, Any]:
    """Return a row with parsed JSON columns and without empty ones."""
    call = {name: row[name] for name in row.keys() if row[name] not in (None, "")}  # noqa: SIM118 - not a dictionary
    for name in ("messages", "sampling", "details"):
        if name in call:
            call[name] = orjson.loads(call[name])
    call["replied"] = bool(call["replied"])
    call["made_at"] = utc_text(call["made_at"])
    return call
