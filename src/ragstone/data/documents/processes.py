"""Parsing in other processes, each with a deadline per file and a limit of memory."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from contextlib import suppress
from typing import IO, Any, Final, cast

import orjson

from ragstone.core import limits
from ragstone.core.resources import size
from ragstone.data.documents.formats import EXTRA, FileParser
from ragstone.data.documents.pieces import ParsedFile, Piece, UnreadableFile
from ragstone.data.documents.worker import OUT_OF_MEMORY
from ragstone.errors import MissingDependency

_LAST_SECONDS: Final = 1.0
"""Waiting for the exit code of a process that has closed its pipe."""


class ParsingProcess:
    """A process that parses one file after the other, replaced when it ends.

    A file at which it ends is tried once more in a new process, because the files before it may
    have left little memory. Close it when no more files follow.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def parse(self, parser: FileParser, content: bytes) -> ParsedFile:
        """Return the content of a file.

        Raises:
            UnreadableFile: it cannot be read, or not within the limits.
            MissingDependency: a package is not installed.
        """
        is_used = self._process is not None
        reply = self._ask(parser, content)
        if "ended" in reply and is_used:
            reply = self._ask(parser, content)
        if "missing" in reply:
            raise MissingDependency(f"reading {parser.suffix} files", reply["missing"], EXTRA)
        if reason := reply.get("ended") or reply.get("error"):
            raise UnreadableFile(reason)
        return ParsedFile([Piece(**p) for p in reply["pieces"]], reply["title"], reply["notes"])

    def _ask(self, parser: FileParser, content: bytes) -> dict[str, Any]:
        """Return the reply of the process, or why it ended."""
        if self._is_stopped:
            return {"error": "its parser was stopped"}
        process = self._process = self._process or _start()
        requests, replies = cast("IO[bytes]", process.stdin), cast("IO[bytes]", process.stdout)
        expired = threading.Event()

        def expire() -> None:
            expired.set()
            process.kill()

        timer = threading.Timer(limits.PARSE_SECONDS, expire)
        timer.start()
        try:
            with suppress(BrokenPipeError):
                request = {"suffix": parser.suffix, "bytes": len(content)}
                requests.write(orjson.dumps(request) + b"\n" + content)
                requests.flush()
            line = replies.readline()
        finally:
            timer.cancel()
        if expired.is_set():
            self.close()
            return {"error": f"its parser did not end within {limits.PARSE_SECONDS:g} seconds"}
        if not line.endswith(b"\n"):
            with suppress(subprocess.TimeoutExpired):
                process.wait(_LAST_SECONDS)
            return {"ended": _end_text(self.close())}
        found: dict[str, Any] = orjson.loads(line)
        return found

    def stop(self) -> None:
        """Let a `parse` in another thread end now, and every later one."""
        self._is_stopped = True
        if (process := self._process) is not None:
            process.kill()

    def close(self) -> int:
        """End the process, and return its exit code."""
        process, self._process = self._process, None
        if process is None:
            return 0
        process.kill()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                cast("IO[bytes]", pipe).close()
        return process.wait()


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "ragstone.data.documents.worker", str(limits.PARSE_BYTES)]
    return subprocess.Popen(  # noqa: S603 - this interpreter and a module of ours
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )


def _end_text(code: int) -> str:
    if code == OUT_OF_MEMORY:
        return f"its parser needs more than {size(limits.PARSE_BYTES)} of memory"
    name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return f"its parser crashed ({name}); parsers do so at {size(limits.PARSE_BYTES)} of memory too"
