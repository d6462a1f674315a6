"""Runs commands on a terminal and without one, each in a fork that has imported the commands."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

SECONDS: Final = 300.0
"""After them a command is ended."""
SILENT: Final = 60.0
"""After them a command that waits for input has started, also if it has printed nothing."""


@dataclass(frozen=True)
class Said:
    """What a command printed."""

    code: int
    out: str
    """Standard output; on a terminal with standard error in it."""
    errors: str = ""


def said_by(
    arguments: Sequence[str], folder: Path, *, terminal: bool, endless: bool = False
) -> Said:
    """Run a command in a folder, with a terminal for all streams or with pipes.

    An endless one gets an interrupt when it has been quiet for a second.
    """
    if terminal:
        ours, theirs = os.openpty()
        _be_raw(theirs)
        os.write(ours, b"\n" * 8)  # takes the defaults of what is asked
        readers, streams = {ours: b""}, (theirs, theirs, theirs)
    else:
        (out, to_out), (errors, to_errors) = os.pipe(), os.pipe()
        empty = os.open(os.devnull, os.O_RDONLY)
        readers, streams = {out: b"", errors: b""}, (empty, to_out, to_errors)
    process = os.fork()
    if not process:
        _run(arguments, folder, streams)
    for stream in set(streams):
        os.close(stream)
    order = list(readers)
    ended = _read(readers, process, endless=endless)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    for reader in order:
        os.close(reader)
    texts = [readers[one].decode("utf-8", "surrogateescape") for one in order]
    return Said(code if ended else -1, *texts)


@contextmanager
def beside(made: Iterator[str]) -> Iterator[str]:
    """Run a generator in a process of its own, and yield the text that it yields.

    A process with threads cannot be forked safely.
    """
    (read, write), (held, hold) = os.pipe(), os.pipe()
    process = os.fork()
    if not process:
        os.close(hold)
        for text in made:
            os.write(write, text.encode() + b"\n")
            os.read(held, 1)  # returns when the other side is closed
        os._exit(0)
    os.close(held)
    try:
        with os.fdopen(read) as lines:
            yield lines.readline().strip()
    finally:
        os.close(write)
        os.close(hold)
        os.waitpid(process, 0)


def _be_raw(terminal: int) -> None:
    """Let a terminal hand over what is written as it is."""
    settings = termios.tcgetattr(terminal)
    settings[1] &= ~termios.OPOST
    settings[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, settings)
    termios.tcsetwinsize(terminal, (50, 120))


def _run(arguments: Sequence[str], folder: Path, streams: Sequence[int]) -> NoReturn:
    """Be the program `ragstone` in this process."""
    code = 1
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.closerange(3, 256)
        os.chdir(folder)
        os.environ["TERM"] = "xterm-256color"
        sys.argv = ["ragstone", *arguments]
        from ragstone.cli import main

        main()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - as the interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


def _read(readers: dict[int, bytes], process: int, *, endless: bool) -> bool:
    """Read until all streams are closed; return whether the command ended by itself."""
    began = time.monotonic()
    open_ones, ends, quiet = list(readers), began + SECONDS, False
    while open_ones:
        if time.monotonic() > ends:
            os.kill(process, signal.SIGKILL)
            return False
        ready = select.select(open_ones, [], [], 1.5)[0]
        started = any(readers.values()) or time.monotonic() > began + SILENT
        if not ready and endless and not quiet and started:
            os.kill(process, signal.SIGTERM)
            quiet = True
        for one in ready:
            try:
                part = os.read(one, 65_536)
            except OSError:  # the other side of a terminal is closed
                part = b""
            readers[one] += part
            if not part:
                open_ones.remove(one)
    return True
