"""A simulated process: what `ragstone run` does with calls, steps and records, on its loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from arro3.core import Array, DataType, Table
from benchmarks.simulation.loop import SimLoop
from benchmarks.simulation.server import ADDRESS, SimClient

from ragstone.calls import scheduler
from ragstone.calls.client import Calls
from ragstone.calls.leases import Leases
from ragstone.calls.log import CallLog
from ragstone.calls.scheduler import Batch, Engine, RetryPolicy
from ragstone.calls.types import CallClient, Endpoint, Outcome, Reply, Request, chat
from ragstone.core import limits
from ragstone.core.store import Store
from ragstone.errors import CallError

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.simulation.history import History

    from ragstone.calls.rate_control import ConcurrencyLimiter

ROUNDS = 60
"""Runs of one process after which it counts as one that never finishes."""


def requests(step: str, count: int) -> list[Request]:
    """Return the requests of a step; the last one is equal to the first."""
    return [chat(f"{step} {n % max(1, count - 1)}", max_tokens=8) for n in range(count)]


def table_of(texts: Sequence[str]) -> Table:
    """Return the table of a step."""
    ids = Array([f"q{n}" for n in range(len(texts))], type=DataType.string())
    return Table.from_pydict({"query_id": ids, "text": Array(texts, type=DataType.string())})


class InlineLog(CallLog):
    """A call log whose writer is a callback of the loop, in place of a thread."""

    def __init__(self, path: Path, process: Process) -> None:
        super().__init__(path)
        self.process = process
        self._flushing: asyncio.TimerHandle | None = None

    def leases(self) -> InlineLeases:
        """Return leases without a thread."""
        return InlineLeases(self.path, self.process)

    def _start_writer(self) -> None:
        if self._flushing is None:
            delay = self.process.history.draw.uniform(0, 0.05)
            self._flushing = self.process.loop.call_later(delay, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        items = [item for _ in range(self._queue.qsize()) if (item := self._queue.get())]
        if items:
            self._store(items)

    def _stop_writer(self) -> None:
        self._flush()
        if self._writing is not None:
            self._writing.close()
            self._writing = None


class InlineLeases(Leases):
    """Leases whose heartbeat is a timer of the loop, in place of a thread."""

    def __init__(self, path: Path, process: Process) -> None:
        super().__init__(path)
        self.process, self.open = process, True

    def _start_heartbeat(self) -> None:
        self.process.loop.call_later(limits.LEASE_HEARTBEAT_SECONDS, self._tick)

    def _tick(self) -> None:
        if self.open:
            self._beat()
            self._start_heartbeat()

    def _discard(self) -> None:
        self.process.history.leases_lost()
        super()._discard()

    def close(self) -> None:
        """Give every lease back."""
        self.open = False
        super().close()


class SimEngine(Engine):
    """The engine on a process's loop, without a thread."""

    def __init__(self, policy: RetryPolicy, process: Process) -> None:
        super().__init__(policy)
        self.process = process
        self._loop = process.loop

    def close(self, clients: Sequence[CallClient]) -> None:
        """Do nothing: the process has closed the clients."""

    async def _call(self, batch: Batch, key: str, request: Request) -> Outcome:
        loop = self.process.loop
        begins = max(loop.time(), batch.client.pace.not_before)
        suspended = self.process.suspended
        outcome = await super()._call(batch, key, request)
        late = loop.time() - begins - self.retry_policy.deadline
        if late > 1e-3 and suspended == self.process.suspended:
            self.process.history.violated(f"a call ended {late:.1f} s after its deadline")
        return outcome


class SimCalls(Calls):
    """Calls whose outcomes are noted as acknowledged when they count."""

    process: Process

    def _count(self, endpoint: Endpoint, outcomes: Sequence[Outcome]) -> None:
        super()._count(endpoint, outcomes)
        self.process.history.acknowledged(self.process, outcomes)

    def _count_found(self, outcomes: Sequence[Outcome]) -> None:
        super()._count_found(outcomes)
        self.process.history.acknowledged(self.process, outcomes)


class Ready:
    """The condition of a batch on a loop: its waiter is a task, which is woken."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def __enter__(self) -> None:
        """Nothing to lock: there is one thread."""

    def __exit__(self, *_: object) -> None:
        """Nothing to unlock."""

    def notify_all(self) -> None:
        """Wake the waiting task."""
        self.event.set()

    def wait(self, timeout: float) -> None:
        """Never reached: the task waits."""
        raise AssertionError(timeout)


@dataclass(eq=False)
class Process:
    """One process with its settings; `loop` is that of its present life."""

    history: History
    name: str
    machine: str
    concurrency: int
    policy: RetryPolicy
    items: Mapping[str, int]
    """Step -> number of its items."""
    pid: int = 0
    loop: SimLoop = field(init=False)
    finished: bool = False
    suspended: int = 0
    """How often it was suspended."""
    may_repeat: bool = False
    """Whether its leases may be gone, so that another process may make its calls too."""

    async def main(self) -> None:
        """Run until everything has a reply."""
        store = Store(self.history.root / "store")
        for _ in range(ROUNDS):
            self.history.check_documents(store)
            if await self._run(store):
                self.finished = True
                return
            await asyncio.sleep(self.history.draw.uniform(0.1, 30))
        self.history.violated(f"{self.name} is not done after {ROUNDS} runs")

    async def _run(self, store: Store) -> bool:
        """Run once, as `ragstone run` does; return whether every item has a reply."""
        history = self.history
        store.check_writable()
        history.write_document(store, "attempts", {"by": self.name})
        calls = SimCalls(
            InlineLog(store.call_log, self),
            retry_policy=self.policy,
            max_concurrency=self.concurrency,
        )
        calls.process = self
        calls._engine = SimEngine(self.policy, self)
        try:
            digests = {}
            for step, count in self.items.items():
                outcomes = await self._ask(calls, requests(step, count))
                texts = [one.text for one in outcomes if isinstance(one, Reply)]
                if len(outcomes) != count:
                    history.violated(f"{len(outcomes)} outcomes of {count} items")
                if len(texts) < count:
                    return False
                digests[step] = history.keep(store, step, table_of(texts))
        except CallError as error:
            history.note(f"{self.name} stopped: {str(error)[:60]}")
            return False
        finally:
            await scheduler._close(calls._open_clients)
            calls.close()
        history.write_document(store, "experiments", {"tables": digests})
        return True

    async def _ask(self, calls: SimCalls, asked: Sequence[Request]) -> list[Outcome]:
        """Do what `Calls.ask` does, and wait as a task where it waits as a thread."""
        endpoint = Endpoint("fake", (ADDRESS,), client=partial(self._client))
        keys = [one.key(endpoint.identity) for one in asked]
        before = calls.usage
        stored = calls._stored(list(dict.fromkeys(keys)))
        calls._count_found(list(stored.values()))
        missing = {k: r for k, r in zip(keys, asked, strict=True) if k not in stored}
        if missing:
            with calls._open_batch(endpoint, missing, "simulated") as batch:
                ready: Any = Ready()
                batch.ready = ready
                for key in missing:
                    while key not in batch.outcomes and not _stopped(batch):
                        ready.event.clear()
                        await ready.event.wait()
                    stored[key] = batch.wait(key, calls._engine)
        used = calls.usage - before
        if used.asked + used.kept != len(stored):
            self.history.violated(f"{used.asked + used.kept} outcomes for {len(stored)} calls")
        return [stored[key] for key in keys]

    def _client(self, endpoint: Endpoint, pace: ConcurrencyLimiter) -> SimClient:
        return SimClient(endpoint, pace, self.history.server, self)

    def start(self, pid: int) -> None:
        """Begin a life of the process."""
        self.pid, self.finished = pid, False
        self.loop = SimLoop(self.history.machine, self.name)  # type: ignore[abstract]
        self.loop.create_task(self._watched())

    async def _watched(self) -> None:
        try:
            await self.main()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a finding
            self.history.failed(self, error)

    def end(self) -> None:
        """End the process at once, with nothing written from now on."""
        disk = self.history.disk
        disk.frozen = True
        with contextlib.suppress(ValueError):
            self.loop.kill()
        disk.close_connections(self)


def _stopped(batch: Batch) -> bool:
    return batch.error is not None and (batch.abandoned or batch.delivered == batch.submitted)
