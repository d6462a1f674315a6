"""Your own system as a Python function, sync or async."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from ragstone.calls.identity import identify
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request
from ragstone.components.generators.external_base import ExternalSystem, as_task
from ragstone.components.generators.own_reply import read_answer
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.prompts import show_passages
from ragstone.core.registry import locate
from ragstone.core.user_code import error_line, file_digest, load_file
from ragstone.errors import ConfigError
from ragstone.types import Task

_ARGUMENTS: Final[Mapping[str, Callable[[Task], Any]]] = {
    "query": lambda task: task.query.text,
    "history": lambda task: list(task.query.history),
    "passages": lambda task: list(task.context.passages),
    "context": lambda task: show_passages(task.context.passages),
    "task": lambda task: task,
}
"""Parameter of your function -> its argument."""
_CONTEXT_PARAMETERS: Final = {"passages", "context", "task"}


@dataclass(frozen=True)
class Function(ExternalSystem):
    """Answers with your own function: `my_file.py:answer` or `my_package.module:answer`.

    The function takes the query as its only parameter, or any of the parameters `query`, `history`
    (messages with role and text), `passages` (with passage_id and text), `context` (the passages as
    one text) and `task`. It returns the answer as text, or a mapping with `answer`, `contexts` and
    the other fields of a reply (docs/calls.md). Under the settings `system` and `none` it retrieves
    passages itself; the other settings need one of the parameters `passages`, `context` and `task`.
    The digest of its file, and of the local modules that the file imports, is part of its identity;
    if a change is elsewhere, for example in an index, name a new `release`.

    Args:
        function: name of the function; a file is searched for beside the experiment file first.
        concurrency: maximum number of parallel calls; above 1, the function must be thread-safe or
            async.
    """

    function: str
    concurrency: int = field(default=1, metadata=NOT_IN_CACHE_KEY)
    context_hint = "give it a parameter 'passages' or 'context' and let it answer from that"

    def __post_init__(self) -> None:
        """Import the function and check its parameters."""
        super().__post_init__()
        _ = self._parameters

    @property
    def takes_context(self) -> bool:
        """Whether a parameter contains the passages."""
        return bool(_CONTEXT_PARAMETERS & set(self._parameters))

    @cached_property
    def endpoint(self) -> Endpoint:
        """The function, identified by its name and by the digest of its files."""
        parts = {"function": self.function, "files": file_digest(*self._found)}
        return Endpoint(
            self.function,
            identity=self.versioned(identify(parts, self.identity, where="callable")),
            client=lambda endpoint, pace: _FunctionClient(endpoint, pace, self._call),
            concurrency=self.concurrency,
        )

    @cached_property
    def _found(self) -> tuple[ModuleType, Callable[..., Any]]:
        return _find(self.function)

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        """The parameters that get an argument by name; empty if the only one is the query."""
        found = inspect.signature(self._found[1]).parameters.values()
        named = [p for p in found if p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
        given = tuple(p.name for p in named if p.name in _ARGUMENTS)
        required = [p.name for p in named if p.default is p.empty and p.name not in _ARGUMENTS]
        if not given and len(required) == 1:
            return ()
        if required or not given:
            raise ConfigError(
                f"{self.function} takes {', '.join(p.name for p in named) or 'no parameter'}; it "
                f"may take the query alone, or any of {', '.join(_ARGUMENTS)}"
            )
        return given

    def _call(self, request: Request) -> Any:
        """Call your function and return its value, which may be a coroutine."""
        task = as_task(request)
        if not self._parameters:
            return self._found[1](task.query.text)
        return self._found[1](**{name: _ARGUMENTS[name](task) for name in self._parameters})


@dataclass
class _FunctionClient:
    """Calls a function in a thread; the coroutine of an async one runs in the event loop."""

    endpoint: Endpoint
    pace: ConcurrencyLimiter
    call: Callable[[Request], Any]

    async def attempt(self, request: Request) -> Reply:
        name = self.endpoint.model
        return read_answer(await call_function(self.call, request, name), name)

    async def close(self) -> None:
        """Do nothing: no resources are open."""


async def call_function(function: Callable[[Any], Any], given: Any, name: str) -> Any:
    """Return your function's result; its exceptions, exits included, become `AttemptError`."""
    try:
        value = await _in_thread(function, given)
        return await value if inspect.isawaitable(value) else value
    except (asyncio.CancelledError, TimeoutError):
        raise
    except (Exception, SystemExit) as error:
        raise AttemptError(
            f"{name} raised {type(error).__name__}: {error}{error_line(error)}"
        ) from error


async def _in_thread(function: Callable[[Any], Any], request: Any) -> Any:
    """Call a function in a daemon thread: the program can end even if the function hangs."""
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()  # The call cannot be cancelled.

    def run() -> None:
        try:
            future.set_result(function(request))
        except BaseException as error:  # noqa: BLE001 - raised again by the await
            future.set_exception(error)

    threading.Thread(target=run, daemon=True, name="ragstone-callable").start()
    return await asyncio.wrap_future(future)


def _find(target: str) -> tuple[ModuleType, Callable[..., Any]]:
    """Return the function that `file.py:name` or `module:name` names, after that module."""
    module_name, colon, name = target.rpartition(":")
    if not colon or not module_name or not name:
        raise ConfigError(
            f"{target!r} does not name a function; write it as my_file.py:answer or "
            "my_package.module:answer"
        )
    path = locate(Path(f"{module_name.removesuffix('.py')}.py"))
    module = load_file(path, target) if path.is_file() else _import(module_name, path, target)
    found = getattr(module, name, None)
    if not callable(found):
        raise ConfigError(f"{target}: there is no function {name!r} in {module_name}")
    return module, cast("Callable[..., Any]", found)


def _import(module_name: str, path: Path, target: str) -> ModuleType:
    try:
        return importlib.import_module(module_name.removesuffix(".py"))
    except Exception as error:
        raise ConfigError(
            f"{target}: there is no file {path}, and importing {module_name!r} failed: {error!r}"
        ) from error
