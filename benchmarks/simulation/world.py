"""What a history replaces: clocks, random numbers, names of processes, properties of the disk."""

from __future__ import annotations

import asyncio
import logging
import random
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING
from unittest.mock import patch

from ragstone.calls import clock, leases, log_file
from ragstone.core import store as store_module

if TYPE_CHECKING:
    from benchmarks.simulation.history import History
    from benchmarks.simulation.process import Process


@contextmanager
def simulated(history: History) -> Iterator[None]:
    """Replace clocks, random numbers and names of processes by those of a history."""
    machine, names = history.machine, random.Random(history.seed + 5)

    def now() -> float:
        return 1.7e9 + machine.time + history.clock_offset

    def current() -> Process | None:
        found = [one for one in history.processes if one.loop is machine.running]
        return found[0] if found else None

    def new_owner() -> str:
        process = current()
        assert process is not None
        return f"{process.machine}/boot/1:{process.pid}:{names.randbytes(4).hex()}"

    def may_live(owner: str) -> bool:
        host, pid, _ = owner.rsplit(":", 2)
        process = current()
        if process is None or host != f"{process.machine}/boot/1":
            return True
        return any(one.pid == int(pid) and not one.loop.dead for one in history.processes)

    journal = "truncate" if names.random() < 0.2 else "wal"
    history.disk.process = current
    fixed: list[tuple[object, str, object]] = [
        (clock, "monotonic", lambda: machine.time),
        (clock, "now", now),
        (clock, "jitter", history.draw.random),
        (store_module, "time", SimpleNamespace(time=now)),
        (tempfile, "_name_sequence", iter(lambda: names.randbytes(6).hex(), "")),
        (asyncio, "all_tasks", lambda: list(machine.running.tasks if machine.running else ())),
        (secrets, "token_hex", lambda size: names.randbytes(size).hex()),
        (leases, "new_owner", new_owner),
        (leases, "may_live", may_live),
        (leases, "lock_problem", lambda _: ""),
        (log_file, "journal_mode", lambda _: journal),
    ]
    before = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with ExitStack() as stack:
            for owner, name, value in fixed:
                stack.enter_context(patch.object(owner, name, value))
            yield
    finally:
        logging.disable(before)
