"""Models that run in this process: the calls that wait are answered together, in one thread.

A generator whose model is a Python object gives its endpoint such a client:

    Endpoint(name, identity=..., client=lambda endpoint, pace: in_process(endpoint, pace, load, 8))
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Final, Protocol, TypeAlias

from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, Sampling
from ragstone.core import limits
from ragstone.errors import ConfigError, RagstoneError

_GATHER_SECONDS: Final = 0.01

Answer: TypeAlias = Reply | AttemptError


class TextModel(Protocol):
    """A model in memory."""

    def answer(self, requests: Sequence[Request], go_on: Callable[[], bool]) -> Sequence[Answer]:
        """Return how each request ended, in order; called by one thread at a time.

        Where `go_on()` turns false nobody waits any longer, and anything may be returned.
        """
        ...

    def close(self) -> None:
        """Give back the memory."""
        ...


@dataclass
class _Holder:
    """The one model in memory: what a machine bears is not the number of its models."""

    name: Hashable = None
    model: TextModel | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def hold(self, name: Hashable, load: Callable[[], TextModel]) -> TextModel:
        with self.lock:
            if self.model is None or self.name != name:
                self.let_go()
                self.model = load()
                self.name = name
            return self.model

    def let_go(self) -> None:
        with self.lock:
            if self.model is not None:
                self.model.close()
            self.name, self.model = None, None


_HOLDER: Final = _Holder()


def hold(name: Hashable, load: Callable[[], TextModel]) -> TextModel:
    """Return the model of that name; loading another lets go of the one before."""
    return _HOLDER.hold(name, load)


def let_go() -> None:
    """Let go of the model in memory."""
    _HOLDER.let_go()


def in_process(
    endpoint: Endpoint, pace: ConcurrencyLimiter, load: Callable[[], TextModel], batch_size: int
) -> InProcessClient:
    """Return the client of a model that is loaded now, so that its errors are told at once."""
    load()
    return InProcessClient(endpoint, pace, load, batch_size)


def draw_seed(request: Request) -> int:
    """Return the seed of a request's own random numbers, below 2**32.

    Made of the seed, the sample number and the prompt: a draw repeats, whatever is drawn beside it,
    and the samples of one prompt differ.

    >>> draw_seed(Request((("user", "Hi"),))) == draw_seed(Request((("user", "Hi"),), sample=1))
    False
    """
    made_of = f"{request.sampling.seed or 0}\n{request.sample}\n{request.prompt_hash}"
    return int.from_bytes(hashlib.sha256(made_of.encode()).digest()[:4])


def refuse(sampling: Sampling, name: str, *, takes: frozenset[str] = frozenset()) -> None:
    """Raise `ConfigError` for what only some models can be asked: a schema, a grammar, extras."""
    for wanted in ("json_schema", "grammar", "extra"):
        if getattr(sampling, wanted) and wanted not in takes:
            raise ConfigError(f"{name} takes no {wanted} in this process; leave it out")


@dataclass(eq=False)
class _Job:
    request: Request
    done: asyncio.Future[Answer | Exception]
    waiting: int = 0
    started: bool = False
    dropped: bool = False


@dataclass
class InProcessClient:
    """Hands requests to a model in batches of those that wait."""

    endpoint: Endpoint
    pace: ConcurrencyLimiter
    load: Callable[[], TextModel]
    batch_size: int
    _jobs: dict[str, _Job] = field(init=False, repr=False, default_factory=dict)
    _queue: SimpleQueue[_Job | None] = field(init=False, repr=False, default_factory=SimpleQueue)
    _thread: threading.Thread | None = field(init=False, repr=False, default=None)
    _closing: bool = field(init=False, repr=False, default=False)

    def __post_init__(self) -> None:
        """Let one batch wait while another is answered: longer queues only run out of time."""
        most = min(self.pace.maximum, limits.MAX_QUEUED_BATCHES * self.batch_size)
        self.pace.maximum = self.pace.limit = self.pace.minimum = most

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise a `AttemptError`."""
        key = request.key(self.endpoint.identity)
        # An attempt that ran out of time while its answer was being written finds it here again.
        job = self._jobs.get(key) or self._begin(key, request)
        job.waiting += 1
        try:
            answer = await asyncio.shield(job.done)
        finally:
            job.waiting -= 1
            if not job.waiting and (job.done.done() or not job.started):
                job.dropped = True
                self._jobs.pop(key, None)
        if isinstance(answer, Reply):
            return answer
        raise answer

    async def close(self) -> None:
        """Stop the thread; the model stays in memory for whoever asks it next."""
        self._closing = True
        self._queue.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, limits.MODEL_STOP_SECONDS)

    def _begin(self, key: str, request: Request) -> _Job:
        loop = asyncio.get_running_loop()
        job = self._jobs[key] = _Job(request, loop.create_future())
        if self._thread is None:
            self._thread = threading.Thread(
                target=self._run, args=(loop,), name="ragstone-model", daemon=True
            )
            self._thread.start()
        self._queue.put(job)
        return job

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer what waits, until told to stop: the model's thread."""
        while not self._closing:
            jobs = self._next_jobs()
            if not jobs:
                continue
            answers = self._answers(jobs)
            with suppress(RuntimeError):  # the loop is gone: nobody waits any longer
                loop.call_soon_threadsafe(_settle, jobs, answers)

    def _next_jobs(self) -> list[_Job]:
        """Wait for a request, and return it with those that wait beside it."""
        taken = [self._queue.get()]
        if self.batch_size > 1:
            time.sleep(_GATHER_SECONDS)
        with suppress(Empty):
            while len(taken) < self.batch_size:
                taken.append(self._queue.get_nowait())
        jobs = []
        for job in taken:
            if job is not None:
                job.started = True
                if not job.dropped:
                    jobs.append(job)
        return jobs

    def _answers(self, jobs: Sequence[_Job]) -> Sequence[Answer | Exception]:
        def go_on() -> bool:
            return not self._closing

        try:
            return self.load().answer([job.request for job in jobs], go_on)
        except RagstoneError as error:
            return [error] * len(jobs)
        except Exception as error:  # noqa: BLE001 - torch and CUDA raise what they like
            return [self._fault(error)] * len(jobs)

    def _fault(self, error: Exception) -> AttemptError:
        said = " ".join(str(error).split())[: limits.MAX_CAUSE_CHARACTERS]
        full = "out of memory" in said.lower() or isinstance(error, MemoryError)
        way = "; take a smaller batch_size, or give fewer or shorter passages" if full else ""
        return AttemptError(f"{self.endpoint.name} failed with {type(error).__name__}: {said}{way}")


def _settle(jobs: Sequence[_Job], answers: Sequence[Answer | Exception]) -> None:
    for job, answer in zip(jobs, answers, strict=True):
        if not job.done.done():
            job.done.set_result(answer)
