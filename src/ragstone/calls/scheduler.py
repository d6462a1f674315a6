"""The event loop behind `Calls`, in a thread of its own: workers that empty a batch of calls."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from ragstone.calls.log import Entry
from ragstone.calls.types import AttemptError, Failure, Outcome
from ragstone.errors import CallError, RagstoneError

if TYPE_CHECKING:
    from ragstone.calls.log import CallLog
    from ragstone.calls.types import CallClient, Request

_STALLED_SECONDS: Final = 300.0
_SETTLING_SECONDS: Final = 0.005
_BACKLOG: Final = 4096
"""Replies that may wait to be kept before no further call is made."""


@dataclass(frozen=True)
class RetryPolicy:
    """How long a call is waited for, and how often it is tried again."""

    timeout: float = 120.0
    """Seconds for one attempt at a server elsewhere. One of this machine has until the deadline: it
    is at work as long as it lives, and to begin anew would take the slow machine's time twice."""
    deadline: float = 900.0
    """Seconds for a call with all its attempts and the waits between them."""
    attempts: int = 6
    """Attempts at most; being told to come back later (429, 503) does not count as one."""
    first_wait: float = 0.5
    """Seconds before the second attempt; each further wait is twice as long, less some chance."""
    longest_wait: float = 30.0
    give_up_after: int = 25
    """A run is stopped when so many calls in a row fail for good."""

    def wait(self, faults: int, chance: float) -> float:
        """Return the seconds to wait after that many faults, `chance` being from 0 to 1."""
        longest: float = min(self.longest_wait, self.first_wait * 2 ** min(faults - 1, 30))
        return longest * (0.5 + 0.5 * chance)


@dataclass
class Batch:
    """The calls of one `ask` that are not kept yet, and their outcomes as they become durable."""

    client: CallClient
    log: CallLog
    jobs: deque[tuple[str, Request]]
    on_kept: Callable[[Sequence[Outcome]], None]
    may_call: Callable[[str, Request], RagstoneError | None]
    """Asked before each call; an error stops the batch once the calls in flight are kept."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    error: RagstoneError | None = None
    abort_error: CallError | None = None
    submitted: int = 0
    delivered: int = 0
    workers: set[asyncio.Task[None]] = field(default_factory=set)
    failed_in_a_row: int = 0
    abandoned: bool = False
    ready: threading.Condition = field(default_factory=threading.Condition)

    def kept(self, outcomes: Sequence[Outcome]) -> None:
        """Take outcomes that are now durable (from the log's thread)."""
        self.on_kept(outcomes)
        with self.ready:
            self.delivered += len(outcomes)
            self.outcomes.update((outcome.key, outcome) for outcome in outcomes)
            self.ready.notify_all()

    def fail(self, error: RagstoneError) -> None:
        """Stop for good: nothing more can be made or kept."""
        self.stop(error, abandon=True)

    def stop(self, error: RagstoneError, *, abandon: bool = False) -> None:
        """Make no further call; calls in flight are finished unless they are abandoned."""
        with self.ready:
            self.jobs.clear()
            self.error = self.error or error
            self.abandoned = self.abandoned or abandon
            self.ready.notify_all()

    def dismiss(self, worker: asyncio.Task[None]) -> None:
        """Count a worker out, once (in the loop's thread)."""
        if worker in self.workers:
            self.workers.discard(worker)
            self.client.pace.active -= 1

    def wait(self, key: str, engine: Engine) -> Outcome:
        """Return a call's outcome once it is durable; raise what stopped the batch."""
        with self.ready:
            while key not in self.outcomes:
                if self.error is not None and (self.abandoned or self.delivered == self.submitted):
                    raise self.error
                self.ready.wait(timeout=1.0)
                engine.check_alive()
            return self.outcomes[key]


class Engine:
    """An event loop in a thread; started by the first batch."""

    def __init__(self, patience: RetryPolicy) -> None:
        self.patience = patience
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._beat = time.monotonic()
        self._chance = random.Random()  # noqa: S311 - spreads retries in time, nothing more

    def start(self, batch: Batch) -> None:
        """Begin to make a batch's calls."""
        self._running().call_soon_threadsafe(self._staff, batch)

    def abandon(self, batch: Batch) -> None:
        """Make no further call of a batch and let go of those in flight."""
        batch.jobs.clear()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_cancel, batch)

    def close(self, clients: Sequence[CallClient]) -> None:
        """Close the connections and end the thread."""
        if self._loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(_close(clients), self._loop).result(timeout=30)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=30)
        self._loop.close()
        self._loop = self._thread = None

    def check_alive(self) -> None:
        """Raise `CallError` if the loop has stood still: the watchdog of whoever waits."""
        silent = time.monotonic() - self._beat
        if silent > _STALLED_SECONDS:
            raise CallError(
                f"the calls have stood still for {silent:.0f} s; what was answered is kept: "
                "run the same command again"
            )

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._beat = time.monotonic()
            self._loop.call_soon(self._heartbeat)
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="ragstone-calls", daemon=True
            )
            self._thread.start()
        return self._loop

    def _heartbeat(self) -> None:
        self._beat = time.monotonic()
        asyncio.get_running_loop().call_later(1.0, self._heartbeat)

    def _staff(self, batch: Batch) -> None:
        """Start as many workers as the pace allows and the work needs, one at the least."""
        pace = batch.client.pace
        wanted = min(pace.limit - pace.active, len(batch.jobs))
        if not batch.workers and batch.jobs:
            wanted = max(wanted, 1)
        for _ in range(wanted):
            pace.active += 1
            worker = asyncio.get_running_loop().create_task(self._work(batch))
            batch.workers.add(worker)
            # A worker cancelled before its first step never reaches its own end.
            worker.add_done_callback(batch.dismiss)

    async def _work(self, batch: Batch) -> None:
        """Make calls until none is left or the pace has fallen below the number of workers."""
        pace = batch.client.pace
        try:
            while batch.jobs and (pace.active <= pace.limit or len(batch.workers) == 1):
                key, request = batch.jobs[0]
                stop = batch.may_call(key, request)
                if stop is not None:
                    # Calls under way may leave room for this one: the last worker waits for them.
                    if len(batch.workers) > 1:
                        return
                    if batch.delivered < batch.submitted:
                        await asyncio.sleep(_SETTLING_SECONDS)
                        continue
                    batch.stop(stop)
                    return
                batch.jobs.popleft()
                batch.submitted += 1
                outcome = await self._call(batch, key, request)
                endpoint = batch.client.endpoint
                batch.log.put(
                    Entry(key, endpoint.identity, endpoint.model, request, outcome), batch
                )
                if batch.abort_error is not None:
                    batch.stop(batch.abort_error, abandon=True)
                while batch.log.waiting > _BACKLOG:  # noqa: ASYNC110 - the queue is a thread's
                    await asyncio.sleep(0.01)
                self._staff(batch)
        except Exception as error:  # noqa: BLE001 - a worker's thread has nobody else to tell
            batch.fail(error if isinstance(error, RagstoneError) else _unexpected(error))
        finally:
            batch.dismiss(cast("asyncio.Task[None]", asyncio.current_task()))

    async def _call(self, batch: Batch, key: str, request: Request) -> Outcome:
        """Return how a call ended: the reply of some attempt, or the last one's reason."""
        clock = asyncio.get_running_loop().time
        pace, patience = batch.client.pace, self.patience
        started, faults, attempts = clock(), 0, 0
        ends = started + patience.deadline
        here = batch.client.endpoint.serve is not None
        allowed = patience.deadline if here else patience.timeout
        while True:
            await _until(pace.not_before, clock)
            attempts, began = attempts + 1, clock()
            try:
                async with asyncio.timeout_at(min(began + allowed, ends)):
                    reply = await batch.client.attempt(request)
            except AttemptError as caught:
                fault = caught
            except TimeoutError:
                fault = AttemptError(
                    f"no reply from {batch.client.endpoint.name} within {clock() - began:.0f} s",
                    retryable=True,
                    overload=True,
                )
                faults += 1
            else:
                took = clock() - began
                pace.succeeded(took)
                batch.failed_in_a_row = 0
                return replace(reply, seconds=took, attempts=attempts, key=key)
            if fault.overload or fault.pause:
                pace.overloaded(began, clock(), fault.pause)
            if fault.retryable and not fault.overload:
                faults += 1
            wait = patience.wait(max(faults, 1), self._chance.random())
            resumes = max(clock() + wait, pace.not_before)
            if not fault.retryable or faults >= patience.attempts or resumes >= ends:
                return self._failed(
                    batch,
                    fault,
                    Failure(fault.reason, fault.status, clock() - started, attempts, key),
                )
            await asyncio.sleep(wait)

    def _failed(self, batch: Batch, fault: AttemptError, failure: Failure) -> Failure:
        """Return a call's failure, and doom the batch where others would end the same way."""
        batch.failed_in_a_row += 1
        if fault.fatal:
            batch.abort_error = CallError(fault.reason)
        elif batch.failed_in_a_row >= self.patience.give_up_after:
            batch.abort_error = CallError(
                f"{batch.failed_in_a_row} calls in a row failed, the last because {fault.reason}. "
                "The run is stopped; what was answered is kept: run the same command again"
            )
        if failure.attempts == 1:
            return failure
        return replace(
            failure,
            reason=f"{fault.reason} ({failure.attempts} attempts in {failure.seconds:.0f} s)",
        )


async def _until(moment: float, clock: Callable[[], float]) -> None:
    if moment > clock():
        await asyncio.sleep(moment - clock())


async def _close(clients: Sequence[CallClient]) -> None:
    left = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    for client in clients:
        await client.close()


def _cancel(batch: Batch) -> None:
    for worker in list(batch.workers):
        worker.cancel()


def _unexpected(error: Exception) -> CallError:
    return CallError(f"a call ended in an unexpected {type(error).__name__}: {error}")
