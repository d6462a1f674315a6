"""The event loop behind `Calls`: a thread with workers that make the calls of each batch."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, cast

from ragstone.calls import clock
from ragstone.calls.log_file import Entry
from ragstone.calls.types import AttemptError, Failure, Outcome, Reply
from ragstone.core import limits
from ragstone.core.redaction import redacted_data
from ragstone.core.threads import started_thread
from ragstone.errors import CallError, RagstoneError

if TYPE_CHECKING:
    from ragstone.calls.leases import CallLeases
    from ragstone.calls.log import CallLog
    from ragstone.calls.types import CallClient, Request

_POLL_SECONDS: Final = 0.005
"""Seconds between two checks for results of the log's thread."""


@dataclass(frozen=True)
class RetryPolicy:
    """Time-outs and retries of a call."""

    timeout: float = limits.ATTEMPT_TIMEOUT_SECONDS
    """Timeout of one attempt at a remote server, in seconds. A local server gets the whole
    deadline: a retry would only restart slow work."""
    deadline: float = limits.CALL_DEADLINE_SECONDS
    """Seconds for a call with all its attempts and the waits between them."""
    attempts: int = limits.MAX_ATTEMPTS
    """Maximum number of attempts. A response of 429 or 503 does not count as an attempt."""
    first_wait: float = limits.FIRST_RETRY_SECONDS
    """Seconds before the second attempt. Each further wait doubles, with random jitter."""
    longest_wait: float = limits.MAX_RETRY_SECONDS
    """Maximum seconds between two attempts."""
    give_up_after: int = limits.MAX_CONSECUTIVE_FAILURES
    """Number of consecutive calls that fail because the server is down, which stops the run."""

    def wait(self, failures: int, jitter: float) -> float:
        """Return the seconds to wait after a number of failures; `jitter` is from 0 to 1."""
        doubled = self.first_wait * 2.0 ** min(failures - 1, limits.MAX_DOUBLINGS)
        return min(self.longest_wait, doubled) * (0.5 + 0.5 * jitter)


@dataclass
class Batch:
    """The missing calls of one `ask`, and their outcomes once the log has committed them.

    A call is `pending` until it is claimed. It is then `claimed` by this process, or `waiting` for
    the process that makes it; one that the log contains by then is not made.
    """

    client: CallClient
    log: CallLog
    leases: CallLeases
    pending: deque[tuple[str, Request]]
    on_committed: Callable[[Sequence[Outcome]], None]
    on_found: Callable[[Sequence[Outcome]], None]
    """Receives the outcomes of other processes."""
    reserve: Callable[[str, Request], RagstoneError | None]
    """Runs before each call. An error stops the batch after the calls in flight."""
    rejected_since: float
    """Replies that were rejected earlier are requested again."""
    failed_since: float = field(init=False)
    """Failures of other processes since then are outcomes; earlier ones are repeated."""
    claimed: deque[tuple[str, Request]] = field(default_factory=deque)
    waiting: dict[str, Request] = field(default_factory=dict)
    leased: set[str] = field(default_factory=set)
    """Claimed calls without an outcome."""
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    error: RagstoneError | None = None
    abort_error: CallError | None = None
    submitted: int = 0
    delivered: int = 0
    workers: set[asyncio.Task[None]] = field(default_factory=set)
    watcher: asyncio.Task[None] | None = None
    """Looks for the outcomes of other processes."""
    abandoned: bool = False
    ready: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        """Note the failures so far."""
        self.failed_since = self.log.after_failures([key for key, _ in self.pending])

    def claim(self, count: int) -> bool:
        """Claim the next calls if none is claimed; return whether there is one to make."""
        while self.pending and not self.claimed:
            size = min(count, len(self.pending))
            self.obtain(dict(self.pending.popleft() for _ in range(size)))
        return bool(self.claimed)

    def obtain(self, calls: Mapping[str, Request]) -> None:
        """Claim calls. Deliver the outcomes in the log; the others wait for their process."""
        keys = list(calls)
        leased = self.leases.claim(keys)
        # In this order: an outcome is in the log before its lease is given back.
        found = self.log.outcomes(
            keys, rejected_since=self.rejected_since, failed_since=self.failed_since
        )
        self.leases.release(leased & found.keys())
        self.leased |= leased - found.keys()
        for key, request in calls.items():
            if key in leased or key in found:
                self.waiting.pop(key, None)
            else:
                self.waiting[key] = request
            if key in leased and key not in found:
                self.claimed.append((key, request))
        if found:
            self.on_found(list(found.values()))
            with self.ready:
                self.outcomes.update(found)
                self.ready.notify_all()

    def release(self) -> None:
        """Give back the leases of calls without an outcome."""
        self.leases.release(self.leased)
        self.leased.clear()

    def committed(self, outcomes: Sequence[Outcome]) -> None:
        """Record outcomes that the log has committed (called on the log's thread)."""
        self.leases.release([outcome.key for outcome in outcomes])
        self.on_committed(outcomes)
        with self.ready:
            self.delivered += len(outcomes)
            self.outcomes.update((outcome.key, outcome) for outcome in outcomes)
            self.ready.notify_all()

    def fail(self, error: RagstoneError) -> None:
        """Stop the batch and abandon the calls in flight."""
        self.stop(error, abandon=True)

    def stop(self, error: RagstoneError, *, abandon: bool = False) -> None:
        """Make no further call. Calls in flight finish unless `abandon` is true."""
        with self.ready:
            self.clear()
            self.error = self.error or error
            self.abandoned = self.abandoned or abandon
            self.ready.notify_all()

    def clear(self) -> None:
        """Forget the calls that are not in flight."""
        for calls in (self.pending, self.claimed, self.waiting):
            calls.clear()

    def remove_worker(self, worker: asyncio.Task[None]) -> None:
        """Remove a worker, once (called on the loop's thread)."""
        if worker in self.workers:
            self.workers.discard(worker)
            self.client.pace.active -= 1

    def wait(self, key: str, engine: Engine) -> Outcome:
        """Return a call's outcome once it is committed; raise the error that stopped the batch."""
        with self.ready:
            while key not in self.outcomes:
                if self.error is not None and (self.abandoned or self.delivered == self.submitted):
                    raise self.error
                self.ready.wait(timeout=1.0)
                engine.check_alive()
            return self.outcomes[key]


class Engine:
    """An event loop in its own thread, started by the first batch."""

    def __init__(self, retry_policy: RetryPolicy) -> None:
        self.retry_policy = retry_policy
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        """Held while the loop starts: batches of several threads share one loop."""
        self._last_heartbeat = clock.monotonic()

    def start(self, batch: Batch) -> None:
        """Start the calls of a batch."""
        self._running_loop().call_soon_threadsafe(self._add_workers, batch)

    def abandon(self, batch: Batch) -> None:
        """Make no further call of a batch, and cancel those in flight."""
        batch.clear()
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(_cancel, batch)

    def close(self, clients: Sequence[CallClient]) -> None:
        """Close the connections and stop the thread."""
        if self._loop is None or self._thread is None:
            return
        asyncio.run_coroutine_threadsafe(_close(clients), self._loop).result(
            timeout=limits.CLOSE_TIMEOUT_SECONDS
        )
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=limits.CLOSE_TIMEOUT_SECONDS)
        self._loop.close()
        self._loop = self._thread = None

    def check_alive(self) -> None:
        """Raise `CallError` if the event loop has stopped responding."""
        silent = clock.monotonic() - self._last_heartbeat
        if silent > limits.STALLED_LOOP_SECONDS:
            raise CallError(
                f"model calls made no progress for {silent:.0f} s; every reply so far is kept: "
                "run the same command again to resume"
            )

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._loop is None:
                loop = asyncio.new_event_loop()
                self._last_heartbeat = clock.monotonic()
                loop.call_soon(self._heartbeat)
                self._thread = started_thread(loop.run_forever, "ragstone-calls")
                self._loop = loop
            return self._loop

    def _heartbeat(self) -> None:
        self._last_heartbeat = clock.monotonic()
        asyncio.get_running_loop().call_later(1.0, self._heartbeat)

    def _add_workers(self, batch: Batch) -> None:
        """Start workers up to the concurrency limit, and at least one while calls are pending."""
        pace = batch.client.pace
        left = len(batch.claimed) + len(batch.pending)
        missing = min(pace.limit - pace.active, left)
        if not batch.workers and left:
            missing = max(missing, 1)
        for _ in range(missing):
            pace.active += 1
            worker = asyncio.get_running_loop().create_task(self._work(batch))
            batch.workers.add(worker)
            # A worker cancelled before its first step never runs its `finally` block.
            worker.add_done_callback(batch.remove_worker)

    async def _work(self, batch: Batch) -> None:
        """Make calls until none is pending or the limit is below the number of workers."""
        pace = batch.client.pace
        try:
            while pace.active <= pace.limit or len(batch.workers) == 1:
                ready = batch.claim(pace.limit)
                self._watch(batch)
                if not ready:
                    return
                key, request = batch.claimed[0]
                refusal = batch.reserve(key, request)
                if refusal is not None:
                    # Calls in flight may cost less than reserved: the last worker waits for them.
                    if len(batch.workers) > 1:
                        return
                    if batch.delivered < batch.submitted:
                        await asyncio.sleep(_POLL_SECONDS)
                        continue
                    batch.stop(refusal)
                    return
                batch.claimed.popleft()
                batch.submitted += 1
                outcome = await self._call(batch, key, request)
                endpoint = batch.client.endpoint
                batch.leased.discard(key)
                batch.log.put(
                    Entry(key, endpoint.identity, endpoint.model, request, outcome), batch
                )
                if batch.abort_error is not None:
                    batch.fail(batch.abort_error)
                while batch.log.pending > limits.MAX_UNCOMMITTED_REPLIES:  # noqa: ASYNC110 - another thread empties the queue
                    await asyncio.sleep(_POLL_SECONDS)
                self._add_workers(batch)
        except RagstoneError as error:
            batch.fail(error)
        except Exception as error:  # noqa: BLE001 - the waiting thread must receive every error
            kind = type(error).__name__
            batch.fail(CallError(f"a call ended in an unexpected {kind}: {error}"))
        finally:
            batch.remove_worker(cast("asyncio.Task[None]", asyncio.current_task()))

    def _watch(self, batch: Batch) -> None:
        """Look for the outcomes of other processes while a call waits for one."""
        if batch.waiting and (batch.watcher is None or batch.watcher.done()):
            batch.watcher = asyncio.get_running_loop().create_task(self._await_others(batch))

    async def _await_others(self, batch: Batch) -> None:
        try:
            while batch.waiting:
                await asyncio.sleep(limits.LEASE_POLL_SECONDS)
                batch.obtain(dict(batch.waiting))
                self._add_workers(batch)
        except RagstoneError as error:
            batch.fail(error)
        except Exception as error:  # noqa: BLE001 - the waiting thread must receive every error
            kind = type(error).__name__
            batch.fail(CallError(f"waiting for another process ended in a {kind}: {error}"))

    async def _call(self, batch: Batch, key: str, request: Request) -> Outcome:
        """Return the reply of the first successful attempt, or the failure of the last one."""
        time = asyncio.get_running_loop().time
        pace, policy = batch.client.pace, self.retry_policy
        # The wait for a pause before the first attempt is not part of a call's time.
        due = await pace.next_start(time(), math.inf)
        started, failures, attempts = time(), 0, 0
        # A provider may take a day for a batch.
        deadline = math.inf if batch.client.endpoint.batch else started + policy.deadline
        endpoint = batch.client.endpoint
        timeout = policy.timeout if endpoint.serve is None else policy.deadline
        while True:
            attempts, began = attempts + 1, time()
            try:
                limit = None if endpoint.batch else min(began + timeout, deadline)
                async with asyncio.timeout_at(limit):
                    reply = await batch.client.attempt(request)
            except AttemptError as caught:
                error = caught
            except TimeoutError:
                error = AttemptError(
                    f"no reply from {batch.client.endpoint.name} within {time() - began:.0f} s",
                    retryable=True,
                    overload=True,
                    outage=True,
                )
                failures += 1
            else:
                latency = time() - began
                pace.succeeded(latency)
                pace.outages = 0
                seconds = None if endpoint.batch else latency
                return replace(
                    _without_secrets(reply),
                    seconds=seconds,
                    # A busy event loop resumes a call after it is due.
                    queued=None if reply.queued is None else round(reply.queued + began - due, 6),
                    attempts=attempts,
                    key=key,
                    made_at=clock.now(),
                )
            if error.overload or error.pause:
                pace.overloaded(began, time(), error.pause)
            if error.retryable and not error.overload:
                failures += 1
            # Calls of a batch that failed go into the next one together.
            failures = attempts if endpoint.batch else failures
            jitter = 0.0 if endpoint.batch else clock.jitter()
            wait = policy.wait(max(failures, 1), jitter)
            may_repeat = error.retryable and failures < policy.attempts
            due = await pace.next_start(time() + wait, deadline if may_repeat else -math.inf)
            if due == math.inf:
                self._count_failure(batch, error)
                seconds, reason = time() - started, error.reason
                if attempts > 1:
                    reason = f"{reason} ({attempts} attempts in {seconds:.0f} s)"
                timed = None if endpoint.batch else seconds
                return Failure(reason, error.status, timed, attempts, key, error.kind)

    def _count_failure(self, batch: Batch, error: AttemptError) -> None:
        """Abort the batch if other calls would fail the same way: after several outages in a row.

        The failure of one item, such as a prompt that is too long, shows that the server works.
        """
        pace = batch.client.pace
        pace.outages = pace.outages + 1 if error.outage else 0
        if error.fatal:
            batch.abort_error = CallError(error.reason)
        elif pace.outages >= self.retry_policy.give_up_after:
            batch.abort_error = CallError(
                f"{pace.outages} calls in a row failed; the last reason: "
                f"{error.reason}. The run was stopped, and every reply so far is kept: run the "
                "same command again to resume"
            )


def _without_secrets(reply: Reply) -> Reply:
    """Return a reply as it may be kept: the server may have repeated what it received."""
    clean = redacted_data(reply)
    # The pieces of a secret are not found in its tokens.
    return clean if clean.text == reply.text else replace(clean, logprobs=())


async def _close(clients: Sequence[CallClient]) -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    for client in clients:
        await client.close()


def _cancel(batch: Batch) -> None:
    for task in (*batch.workers, *filter(None, [batch.watcher])):
        task.cancel()
    batch.release()
