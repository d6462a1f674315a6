"""Your own system as a command that reads and writes JSON lines."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO, ClassVar, Final

import orjson

from ragstone.calls.client import Calls
from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request
from ragstone.components.generators.external_base import (
    as_request,
    ask_own,
    check_takes_context,
    read_answer,
)
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.errors import ConfigError
from ragstone.types import Prediction, Task

_LONGEST_LINE: Final = 32 * 2**20


@dataclass(frozen=True)
class Command:
    """Answers with a command of yours, which is started once and then fed line by line.

    It reads one JSON object a line from standard input, `{"query_id", "query", "history",
    "passages"}`, and writes one a line to standard output, `{"answer": ...}` with `passage_ids`
    where they are known, before it reads the next. Its standard error is shown where it fails.

    Args:
        command: program and arguments, split as a shell would; no shell is involved.
        takes_context: it answers from `passages`, so that it can be put through all settings.
        workers: how many of it run side by side.
        release: name a new one when the system changes, so that kept answers are asked anew.
    """

    command: str
    takes_context: bool = False
    workers: int = field(default=1, metadata=NOT_IN_CACHE_KEY)
    release: str = ""
    version: ClassVar[int] = 1
    may_retrieve: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Check that there is such a program."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise ConfigError(f"cannot read the command {self.command!r}: {error}") from error
        if not words or shutil.which(words[0]) is None:
            raise ConfigError(
                f"the command {self.command!r} begins with no program that can be found; "
                "give its path, or install it"
            )

    @cached_property
    def endpoint(self) -> Endpoint:
        """The command as something that can be asked."""
        return Endpoint(
            self.command,
            identity=f"command:{self.command} {self.release}".strip(),
            client=_CommandClient,
            concurrency=self.workers,
        )

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order."""
        way = "set takes_context: true if it answers from them"
        check_takes_context(tasks, f"the command {self.command!r}", way, takes=self.takes_context)
        return ask_own(tasks, [as_request(task) for task in tasks], self.endpoint, calls)


@dataclass
class _Running:
    process: asyncio.subprocess.Process
    errors: IO[bytes]

    def last_words(self) -> str:
        """Return the last line of standard error."""
        self.errors.seek(0)
        lines = self.errors.read().decode("utf-8", "replace").strip().splitlines()
        return f"; its last words: {lines[-1][:300]}" if lines else ""

    async def stop(self) -> None:
        """Kill the process and let go of its pipes."""
        if self.process.returncode is None:
            self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()
        self.errors.close()


@dataclass
class _CommandClient:
    """Keeps processes running and hands each one task at a time."""

    endpoint: Endpoint
    pace: ConcurrencyLimiter
    idle: list[_Running] = field(default_factory=list)

    async def attempt(self, request: Request) -> Reply:
        running = self.idle.pop() if self.idle else await self._start()
        try:
            reply = await self._converse(running, request.messages[0][1])
        except BaseException:
            # Cancelled by its deadline, or out of step: what it writes next answers another task.
            await asyncio.shield(running.stop())
            raise
        self.idle.append(running)
        return reply

    async def close(self) -> None:
        for running in self.idle:
            await running.stop()
        self.idle.clear()

    async def _start(self) -> _Running:
        errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `stop`
        try:
            process = await asyncio.create_subprocess_exec(
                *shlex.split(self.endpoint.model),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=errors,
                limit=_LONGEST_LINE,
            )
        except OSError as error:
            errors.close()
            raise AttemptError(
                f"cannot start {self.endpoint.model!r}: {error}", fatal=True
            ) from error
        return _Running(process, errors)

    async def _converse(self, running: _Running, line: str) -> Reply:
        """Write a task and read its answer."""
        name, process = f"the command {self.endpoint.model!r}", running.process
        if process.stdin is None or process.stdout is None:
            raise AttemptError(f"{name} was started without its pipes")
        try:
            process.stdin.write(line.encode() + b"\n")
            await process.stdin.drain()
            answer = await process.stdout.readline()
        except (ConnectionError, ValueError) as error:
            raise AttemptError(f"{name} broke off: {error}{running.last_words()}") from error
        if not answer:
            code = await process.wait()
            raise AttemptError(f"{name} ended with exit code {code}{running.last_words()}")
        try:
            return read_answer(orjson.loads(answer), name)
        except ValueError as error:
            shown = answer[:120].decode("utf-8", "replace").strip()
            raise AttemptError(
                f"{name} wrote a line that cannot be used: {error} ({shown})"
            ) from error
