"""Models that run in this process: one thread answers the waiting calls in batches.

A generator whose model is a Python object gives its endpoint this client:

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
from ragstone.core.screen_text import cause_of
from ragstone.errors import ConfigError, RagstoneError

_GATHER_SECONDS: Final = 0.01

Answer: TypeAlias = Reply | AttemptError


class TextModel(Protocol):
    """A model in memory."""

    def answer(self, requests: Sequence[Request], go_on: Callable[[], bool]) -> Sequence[Answer]:
        """Return one answer per request, in order; only one thread at a time calls this.

        Once `go_on()` is false the answers are discarded, so the model may stop early.
        """
        ...

    def close(self) -> None:
        """Free the memory."""
        ...


_loaded: dict[Hashable, TextModel] = {}
"""The only model in memory, by its key: memory for two at once is not assumed."""
_lock = threading.RLock()


def load_once(key: Hashable, load: Callable[[], TextModel]) -> TextModel:
    """Return the model in memory if it has this key; otherwise unload it and load another."""
    with _lock:
        if key not in _loaded:
            unload()
            _loaded[key] = load()
        return _loaded[key]


def unload() -> None:
    """Remove the model from memory."""
    with _lock:
        while _loaded:
            _loaded.popitem()[1].close()


def in_process(
    endpoint: Endpoint, pace: ConcurrencyLimiter, load: Callable[[], TextModel], batch_size: int
) -> InProcessClient:
    """Return the client of a model; the model is loaded first, so that its errors are raised now.

    `load` returns the model, from memory if it is loaded.
    """
    load()
    return InProcessClient(endpoint, pace, load, batch_size)


def draw_seed(request: Request) -> int:
    """Return the seed of a request's random numbers, below 2**32.

    It depends on the sampling seed, the sample number and the prompt: a reply does not change with
    the other requests of its batch, and two samples of one prompt differ.

    >>> draw_seed(Request((("user", "Hi"),))) == draw_seed(Request((("user", "Hi"),), sample=1))
    False
    """
    parts = f"{request.sampling.seed or 0}\n{request.sample}\n{request.prompt_hash}"
    return int.from_bytes(hashlib.sha256(parts.encode()).digest()[:4])


def refuse_unsupported(
    sampling: Sampling, name: str, *, supported: frozenset[str] = frozenset()
) -> None:
    """Raise `ConfigError` for a schema, grammar or extra parameter that a model does not support.

    `supported` contains names among `json_schema`, `grammar` and `extra`.
    """
    for parameter in ("json_schema", "grammar", "extra"):
        if getattr(sampling, parameter) and parameter not in supported:
            raise ConfigError(f"{name} supports no {parameter} in this process; remove it")


def too_long(
    tokens: int, name: str, context_tokens: int, max_input_tokens: int | None
) -> AttemptError | None:
    """Return the error of a prompt that does not fit, or None."""
    if max_input_tokens is not None and tokens > max_input_tokens:
        return AttemptError(
            f"the prompt has {tokens} tokens, more than max_input_tokens ({max_input_tokens}) of "
            f"{name}, and nothing more to drop; raise it"
        )
    if tokens < context_tokens:
        return None
    return AttemptError(
        f"the prompt has {tokens} tokens, longer than the context of {name} "
        f"({context_tokens}); give fewer or shorter passages"
    )


@dataclass(eq=False)
class _Job:
    request: Request
    done: asyncio.Future[Answer | Exception]
    waiting: int = 0
    """Attempts that await the answer."""
    started: bool = False
    dropped: bool = False


@dataclass
class InProcessClient:
    """Passes waiting requests to a model in batches."""

    endpoint: Endpoint
    pace: ConcurrencyLimiter
    load: Callable[[], TextModel]
    batch_size: int
    _jobs: dict[str, _Job] = field(init=False, repr=False, default_factory=dict)
    _queue: SimpleQueue[_Job | None] = field(init=False, repr=False, default_factory=SimpleQueue)
    _thread: threading.Thread | None = field(init=False, repr=False, default=None)
    _closing: bool = field(init=False, repr=False, default=False)

    def __post_init__(self) -> None:
        """Let one batch wait while another is answered: requests in a longer queue time out."""
        most = min(self.pace.maximum, limits.MAX_QUEUED_BATCHES * self.batch_size)
        self.pace.maximum = self.pace.limit = self.pace.minimum = most

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise an `AttemptError`."""
        key = request.key(self.endpoint.identity)
        # A second attempt, after a time-out, finds the job that the model still works on.
        job = self._jobs.get(key) or self._start_job(key, request)
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
        """Stop the thread; the model stays in memory for the next client."""
        self._closing = True
        self._queue.put(None)
        if self._thread is not None:
            await asyncio.to_thread(self._thread.join, limits.MODEL_STOP_SECONDS)

    def _start_job(self, key: str, request: Request) -> _Job:
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
        """Answer waiting requests until the client closes; the body of the model's thread."""
        while not self._closing:
            jobs = self._next_jobs()
            if not jobs:
                continue
            answers = self._answers(jobs)
            with suppress(RuntimeError):  # The loop is closed: nothing awaits the answers.
                loop.call_soon_threadsafe(_settle, jobs, answers)

    def _next_jobs(self) -> list[_Job]:
        """Wait for a request and return it with those that arrive with it."""
        taken = [self._queue.get()]
        if self.batch_size > 1:
            time.sleep(_GATHER_SECONDS)
        with suppress(Empty):
            while len(taken) < self.batch_size:
                taken.append(self._queue.get_nowait())
        jobs = [job for job in taken if job is not None]
        for job in jobs:
            job.started = True
        return [job for job in jobs if not job.dropped]

    def _answers(self, jobs: Sequence[_Job]) -> Sequence[Answer | Exception]:
        try:
            return self.load().answer([job.request for job in jobs], lambda: not self._closing)
        except RagstoneError as error:
            return [error] * len(jobs)
        except Exception as error:  # noqa: BLE001 - torch and CUDA raise many types
            return [self._attempt_error(error)] * len(jobs)

    def _attempt_error(self, error: Exception) -> AttemptError:
        reason = cause_of(error)
        full = "out of memory" in reason.lower() or isinstance(error, MemoryError)
        hint = "; set a smaller batch_size, or give fewer or shorter passages" if full else ""
        name = type(error).__name__
        return AttemptError(f"{self.endpoint.name} failed with {name}: {reason}{hint}")


def _settle(jobs: Sequence[_Job], answers: Sequence[Answer | Exception]) -> None:
    for job, answer in zip(jobs, answers, strict=True):
        if not job.done.done():
            job.done.set_result(answer)
