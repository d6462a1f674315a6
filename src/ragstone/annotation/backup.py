"""Backups: one form for both databases, so that a backup moves a project from one to the other.

Gzipped lines of JSON: a head, the people, the events in the order of the server, and a foot with
the digest of all lines before it. Derived labels are left out, as are sessions: people sign in
again with the tokens they have, of which a backup contains the hashes alone.
"""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import orjson
import sqlalchemy as sa

from ragstone.annotation.connections import Connections
from ragstone.annotation.derived import derive_again, every_row, insert_rows
from ragstone.annotation.events import KINDS
from ragstone.annotation.people import ROLES
from ragstone.annotation.tables import EVENTS, LABELS, PEOPLE, SESSIONS, VERSION, count_rows
from ragstone.core import limits
from ragstone.core.atomic_files import atomic_file
from ragstone.core.times import utc_text
from ragstone.errors import ConfigError, NewerFile, StoreError

FORMAT: Final = 1
_KIND: Final = "ragstone annotation backup"
_LAST: Final = 2**31 - 1  # The largest sequence number of an integer of PostgreSQL.
_LEFT_OUT: Final = {"undone"}
_TABLES: Final = {"person": PEOPLE, "event": EVENTS}


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup that was written, or read and found whole."""

    path: Path
    project: str
    version: int
    """The version of the tables that it was made of."""
    events: int
    people: int
    digest: str


def backup_name(why: str = "") -> str:
    """Return the name of a new backup: `annotation-20261126T140509Z.jsonl.gz`."""
    made = utc_text(timespec="microseconds").replace("-", "").replace(":", "")
    return "-".join(filter(None, ("annotation", f"{made.partition('+')[0]}Z", why))) + ".jsonl.gz"


def write_backup(connections: Connections, project: str, to: Path, why: str = "") -> Backup:
    """Write the people and the events of a database to a file; a server may go on meanwhile.

    Args:
        connections: the database.
        project: the name of the project.
        to: the file, which ends with `.gz`, or a folder that gets a file with a name of its own.
        why: a word for that name.
    """
    with connections.reading(snapshot=True) as connection:
        return back_up(connection, project, to, why)


def back_up(
    connection: sa.Connection, project: str, to: Path, why: str = "", version: int = VERSION
) -> Backup:
    """Write a backup within a transaction; `version` is that of the tables."""
    path = to if to.suffix == ".gz" else to / backup_name(why)
    digest, counts = hashlib.sha256(), dict.fromkeys(_TABLES, 0)
    try:
        with atomic_file(path) as file, _packed(file) as packed:
            head = {"kind": _KIND, "format": FORMAT, "project": project, "version": version}
            first = ("head", head | {"made": utc_text()})
            for name, row in chain([first], _rows(connection)):
                line = orjson.dumps({name: row}) + b"\n"
                digest.update(line)
                packed.write(line)
                if name in counts:
                    counts[name] += 1
            foot = {**counts, "digest": digest.hexdigest()}
            packed.write(orjson.dumps({"foot": foot}) + b"\n")
    except OSError as error:
        said = error.strerror or error
        raise StoreError(f"cannot write the backup {path}: {said}", path=path) from error
    return Backup(path, project, version, counts["event"], counts["person"], digest.hexdigest())


def read_backup(path: Path) -> Backup:
    """Read a whole backup and compare it with its digest.

    Raises:
        NewerFile: a newer Ragstone wrote it.
        StoreError: it is not a backup, or is damaged or cut off.
    """
    digest, counts = hashlib.sha256(), dict.fromkeys(_TABLES, 0)
    head: dict[str, Any] = {}
    foot: dict[str, Any] = {}
    for line, name, row in _lines(path):
        if foot or (name == "head") == bool(head) or name not in (*_TABLES, "head", "foot"):
            raise _damaged(path, f"has an unexpected line {name!r}")
        if name == "head":
            head = _checked_head(path, row)
        elif name == "foot":
            foot = row
            continue
        elif _is_row(name, row):
            counts[name] += 1
        else:
            raise _damaged(path, f"has a line {name!r} that no database of a project has")
        digest.update(line)
    if foot != {**counts, "digest": digest.hexdigest()}:
        raise _damaged(path, "is not as it was written" if foot else "is cut off")
    return Backup(
        path, head["project"], head["version"], counts["event"], counts["person"], foot["digest"]
    )


def restore(
    connections: Connections, project: str, path: Path, backups: Path, *, replace: bool = False
) -> tuple[Backup, Backup | None]:
    """Put the content of a backup into a database, and derive the labels.

    Args:
        connections: a database with today's tables.
        project: the name of the project, which the backup must have too.
        path: the backup.
        backups: a folder for the backup of the replaced content.
        replace: whether events and people that the database has may be replaced.

    Returns:
        the restored backup, and that of the replaced content; None if there was none.

    Raises:
        ConfigError: the backup is of another project, or the database is not empty.
        StoreError: the backup is damaged, or of a newer version.
    """
    given = read_backup(path)
    if given.project != project:
        raise ConfigError(
            f"{path} is a backup of the project {given.project!r}, not of {project!r}",
            value=given.project,
        )

    def action(connection: sa.Connection) -> Backup | None:
        held = [count_rows(connection, table) for table in _TABLES.values()]
        if any(held) and not replace:
            raise ConfigError(
                f"{connections.shown} has {held[1]:,} events and {held[0]:,} people; use --replace "
                "to replace them, after a backup",
                value=held[1],
            )
        before = back_up(connection, project, backups, "replaced") if any(held) else None
        _fill(connection, path)
        return before

    return given, connections.write(action)


def _fill(connection: sa.Connection, path: Path) -> None:
    for table in (LABELS, SESSIONS, EVENTS, PEOPLE):
        connection.execute(sa.delete(table))
    for name, table in _TABLES.items():
        insert_rows(connection, table, (row for _, kind, row in _lines(path) if kind == name))
    derive_again(connection)


def _rows(connection: sa.Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, table in _TABLES.items():
        for row in every_row(connection, table, _LEFT_OUT):
            yield name, row


@contextmanager
def _packed(file: BinaryIO) -> Iterator[gzip.GzipFile]:
    """Yield a packed file without name and time: the digest of a backup is that of its lines."""
    with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
        yield packed


def _lines(path: Path) -> Iterator[tuple[bytes, str, dict[str, Any]]]:
    """Yield each line of a backup with its kind and content."""
    try:
        with gzip.open(path) as packed:
            while line := packed.readline(limits.MAX_LINE_BYTES):
                ((name, row),) = orjson.loads(line).items()
                yield line, name, dict(row)
    except FileNotFoundError as error:
        raise ConfigError(f"there is no backup {path}", path=path) from error
    except EOFError as error:
        raise _damaged(path, "is cut off") from error
    except (OSError, zlib.error, ValueError, TypeError, AttributeError) as error:
        raise _damaged(path, "is not a backup of ragstone annotate, or is damaged") from error


def _is_row(name: str, row: dict[str, Any]) -> bool:
    """Whether a line can be a row of its table: a file may be made by anyone, with its digest."""
    columns = {one.name: one.type for one in _TABLES[name].c if one.name not in _LEFT_OUT}
    if row.keys() != columns.keys() or not all(_fits(row[n], of) for n, of in columns.items()):
        return False
    if name == "person":
        return row["role"] in ROLES
    try:
        orjson.loads(row["value"])
    except orjson.JSONDecodeError:
        return False
    return row["kind"] in KINDS


def _fits(value: Any, of: sa.types.TypeEngine[Any]) -> bool:
    if isinstance(of, sa.Integer):
        return type(value) is int and 0 < value <= _LAST
    if isinstance(of, sa.Float):
        return value is None or type(value) in (int, float)
    return isinstance(value, str) and "\0" not in value


def _checked_head(path: Path, head: dict[str, Any]) -> dict[str, Any]:
    numbers = all(type(head.get(name)) is int for name in ("format", "version"))
    if head.get("kind") != _KIND or not numbers or not isinstance(head.get("project"), str):
        raise _damaged(path, "is not a backup of ragstone annotate")
    if head["format"] > FORMAT or head["version"] > VERSION:
        raise NewerFile(
            f"{path} is a backup by a newer Ragstone: update this one with pip install -U ragstone",
            path=path,
            way_out="pip install -U ragstone",
        )
    return head


def _damaged(path: Path, what: str) -> StoreError:
    return StoreError(f"{path} {what}; nothing was restored. Use another backup", path=path)
