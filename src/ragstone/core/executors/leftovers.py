"""Removal of what a killed run leaves: a process beside it ends a cluster's processes and folder.

    python leftovers.py FOLDER

The process waits until its standard input ends, which the system does if the run is killed. If it
was told nothing before, it kills the Python processes that have a file of the folder open, except
the run, and removes the folder. It is a session of its own, so the signals of a terminal do not
reach it, and imports nothing else of Ragstone, so it takes little memory.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Guard:
    """The process that removes a folder, unless it is dismissed before this process ends."""

    folder: Path
    process: subprocess.Popen[bytes]

    @classmethod
    def of(cls, folder: Path) -> Guard:
        """Start the process."""
        return cls(
            folder,
            subprocess.Popen(  # noqa: S603 - this interpreter and this file
                [sys.executable, "-I", "-S", __file__, str(folder)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            ),
        )

    def dismiss(self) -> None:
        """End the process; the folder stays."""
        self.process.communicate(b"dismissed")

    def clean(self) -> None:
        """Let the process remove the folder now."""
        self.process.communicate()


def remove(folder: Path, *, but: int) -> None:
    """Kill the Python processes that use a folder, except one, and remove the folder."""
    while found := _users(folder) - {but, os.getpid()}:
        for process in found:
            _kill(process)
    shutil.rmtree(folder, ignore_errors=True)


def _users(folder: Path) -> set[int]:
    """Return the Python processes that have a file of a folder open; none without /proc."""
    inside, python = f"{folder.resolve()}{os.sep}", Path(sys.executable).resolve()
    found = set()
    for one in Path("/proc").glob("[0-9]*"):
        try:
            if (one / "exe").readlink() != python:
                continue
            links = [str(link.readlink()) for link in (one / "fd").iterdir()]
        except OSError:  # it has ended, or belongs to somebody else
            continue
        if any(link.startswith(inside) for link in links):
            found.add(int(one.name))
    return found


def _kill(process: int) -> None:
    """Kill a process, and wait until it has ended."""
    try:
        handle = os.pidfd_open(process)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGKILL)
        select.select([handle], [], [])
    except ProcessLookupError:
        return
    finally:
        os.close(handle)


if __name__ == "__main__":
    run = os.getppid()
    if not sys.stdin.buffer.read():
        remove(Path(sys.argv[1]), but=run)
