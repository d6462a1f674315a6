"""Your own system as a function object, which was made in Python."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, Final

from ragstone.calls.identity import identify
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request
from ragstone.components.generators.external_base import as_task
from ragstone.components.generators.own_reply import read_answer
from ragstone.components.generators.python_function import Function, call_function
from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY, SET_BY_A_RUN
from ragstone.core.user_code import file_digest

_UNSEEN: Final = {**NOT_IN_CACHE_KEY, **SET_BY_A_RUN}


@dataclass(frozen=True)
class GivenFunction(Function):
    """Answers with a function object; `Function` describes a function's arguments and result.

    A function that is defined in a file, outside of any other function, is identified by its files.
    Any other one (of a notebook, a lambda, a method, an object) is asked again by each run, because
    a change of the objects it refers to could not be detected.

    Args:
        function: the name of the function.
        given: the function, sync or async.
        timeout: maximum seconds of a call; by default that of all calls.
        batch: maximum number of queries per call. Above 1, the function takes a list of query texts
            and returns a list of answers.
    """

    given: Any = field(default=None, compare=False, repr=False, metadata=_UNSEEN)
    timeout: float | None = field(default=None, metadata=_UNSEEN)
    batch: int = field(default=1, metadata=_UNSEEN)
    sizes = ("batch", "concurrency")

    @property
    def asks_again(self) -> bool:
        """Whether the code that the function reaches is not known as a whole."""
        return not self.release and not self._is_whole

    @property
    def takes_context(self) -> bool:
        """Whether a parameter contains the passages."""
        return self.batch == 1 and super().takes_context

    @cached_property
    def endpoint(self) -> Endpoint:
        """The function, identified by its name and, if they are known, by its files."""
        files = file_digest(*self._found) if self._is_whole else ""
        parts = {"function": self.function, "files": files}
        return Endpoint(
            self.function,
            identity=self.versioned(identify(parts, self.identity, where="evaluate")),
            client=self._client,
            concurrency=self.concurrency * self.batch,
        )

    @cached_property
    def _found(self) -> tuple[ModuleType, Callable[..., Any]]:
        return inspect.getmodule(self.given) or sys.modules["__main__"], self.given

    @cached_property
    def _is_whole(self) -> bool:
        module, function = self._found
        named = getattr(module, getattr(function, "__name__", ""), None) is function
        return named and inspect.isfunction(function) and bool(getattr(module, "__file__", None))

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        """The parameters by name; a function of a batch has one, the list of queries."""
        return () if self.batch > 1 else super()._parameters

    def _client(self, endpoint: Endpoint, pace: ConcurrencyLimiter) -> _GivenClient:
        if self.batch == 1:
            return _GivenClient(endpoint, pace, self.timeout, self._call)
        return _BatchClient(endpoint, pace, self.timeout, self._call, self.given, self.batch)


@dataclass
class _GivenClient:
    """Calls the function for each request, within the time that a call may take."""

    endpoint: Endpoint
    pace: ConcurrencyLimiter
    timeout: float | None
    call: Callable[[Request], Any]

    async def attempt(self, request: Request) -> Reply:
        """Return the reply; raise `AttemptError` if there is none in time."""
        return read_answer(await self.value(self.call, request), self.endpoint.model)

    async def value(self, function: Callable[[Any], Any], given: Any) -> Any:
        """Return a function's result; raise `AttemptError` if it fails or takes too long."""
        name = self.endpoint.model
        try:
            async with asyncio.timeout(self.timeout) as limit:
                return await call_function(function, given, name)
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise AttemptError(f"{name} did not answer within {self.timeout:g} s") from error

    async def close(self) -> None:
        """Do nothing: no resources are open."""


@dataclass
class _BatchClient(_GivenClient):
    """Collects requests, and calls the function with the texts of several queries."""

    function: Callable[[list[str]], Any]
    size: int
    waiting: list[tuple[str, asyncio.Future[Any]]] = field(default_factory=list)
    running: set[asyncio.Task[None]] = field(default_factory=set)

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request of a batch."""
        loop = asyncio.get_running_loop()
        found: asyncio.Future[Any] = loop.create_future()
        self.waiting.append((as_task(request).query.text, found))
        if len(self.waiting) >= self.size:
            self._start()
        else:
            loop.call_later(limits.BATCH_WAIT_SECONDS, self._start)
        return read_answer(await found, self.endpoint.model)

    def _start(self) -> None:
        """Call the function with the requests that wait."""
        chosen, self.waiting = self.waiting[: self.size], self.waiting[self.size :]
        if chosen:
            task = asyncio.create_task(self._answer(chosen))
            self.running.add(task)
            task.add_done_callback(self.running.discard)

    async def _answer(self, chosen: Sequence[tuple[str, asyncio.Future[Any]]]) -> None:
        try:
            values = await self.value(self.function, [text for text, _ in chosen])
            self._check(values, len(chosen))
        except AttemptError as error:
            for _, found in chosen:
                if not found.done():
                    found.set_exception(error)
            return
        for (_, found), value in zip(chosen, values, strict=True):
            if not found.done():
                found.set_result(value)

    def _check(self, values: Any, count: int) -> None:
        if not isinstance(values, list | tuple) or len(values) != count:
            what = f"{len(values)} answers" if isinstance(values, list) else type(values).__name__
            raise AttemptError(
                f"{self.endpoint.model} returned {what} for a batch of {count} queries; expected a "
                "list with one answer per query",
                kind="unreadable",
            )
