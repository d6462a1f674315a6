"""Your own system as a command that reads and writes JSON lines."""

from __future__ import annotations

import asyncio
import shlex
import shutil
import tempfile
from dataclasses import dataclass, field
from functools import cached_property
from typing import IO

from ragstone.calls.rate_control import ConcurrencyLimiter
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, parse_reply
from ragstone.components.generators.external_base import ExternalSystem, read_answer
from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.errors import ConfigError


@dataclass(frozen=True)
class Command(ExternalSystem):
    """Answers with your own command, which is started once and receives one line per task.

    It reads a JSON object per line from standard input, `{"query_id", "query", "history",
    "passages"}`, and writes one to standard output, `{"answer": ...}` with `passage_ids` if they
    are known, before it reads the next line. The last line of its standard error is part of the
    reason of a failure.

    Args:
        command: program and arguments, split as a shell does; no shell is started.
        takes_context: whether it answers from `passages`, so that all settings can be measured.
        workers: number of processes that run side by side.
        release: version of your system; after a change, all calls are repeated.
    """

    command: str
    takes_context: bool = False
    workers: int = field(default=1, metadata=NOT_IN_CACHE_KEY)
    release: str = ""
    context_hint = "set takes_context: true if it answers from them"

    def __post_init__(self) -> None:
        """Raise `ConfigError` if the program is not found."""
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise ConfigError(f"cannot read the command {self.command!r}: {error}") from error
        if not words or shutil.which(words[0]) is None:
            raise ConfigError(
                f"the program of the command {self.command!r} is not found; give its path, or "
                "install it"
            )

    @cached_property
    def endpoint(self) -> Endpoint:
        """The command as an endpoint."""
        return Endpoint(
            self.command,
            identity=f"command:{self.command} {self.release}".strip(),
            client=_CommandClient,
            concurrency=self.workers,
        )


@dataclass
class _Running:
    process: asyncio.subprocess.Process
    errors: IO[bytes]

    def last_error_line(self) -> str:
        """Return the last line of standard error, as the end of a reason."""
        self.errors.seek(0)
        *_, last = ["", *self.errors.read().decode("utf-8", "replace").strip().splitlines()]
        last = last[: limits.MAX_CAUSE_CHARACTERS]
        return f"; last line of its standard error: {last}" if last else ""

    async def stop(self) -> None:
        """Kill the process and close its pipes."""
        if self.process.returncode is None:
            self.process.kill()
        if self.process.stdin is not None:
            self.process.stdin.close()
        await self.process.wait()
        self.errors.close()


@dataclass
class _CommandClient:
    """Keeps processes running and gives each one task at a time."""

    endpoint: Endpoint
    pace: ConcurrencyLimiter
    idle: list[_Running] = field(default_factory=list)

    async def attempt(self, request: Request) -> Reply:
        running = self.idle.pop() if self.idle else await self._start()
        try:
            reply = await self._converse(running, request.messages[0][1])
        except BaseException:
            # After a time-out or a bad line, the process's next line may answer an earlier task.
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
                limit=limits.MAX_RESPONSE_BYTES,
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
        except ConnectionError as error:
            last = running.last_error_line()
            raise AttemptError(f"{name} closed its pipes: {error}{last}") from error
        except ValueError as error:  # from `readline`, for a line beyond its limit
            raise AttemptError(
                f"{name} wrote a line of more than {limits.MAX_RESPONSE_BYTES:,} bytes, the "
                "maximum response size; shorten its answers"
            ) from error
        if not answer:
            code = await process.wait()
            raise AttemptError(f"{name} ended with exit code {code}{running.last_error_line()}")
        try:
            value = parse_reply(answer)
        except ValueError as error:
            text = answer[: limits.MAX_EXCERPT_CHARACTERS].decode("utf-8", "replace").strip()
            raise AttemptError(f"{name} wrote a line that is not JSON: {error} ({text})") from error
        return read_answer(value, name)
