"""Your own system as a Python function, sync or async."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Final, cast

from ragstone.calls.client import Calls
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request
from ragstone.components.generators.external_base import (
    as_request,
    as_task,
    ask_own,
    check_takes_context,
    read_answer,
)
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import digest_file
from ragstone.core.prompts import show_passages
from ragstone.core.registry import failing_line, load_file, locate
from ragstone.errors import ConfigError
from ragstone.types import Prediction, Task

_GIVEN: Final[Mapping[str, Callable[[Task], Any]]] = {
    "query": lambda task: task.query.text,
    "history": lambda task: list(task.query.history),
    "passages": lambda task: list(task.context.passages),
    "context": lambda task: show_passages(task.context.passages),
    "task": lambda task: task,
}
"""Parameter of a user's function -> what it is given."""
_CONTEXT_PARAMETERS: Final = {"passages", "context", "task"}


@dataclass(frozen=True)
class Function:
    """Answers with a function of yours: `my_file.py:answer` or `my_package.module:answer`.

    The function takes the query as its only parameter, or any of the parameters `query`, `history`
    (messages with role and text), `passages` (with passage_id and text), `context` (the passages as
    one text) and `task`. It returns the answer as text, or a mapping with `answer` and
    `passage_ids`. Under the setting `none` it retrieves for itself; to be put through the others it
    must take `passages`, `context` or `task`.

    Args:
        function: where it is; a file is looked for beside the experiment file first.
        concurrency: calls at once; above 1 the function must be safe for threads, or async.
        release: name a new one when something changes that is not in the function's own file.
    """

    function: str
    concurrency: int = field(default=1, metadata=NOT_IN_CACHE_KEY)
    release: str = ""
    version: ClassVar[int] = 1
    may_retrieve: ClassVar[bool] = True
    _answer: Callable[..., Any] = field(
        init=False, repr=False, compare=False, metadata=NOT_IN_CACHE_KEY
    )

    def __post_init__(self) -> None:
        """Import the function and look at its parameters, before anything is run."""
        object.__setattr__(self, "_answer", _find(self.function))
        _ = self._parameters

    @property
    def revision(self) -> str:
        """SHA-256 of the file that holds the function."""
        path = inspect.getsourcefile(self._answer)
        return digest_file(Path(path)) if path else ""

    @cached_property
    def endpoint(self) -> Endpoint:
        """The function as something that can be asked."""
        return Endpoint(
            self.function,
            identity=f"callable:{self.function} {self.revision} {self.release}".strip(),
            client=lambda endpoint, pace: _FunctionClient(endpoint, pace, self._call),
            concurrency=self.concurrency,
        )

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order."""
        takes = bool(_CONTEXT_PARAMETERS & set(self._parameters))
        way = "give it a parameter 'passages' or 'context' and let it answer from that"
        check_takes_context(tasks, self.function, way, takes=takes)
        return ask_own(tasks, [as_request(task) for task in tasks], self.endpoint, calls)

    @cached_property
    def _parameters(self) -> tuple[str, ...]:
        """The parameters to be given, by name; a lone one of another name is the query."""
        found = inspect.signature(self._answer).parameters.values()
        named = [p for p in found if p.kind not in {p.VAR_POSITIONAL, p.VAR_KEYWORD}]
        given = tuple(p.name for p in named if p.name in _GIVEN)
        needed = [p.name for p in named if p.default is p.empty and p.name not in _GIVEN]
        if not given and len(needed) == 1:
            return ()
        if needed or not given:
            raise ConfigError(
                f"{self.function} takes {', '.join(p.name for p in named) or 'no parameter'}; it "
                f"may take the query alone, or any of {', '.join(_GIVEN)}"
            )
        return given

    def _call(self, request: Request) -> Any:
        """Call the user's function; it may return a coroutine."""
        task = as_task(request)
        if not self._parameters:
            return self._answer(task.query.text)
        return self._answer(**{name: _GIVEN[name](task) for name in self._parameters})


@dataclass
class _FunctionClient:
    """Calls a function: an async one in the event loop, another in a thread of its own."""

    endpoint: Endpoint
    pace: ConcurrencyLimiter
    call: Callable[[Request], Any]

    async def attempt(self, request: Request) -> Reply:
        name = self.endpoint.model
        try:
            value = await _in_thread(self.call, request)
            if inspect.isawaitable(value):
                value = await value
        except (asyncio.CancelledError, TimeoutError):
            raise
        except Exception as error:
            raise AttemptError(
                f"{name} raised {type(error).__name__}: {error}{failing_line(error)}"
            ) from error
        try:
            return read_answer(value, name)
        except ValueError as error:
            raise AttemptError(str(error)) from error

    async def close(self) -> None:
        """Nothing is held."""


async def _in_thread(function: Callable[[Request], Any], request: Request) -> Any:
    """Call a function in a thread that does not keep the program from ending, if it hangs."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if not future.done():
            future.set_result(value) if error is None else future.set_exception(error)

    def run() -> None:
        value, raised = None, None
        try:
            value = function(request)
        except BaseException as error:  # noqa: BLE001 - handed on to whoever awaits
            raised = error
        with suppress(RuntimeError):  # the loop is gone: nobody waits any longer
            loop.call_soon_threadsafe(settle, value, raised)

    threading.Thread(target=run, daemon=True, name="ragstone-callable").start()
    return await future


def _find(target: str) -> Callable[..., Any]:
    """Return the function that `file.py:name` or `module:name` names."""
    module_name, colon, name = target.rpartition(":")
    if not colon or not module_name or not name:
        raise ConfigError(
            f"{target!r} does not name a function; write it as my_file.py:answer or "
            "my_package.module:answer"
        )
    path = locate(Path(module_name if module_name.endswith(".py") else f"{module_name}.py"))
    module = load_file(path, target) if path.is_file() else _import(module_name, path, target)
    found = getattr(module, name, None)
    if not callable(found):
        raise ConfigError(f"{target}: there is no function {name!r} in {module_name}")
    return cast("Callable[..., Any]", found)


def _import(module_name: str, path: Path, target: str) -> ModuleType:
    try:
        return importlib.import_module(module_name.removesuffix(".py"))
    except Exception as error:
        raise ConfigError(
            f"{target}: there is no file {path}, and importing {module_name!r} failed: {error!r}"
        ) from error
