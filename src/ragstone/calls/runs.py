"""The runs of experiments, in the file of the call log: which replies of a system count.

The version of a service behind an address cannot be known, so its replies belong to one run. A
run that starts while another one of the same experiment is under way, or after one that was
interrupted, continues it: nothing is asked twice. A run that starts after one that finished asks
again.
"""

from __future__ import annotations

import secrets
import sqlite3
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ragstone.calls.log_file import connect, connect_to_read, sqlite_errors, transaction
from ragstone.core.times import utc_text

_CREATE: Final = """
CREATE TABLE IF NOT EXISTS runs (
  experiment TEXT NOT NULL, system TEXT NOT NULL, run TEXT NOT NULL, started REAL NOT NULL,
  state TEXT NOT NULL, PRIMARY KEY (experiment, system, run)
)"""
_LAST: Final = """
SELECT run FROM runs WHERE experiment = ? AND system = ? AND state = ?
ORDER BY started DESC LIMIT 1"""
_UNDER_WAY: Final = """
SELECT run FROM runs WHERE experiment = ? AND state = 'under way' ORDER BY started DESC LIMIT 1"""

Wish = Literal["again", "reuse", "keep"]
"""Treatment of a system: ask it again in each run, take the replies of its last finished run, or
keep the replies that belong to every run unless it was asked again since."""


@dataclass(frozen=True)
class SystemRun:
    """The run whose replies of a system count; "" for replies that belong to every run."""

    run: str = ""
    again: bool = False
    """Whether the system is asked again, apart from calls that the same run made already."""
    continues: bool = False
    """Whether the run began before and has not finished, so that calls of then belong to it."""
    before: str = ""
    """The last finished run, whose replies could be reused; "" if there is none."""


def new_run() -> str:
    """Return a name for a run that starts now."""
    return f"run {utc_text(timespec='milliseconds')} {secrets.token_hex(4)}"


def started(run: str) -> str:
    """Return when a run started.

    >>> started("run 2026-03-02T10:00:00.000+00:00 0123abcd")
    '2026-03-02T10:00:00.000+00:00'
    """
    return run.split(" ")[1]


def begin(
    log: Path, experiment: str, wishes: Mapping[str, Wish], *, planned: bool = False
) -> dict[str, SystemRun]:
    """Return the run of each system, and note the runs that are under way.

    Args:
        log: the file of the call log.
        experiment: the name of the experiment.
        wishes: the name and definition of each system -> its treatment.
        planned: whether to return the runs without noting them.
    """
    with _reading(log) as connection:
        found = _runs(connection, experiment, wishes)
    if planned or not any(one.again for one in found.values()):
        return found
    with _changing(log) as connection:
        found = _runs(connection, experiment, wishes)
        asked = {system: one.run for system, one in found.items() if one.again}
        connection.executemany(
            "INSERT OR IGNORE INTO runs VALUES (?, ?, ?, ?, 'under way')",
            [(experiment, system, run, time.time()) for system, run in asked.items()],
        )
    return found


def _runs(
    connection: sqlite3.Connection, experiment: str, wishes: Mapping[str, Wish]
) -> dict[str, SystemRun]:
    (current,) = connection.execute(_UNDER_WAY, (experiment,)).fetchone() or (new_run(),)
    found = {}
    for system, wish in wishes.items():
        under_way = _last(connection, experiment, system, "under way")
        finished = _last(connection, experiment, system, "finished")
        kept = finished or under_way if wish == "reuse" else under_way or finished
        if wish == "again" or (wish == "reuse" and not kept):
            found[system] = SystemRun(
                current, again=True, continues=under_way == current, before=finished
            )
        else:
            found[system] = SystemRun(kept)
    return found


def finish(log: Path, experiment: str, runs: Collection[str] | None = None) -> None:
    """Note that the runs are finished, and that others of the experiment were given up.

    None selects all runs that are under way.
    """
    with _reading(log) as connection:
        if connection.execute(_UNDER_WAY, (experiment,)).fetchone() is None:
            return
    with _changing(log) as connection:
        under_way = "UPDATE runs SET state = ? WHERE experiment = ? AND state = 'under way'"
        if runs is None:
            connection.execute(under_way, ("finished", experiment))
            return
        done = [("finished", experiment, run) for run in runs]
        connection.executemany(f"{under_way} AND run = ?", done)
        connection.execute(under_way, ("given up", experiment))


def _last(connection: sqlite3.Connection, experiment: str, system: str, state: str) -> str:
    row = connection.execute(_LAST, (experiment, system, state)).fetchone()
    return row[0] if row else ""


def _opened(log: Path) -> sqlite3.Connection:
    return connect_to_read(log) if log.exists() else sqlite3.connect(":memory:")


@contextmanager
def _reading(log: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection that changes nothing: the log may be absent or in a read-only store."""
    with sqlite_errors(log), closing(_opened(log)) as connection:
        named = "SELECT count(*) FROM sqlite_master WHERE name = 'runs'"
        if not connection.execute(named).fetchone()[0]:
            # A table in memory, which the connection may create although the log is not writable.
            connection.execute("PRAGMA query_only=OFF")
            connection.execute(_CREATE.replace("TABLE", "TEMP TABLE"))
        yield connection


@contextmanager
def _changing(log: Path) -> Iterator[sqlite3.Connection]:
    """Yield a connection in a transaction that no other process interrupts."""
    with sqlite_errors(log), closing(connect(log)) as connection, transaction(connection):
        connection.execute(_CREATE)
        yield connection
