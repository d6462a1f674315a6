"""Bugs that the simulation must find, each in one function of Ragstone."""

from __future__ import annotations

import asyncio
import json
import math
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

from ragstone.calls import clock, leases, log, log_file
from ragstone.calls.leases import Leases
from ragstone.calls.log import CallLog
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.scheduler import Batch
from ragstone.calls.types import Outcome
from ragstone.core import atomic_files, checksums, store
from ragstone.core.store import Store

_put, _notify, _sync = CallLog.put, log._notify, atomic_files._sync
_connect, _insert = log_file.connect, log._insert_statement
_next_start, _commit = ConcurrencyLimiter.next_start, log._commit
_late: list[Any] = []


def _commit_later(connection: sqlite3.Connection, entries: Any, damaged: Any) -> list[Outcome]:
    before, _late[:] = list(_late), entries
    _commit(connection, before, damaged)
    return [one.outcome for one in entries]


def _connect_unsynced(path: Path) -> sqlite3.Connection:
    connection = _connect(path)
    connection.execute("PRAGMA synchronous=OFF")
    return connection


def _put_released(self: CallLog, entry: Any, listener: Any) -> None:
    listener.leases.release([entry.key])
    _put(self, entry, listener)


async def _start_once(pace: ConcurrencyLimiter, earliest: float, deadline: float) -> float:
    due = max(earliest, pace.not_before)
    if due >= deadline:
        return math.inf
    await asyncio.sleep(due - asyncio.get_running_loop().time())
    return due


async def _start_late(pace: ConcurrencyLimiter, earliest: float, deadline: float) -> float:
    return await _next_start(pace, earliest, math.inf if deadline > 0 else deadline)


def _grow(self: ConcurrencyLimiter, _seconds: float) -> None:
    self.limit += 1


def _notify_twice(items: Sequence[Any], outcomes: Sequence[Outcome]) -> None:
    _notify(items, outcomes)
    _notify(items, outcomes)


def _notify_but_one(items: Sequence[Any], outcomes: Sequence[Outcome]) -> None:
    count = max(1, len(items) - 1)
    _notify(items[:count], outcomes[:count])


def _write_in_place(self: Store, kind: str, name: str, value: Mapping[str, Any]) -> Path:
    path = self.root / kind / f"{name}.json"
    atomic_files.make_folder(path.parent)
    sealed = checksums.seal(value, f"{kind}/{name}.json")
    path.write_text(json.dumps(sealed), encoding="utf-8")
    return path


def _sync_files(path: Path) -> None:
    if not path.is_dir():
        _sync(path)


def _make_unsynced(folder: Path, **_: bool) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _remove_again(self: Batch, worker: Any) -> None:
    self.workers.discard(worker)
    self.client.pace.active -= 1


def _insert_last(size: int) -> str:
    return _insert(size).partition(" WHERE ")[0]


Place = tuple[object, str]
PLANTED: dict[str, tuple[Callable[..., Any], tuple[Place, ...]]] = {
    "a reply counts before its commit": (_commit_later, ((log, "_commit"),)),
    "the log is not synced": (_connect_unsynced, ((log, "connect"),)),
    "leases are ignored": (lambda _, keys: set(keys), ((Leases, "claim"),)),
    "a lease ends before the commit": (_put_released, ((CallLog, "put"),)),
    "a live owner counts as dead": (lambda *_: True, ((Leases, "_is_dead"),)),
    "a dead owner keeps its leases": (lambda *_: False, ((Leases, "_is_dead"),)),
    "no heartbeat": (lambda _: None, ((Leases, "_beat"),)),
    "a later reply replaces the first": (_insert_last, ((log, "_insert_statement"),)),
    "Retry-After is ignored": (lambda *_: None, ((ConcurrencyLimiter, "pause"),)),
    "a pause that comes during a wait is ignored": (
        _start_once,
        ((ConcurrencyLimiter, "next_start"),),
    ),
    "a retry after the deadline": (_start_late, ((ConcurrencyLimiter, "next_start"),)),
    "the limit grows beyond its maximum": (_grow, ((ConcurrencyLimiter, "succeeded"),)),
    "a worker is taken off twice": (_remove_again, ((Batch, "remove_worker"),)),
    "an outcome counts twice": (_notify_twice, ((log, "_notify"),)),
    "the last outcome of a group is not told": (_notify_but_one, ((log, "_notify"),)),
    "failures of before a clock set back": (
        lambda *_: clock.now(),
        ((CallLog, "after_failures"),),
    ),
    "a record is written in place": (_write_in_place, ((Store, "write_json"),)),
    "files are renamed unsynced": (lambda _: None, ((atomic_files, "_sync_all"),)),
    "a rename is not synced": (_sync_files, ((atomic_files, "_sync"),)),
    "a new folder is not synced": (
        _make_unsynced,
        tuple((one, "make_folder") for one in (atomic_files, store, leases)),
    ),
}
"""Name -> the wrong function, and the places where it stands in for the right one."""


@contextmanager
def planted(name: str) -> Iterator[None]:
    """Put a bug in place."""
    wrong, places = PLANTED[name]
    _late.clear()
    patches = [patch.object(owner, attribute, wrong) for owner, attribute in places]
    for one in patches:
        one.start()
    try:
        yield
    finally:
        for one in patches:
            one.stop()
