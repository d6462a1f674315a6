"""Checking a call log."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class LogCheck:
    """The result of a check."""

    checked: int
    """Number of rows."""
    findings: tuple[str, ...]
    repaired: bool


def check_log(path: Path, *, repair: bool) -> LogCheck:
    """Return the damage of the call log in the SQLite file `path`."""
    del repair
    # A log in a read-only folder can only be opened as one that nobody writes.
    mode = "ro" if (path.with_name(f"{path.name}-wal")).exists() else "ro&immutable=1"
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True)) as log:
            found = [row[0] for row in log.execute("PRAGMA integrity_check")]
            (rows,) = log.execute("SELECT count(*) FROM calls").fetchone()
    except sqlite3.Error as error:
        return LogCheck(0, (str(error),), repaired=False)
    return LogCheck(rows, tuple(line for line in found if line != "ok"), repaired=False)
