"""Checking a call log."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ragstone.calls.log import connect_to_read


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
    try:
        with closing(connect_to_read(path)) as log:
            found = [row[0] for row in log.execute("PRAGMA integrity_check")]
            (rows,) = log.execute("SELECT count(*) FROM calls").fetchone()
    except sqlite3.Error as error:
        return LogCheck(0, (str(error),), repaired=False)
    return LogCheck(rows, tuple(line for line in found if line != "ok"), repaired=False)
