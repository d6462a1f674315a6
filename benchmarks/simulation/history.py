"""One history: processes, a faulty server and a disk, drawn from a seed, and what must hold."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from arro3.core import Table
from benchmarks.simulation.disk import Left, Replay, State
from benchmarks.simulation.loop import STUCK, Machine, SimLoop
from benchmarks.simulation.process import Process, requests, table_of
from benchmarks.simulation.recorded_disk import RecordedDisk, write_state
from benchmarks.simulation.server import SimServer
from benchmarks.simulation.world import simulated

from ragstone.calls.log import CallLog
from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import Failure, Outcome, Reply
from ragstone.core import store as store_module
from ragstone.core.checksums import forget_digests
from ragstone.core.fingerprint import digest_table
from ragstone.core.store import Store
from ragstone.errors import DamagedFile, StoreError

POLICY = RetryPolicy(
    timeout=20.0, deadline=120.0, attempts=4, first_wait=0.5, longest_wait=10.0, give_up_after=6
)
SECONDS = 15_000.0
"""Virtual time in which a history with finite faults must end."""
EVENTS = ("kill", "kill at a write", "power", "power at a write", "suspend", "clock set back")
LEASE_LOST = 5.0
"""Seconds of suspension after which another process may have taken the leases."""


class Violated(Exception):
    """Something happened that must never happen."""


@dataclass(frozen=True)
class Plan:
    """What a history may contain; each part is drawn from the seed."""

    faults: int = 40
    events: int = 4
    processes: int = 2
    items: int = 10
    ignore_syncs: bool = False


@dataclass
class Acknowledged:
    """What was told to be safe: reply or document -> its value, and the journal's length then."""

    replies: dict[str, tuple[str, int]] = field(default_factory=dict)
    documents: dict[str, list[tuple[dict[str, Any], int]]] = field(default_factory=dict)
    tables: dict[str, int] = field(default_factory=dict)

    def begin_journal(self) -> None:
        """Take everything so far as true from the start of a new journal."""
        self.replies = {key: (value, 0) for key, (value, _) in self.replies.items()}
        self.documents = {
            kind: [(value, min(when, 0)) for value, when in versions]
            for kind, versions in self.documents.items()
        }
        self.tables = dict.fromkeys(self.tables, 0)


class History:
    """A history of one seed, in a folder of its own."""

    def __init__(self, seed: int, folder: Path, plan: Plan | None = None) -> None:
        self.seed, self.root, self.scratch = seed, folder / "disk", folder / "scratch"
        plan = plan or Plan()
        self.draw = draw = random.Random(seed)
        self.machine = Machine(random.Random(seed + 1))
        self.disk = RecordedDisk(self.root, random.Random(seed + 2), ignore_syncs=plan.ignore_syncs)
        faults = draw.randrange(plan.faults + 1)
        self.server = SimServer(self, random.Random(seed + 3), faults, draw.uniform(0.05, 0.6))
        self.acked = Acknowledged()
        self.digest = hashlib.blake2b(digest_size=12)
        self.happened: Counter[str] = Counter()
        self.clock_offset, self.pid = 0.0, 100
        self.trace: list[str] = []
        self.keep_trace = False
        count = 1 + draw.randrange(plan.processes)
        items = {step: draw.randint(1, plan.items) for step in ("answer", "verdict")}
        self.processes = [
            Process(self, f"p{n}", draw.choice(["a", "b"]), draw.randint(1, 8), POLICY, items)
            for n in range(count)
        ]
        self.events = [draw.choice(EVENTS) for _ in range(draw.randrange(plan.events + 1))]
        self.next_event: int | None = None
        self.init = SimLoop(self.machine, "init")  # type: ignore[abstract]
        self.expected = {
            step: table_digest([f"answer to {r.messages[-1][1]}" for r in requests(step, size)])
            for step, size in items.items()
        }

    # --- what the processes tell

    def note(self, text: str) -> None:
        """Add a line to the trace."""
        line = f"{self.machine.time:.6f} {text}"
        self.digest.update(line.encode())
        if self.keep_trace:
            self.trace.append(line)

    def violated(self, what: str) -> None:
        """End the history: an invariant does not hold."""
        if not self.disk.frozen:
            self.violation = self.violation or what

    violation: str = ""

    def failed(self, process: Process, error: Exception) -> None:
        """Note an error that ends a process: there is no reason for one."""
        if not process.loop.dead:
            self.violated(f"{process.name} ended with {type(error).__name__}: {error}")

    def asked(self, process: Process, key: str) -> None:
        """Check that a call is not asked after its acknowledgement."""
        if key in self.acked.replies and not process.may_repeat:
            self.violated(f"{process.name} asked {key[:8]} after its reply was acknowledged")

    def leases_lost(self) -> None:
        """Note that leases may be gone while their calls are made: these may be repeated."""
        self.happened["leases lost"] += 1
        for process in self.processes:
            process.may_repeat = True

    def acknowledged(self, process: Process, outcomes: Sequence[Outcome]) -> None:
        """Note outcomes that count: their replies must exist from now on, unchanged."""
        if self.disk.frozen:
            return
        for one in outcomes:
            self.note(f"{process.name} has {one.key[:8]} {type(one).__name__}")
            if isinstance(one, Failure):
                continue
            known = self.acked.replies.setdefault(one.key, (one.served_by, len(self.disk.journal)))
            if known[0] != one.served_by:
                self.violated(f"{one.key[:8]} was {known[0]!r} and is {one.served_by!r}")

    def write_document(self, store: Store, kind: str, value: Mapping[str, Any]) -> None:
        """Write a document of the store, which is acknowledged when the function returns."""
        versions = self.acked.documents.setdefault(kind, [])
        number = versions[-1][0]["number"] + 1 if versions else 1
        document = {"number": number, **value}
        versions.append((document, -1))
        store.write_json(kind, "simulated", document)
        self.disk.look()
        if not self.disk.frozen:
            versions[-1] = document, len(self.disk.journal)
            self.note(f"wrote {kind} {number}")

    def keep(self, store: Store, step: str, table: Table) -> str:
        """Store a table, and compare it with that of a run without faults."""
        stored = store.keep(step, table)
        self.disk.look()
        if not self.disk.frozen:
            if stored.digest != self.expected[step]:
                self.violated(f"the table of {step} differs from that of a run without faults")
            folder = f"steps/{step}-{stored.digest[: store_module.KEY_LENGTH]}"
            self.acked.tables.setdefault(folder, len(self.disk.journal))
            self.note(f"kept {folder}")
        return stored.digest

    def check_documents(self, store: Store, end: int | None = None) -> None:
        """Check documents and tables that were acknowledged within a journal of that length."""
        for kind, versions in self.acked.documents.items():
            safe = [
                d
                for d, when in versions
                if 0 <= when <= (len(self.disk.journal) if end is None else end)
            ]
            try:
                found = store.read_json(kind, "simulated")
            except DamagedFile as error:
                self.violated(f"{kind} is damaged: {error.what}")
                continue
            if safe and (found is None or found["number"] < safe[-1]["number"]):
                self.violated(f"{kind} {safe[-1]['number']} was acknowledged, found {found}")
        forget_digests()
        for folder in sorted((store.root / "steps").glob("*-*")):
            if not folder.name.startswith(".tmp-") and store._sound(folder) is None:
                self.violated(f"{folder.name} is damaged")
        for name, when in self.acked.tables.items():
            if (end is None or when <= end) and not (store.root / name).exists():
                self.violated(f"{name} was acknowledged and is lost")

    # --- crashes

    def check_state(self, state: State, end: int) -> None:
        """Check that a state of the disk has all that was acknowledged by then."""
        write_state(self.scratch, state)
        store = Store(self.scratch / "store")
        keys = {key: value for key, (value, when) in self.acked.replies.items() if when <= end}
        found: dict[str, Reply] = {}
        try:
            with CallLog(store.call_log) as log:
                found = log.replies(list(keys))
        except StoreError as error:
            self.violated(str(error))
        for key, value in keys.items():
            if key not in found:
                self.violated(f"the acknowledged reply {key[:8]} is lost")
            elif found[key].served_by != value:
                self.violated(f"the acknowledged reply {key[:8]} has changed")
        self.check_documents(store, end)

    def check_states(self, most: int) -> tuple[int, int]:
        """Check states that power loss may leave: their number, and how many lose something.

        Of more than `most` states, some are drawn.
        """
        replay, draw = Replay(self.disk.base), random.Random(self.seed + 4)
        every = [(end, left) for end in range(1, len(self.disk.journal) + 1) for left in Left]
        chosen = set(every if len(every) <= most else draw.sample(every, most))
        first, losing = "", 0
        with simulated(self):
            for end, op in enumerate(self.disk.journal, 1):
                replay.apply(op)
                for left in (left for left in Left if (end, left) in chosen):
                    self.violation = ""
                    self.check_state(replay.state(left, draw), end)
                    losing += bool(self.violation)
                    first = first or (
                        self.violation and f"after {end} writes, {left.value}: {self.violation}"
                    )
        self.violation = first
        return len(chosen), losing

    def _power_loss(self) -> None:
        for process in self.processes:
            if not process.loop.dead:
                process.end()
        self.disk.fuse, self.disk.frozen = None, False
        left = self.draw.choice(list(Left))
        state = self.disk.crash(left, self.draw)
        end = len(self.disk.journal)
        self.note(f"power loss, {left.value} of what was not synced")
        self.check_state(state, end)
        self.acked.begin_journal()
        self.disk.put(state)
        for process in self.processes:
            if process.loop.dead or not process.finished:
                self._restart(process)

    def _kill(self, process: Process) -> None:
        self.note(f"{process.name} killed")
        process.end()
        self.disk.fuse, self.disk.frozen = None, False
        self._restart(process)

    def _restart(self, process: Process) -> None:
        if process.pid == 0:
            return  # it is about to be started already
        self.pid += 1
        process.pid, process.finished = 0, False
        self.init.call_later(self.draw.choice([0.0, 1.0, 30.0]), process.start, self.pid)

    def _running(self) -> list[Process]:
        return [one for one in self.processes if not one.loop.dead and not one.finished]

    def _next_event(self) -> None:
        """Let the next event happen if its moment has come."""
        if not self.events:
            return
        kind = self.events[0]
        at_write = kind.endswith("a write")
        if self.next_event is None:
            self.next_event = self.machine.steps + int(self.draw.expovariate(1 / 150))
        if self.machine.steps < self.next_event:
            return
        if at_write and self.disk.fuse is None and not self.disk.frozen:
            self.disk.fuse = self.draw.randrange(40)
        running = self._running()
        if not running or (at_write and not self.disk.frozen):
            return
        self.events.pop(0)
        self.next_event = None
        self.happened[kind] += 1
        self._happen(kind, self.draw.choice(running))

    def _happen(self, kind: str, chosen: Process) -> None:
        if kind.startswith("power"):
            self._power_loss()
        elif kind == "kill at a write":
            self._kill(self.last)
        elif kind == "kill":
            self._kill(chosen)
        elif kind == "suspend":
            seconds = self.draw.choice([3.0, 40.0])
            chosen.suspended += 1
            if seconds > LEASE_LOST:
                self.leases_lost()
            chosen.loop.suspend(seconds)
            self.note(f"{chosen.name} suspended for {seconds} s")
        else:
            self.clock_offset -= 3600.0
            self.note("clock set back")

    @property
    def last(self) -> Process:
        """The process that ran the last step."""
        return next(one for one in self.processes if one.loop is self.machine.last)

    # --- the whole

    def run(self) -> None:
        """Run to the end; raise `Violated` with what must not happen."""
        self.root.mkdir(parents=True)
        with simulated(self), self.disk.recording():
            for process in self.processes:
                self.pid += 1
                process.start(self.pid)
            try:
                while any(one.loop.dead or not one.finished for one in self.processes):
                    self._step()
            finally:
                for process in self.processes:
                    process.end()
                self.disk.frozen = False
            problems = [text for one in self.processes for text in one.loop.problems]
            if problems:
                self.violated(f"nobody handled: {problems[0]}")
            self.check_state(self.disk.crash(Left.NONE, self.draw), len(self.disk.journal))
        for op in self.disk.journal:
            self.digest.update(repr(op[:3]).encode() + op.data)
        self._raise()

    def _step(self) -> None:
        self._next_event()
        moved = self.machine.step()
        self._raise()
        if not moved:
            raise Violated("nothing is left to run, and not everything is done")
        if self.machine.steps > STUCK or self.machine.time > SECONDS:
            raise Violated(
                f"not done after {self.machine.time:,.0f} s and {self.machine.steps:,} steps"
            )

    def _raise(self) -> None:
        if self.violation:
            raise Violated(self.violation)


def table_digest(texts: Sequence[str]) -> str:
    """Return the digest of the table of some texts."""
    return digest_table(table_of(texts))
