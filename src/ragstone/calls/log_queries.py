"""Looking at a call log and tidying it: what `ragstone calls` does."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import orjson

from ragstone.calls.log import connect, sqlite_errors
from ragstone.errors import ConfigError

_SUMMARY: Final = """
SELECT identity, model, sum(replied), sum(NOT replied), total(tokens_in), total(tokens_out),
  total(seconds), sum(length(messages) + length(text) + length(details)), min(made_at), max(made_at)
FROM calls GROUP BY identity, model ORDER BY model, identity"""


@dataclass(frozen=True, slots=True)
class Filter:
    """Which calls are meant; what is not given excludes nothing."""

    model: str = ""
    """The model's name or its identity."""
    failures: bool = False
    """Only calls that failed."""
    before: dt.datetime | None = None
    """Only calls made before this moment."""

    @property
    def where(self) -> tuple[str, list[Any]]:
        """The SQL condition and its values."""
        parts: list[str] = []
        values: list[Any] = []
        if self.model:
            parts.append("(model = ? OR identity = ?)")
            values += [self.model, self.model]
        if self.failures:
            parts.append("NOT replied")
        if self.before is not None:
            parts.append("made_at < ?")
            values.append(self.before.timestamp())
        return (" AND ".join(parts) or "TRUE", values)


@dataclass(frozen=True, slots=True)
class ModelCalls:
    """What a log holds of one model."""

    identity: str
    model: str
    replies: int
    failures: int
    tokens_in: int
    tokens_out: int
    seconds: float
    characters: int
    """Of prompts, replies and details."""
    first: str
    last: str
    """Moments of the first and the last call, in UTC."""


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    if not path.is_file():
        raise ConfigError(
            f"no call log {path}; name the store's folder or the file: ragstone calls store/"
        )
    with sqlite_errors(path):
        connection = connect(path)
        try:
            yield connection
        finally:
            connection.close()


def summary(path: Path) -> list[ModelCalls]:
    """Return what the log holds, one record a model."""
    with _opened(path) as connection:
        found = connection.execute(_SUMMARY).fetchall()
    return [_model_calls(*row) for row in found]


def _model_calls(  # noqa: PLR0917 - one parameter a column
    identity: str,
    model: str,
    replies: int,
    failures: int,
    tokens_in: float,
    tokens_out: float,
    seconds: float,
    characters: int,
    first: float,
    last: float,
) -> ModelCalls:
    return ModelCalls(
        identity=identity,
        model=model,
        replies=replies,
        failures=failures,
        tokens_in=int(tokens_in),
        tokens_out=int(tokens_out),
        seconds=round(seconds, 1),
        characters=characters,
        first=_utc(first),
        last=_utc(last),
    )


def export(path: Path, chosen: Filter) -> Iterator[dict[str, Any]]:
    """Yield the calls that a filter means, in the order first kept, as plain data."""
    where, values = chosen.where
    with _opened(path) as connection:
        cursor = connection.execute(
            f"SELECT * FROM calls WHERE {where} ORDER BY rowid",  # noqa: S608 - our own text
            values,
        )
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield _plain(dict(zip(names, row, strict=True)))


def find(path: Path, key: str) -> dict[str, Any]:
    """Return the call whose key begins so; none or several is a `ConfigError`."""
    with _opened(path) as connection:
        cursor = connection.execute(
            "SELECT * FROM calls WHERE key >= ? AND key < ? LIMIT 2", (key, key + "g")
        )
        names = [column[0] for column in cursor.description]
        rows = cursor.fetchall()
    if len(rows) != 1:
        found = "no call" if not rows else "more than one call"
        raise ConfigError(f"{path}: {found} whose key begins with {key!r}")
    return _plain(dict(zip(names, rows[0], strict=True)))


def count(path: Path, chosen: Filter) -> int:
    """Return how many calls a filter means."""
    where, values = chosen.where
    with _opened(path) as connection:
        query = f"SELECT count(*) FROM calls WHERE {where}"  # noqa: S608 - our own text
        (found,) = connection.execute(query, values).fetchone()
    return int(found)


def prune(path: Path, chosen: Filter) -> int:
    """Remove the calls that a filter means, give their room back, and return how many."""
    where, values = chosen.where
    with _opened(path) as connection:
        query = f"DELETE FROM calls WHERE {where}"  # noqa: S608 - our own text
        removed = connection.execute(query, values).rowcount
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return removed


def size(path: Path) -> int:
    """Return the bytes of the log on the disk, its write-ahead log included."""
    parts: Sequence[Path] = (path, path.with_name(f"{path.name}-wal"))
    return sum(part.stat().st_size for part in parts if part.is_file())


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with its JSON columns read, and without what is empty."""
    read = {name: row[name] for name in row if row[name] not in (None, "")}
    for name in ("messages", "sampling", "details"):
        if name in read:
            read[name] = orjson.loads(read[name])
    read["replied"] = bool(read["replied"])
    read["made_at"] = _utc(read["made_at"])
    return read


def _utc(moment: float) -> str:
    return dt.datetime.fromtimestamp(moment, dt.UTC).isoformat(timespec="seconds")
