"""Signals end the program: one sentence, exit code 130, and no process left."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragstone.cli.interrupts import EXIT_CODE, GRACE_SECONDS, STOPPED

_PROGRAM = """
import multiprocessing, signal, subprocess, sys, threading, time
# The shell that runs the tests may ignore them.
for number in (signal.SIGINT, signal.SIGHUP):
    signal.signal(number, signal.SIG_DFL)
from ragstone.cli.interrupts import Interrupts
def busy():
    while True:
        try:
            time.sleep(60)
        except BaseException:
            print("swallowed", flush=True)
def waits():
    thread = threading.Thread(target=time.sleep, args=(60,))
    thread.start()
    thread.join()
def library():
    import atexit, logging
    atexit.register(lambda: 1 / 0)
    try:
        time.sleep(60)
    finally:
        time.sleep(0.5)
        logging.warning("a worker was lost")
interrupts = Interrupts()
try:
    interrupts.install()
    if sys.argv[1] == "pool":
        kept = multiprocessing.get_context("spawn").Semaphore()
    none = subprocess.DEVNULL
    child = subprocess.Popen(["sleep", "60"], stdout=none, stderr=none)
    print(child.pid, flush=True)
    {"sleep": lambda: time.sleep(60), "busy": busy, "pool": busy, "waits": waits,
     "library": library}[sys.argv[1]]()
except KeyboardInterrupt:
    sys.exit(interrupts.stopped())
"""


def _start(how: str) -> tuple[subprocess.Popen[str], int]:
    """Return a running program that has installed its handlers, and its child."""
    command = [sys.executable, "-c", _PROGRAM, how]
    pipe = subprocess.PIPE
    program = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    assert program.stdout is not None
    return program, int(program.stdout.readline())


def _is_running(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="ascii").split()[2] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("how", ["sleep", "busy", "pool", "waits", "library"])
def test_a_signal_ends_the_program_with_one_sentence(number: signal.Signals, how: str) -> None:
    """Also if the interrupt is swallowed, a thread is at work, or a library complains."""
    program, child = _start(how)
    program.send_signal(number)
    _, said = program.communicate(timeout=60)
    assert (program.returncode, said) == (EXIT_CODE, STOPPED)
    ends = time.monotonic() + 30
    while _is_running(child) and time.monotonic() < ends:
        time.sleep(0.01)
    assert not _is_running(child)


def test_a_second_signal_ends_the_program_at_once() -> None:
    """The grace period is not waited for."""
    program, _ = _start("busy")
    program.send_signal(signal.SIGINT)
    assert program.stdout is not None
    program.stdout.readline()
    began = time.monotonic()
    program.send_signal(signal.SIGINT)
    _, said = program.communicate(timeout=60)
    # Without the second signal, it would have waited for the whole grace period.
    assert time.monotonic() - began < GRACE_SECONDS
    assert (program.returncode, said) == (EXIT_CODE, STOPPED)


def test_an_ignored_signal_stays_ignored() -> None:
    """`nohup` ignores SIGHUP for the program that it starts."""
    code = (
        "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN);"
        "from ragstone.cli.interrupts import Interrupts; Interrupts().install();"
        "os.kill(os.getpid(), signal.SIGHUP); print('goes on')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "goes on\n"


def test_commands_end_with_the_sentence(tmp_path: Path) -> None:
    """The whole command line, while it serves pages."""
    code = "from ragstone.cli import main; main()"
    command = [sys.executable, "-c", code, "view", str(tmp_path), "--port", "0", "--no-browser"]
    pipe = subprocess.PIPE
    program = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True)
    assert program.stdout is not None
    while "http://" not in (line := program.stdout.readline()) and line:
        pass
    program.send_signal(signal.SIGTERM)
    _, said = program.communicate(timeout=60)
    assert (program.returncode, said.count(STOPPED.strip())) == (EXIT_CODE, 1)
    assert "Traceback" not in said


_LIBRARY = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
import ragstone.cli.commands as commands
from ragstone.errors import StoreError
def interrupted(**_):
    try:
        os.kill(os.getpid(), signal.SIGINT)
        sys.stdin.read()
    except KeyboardInterrupt:
        {"another": another, "swallowed": list}[sys.argv[1]]()
def another():
    raise StoreError("Io error: KeyboardInterrupt")
commands.root = interrupted
from ragstone.cli import main
main()
"""


@pytest.mark.parametrize("how", ["another", "swallowed"])
def test_a_library_that_makes_another_error_of_it_ends_so_too(how: str) -> None:
    """Arrow's writer, for example, makes an input error of an interrupt in a Python file."""
    command = [sys.executable, "-c", _LIBRARY, how]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (EXIT_CODE, STOPPED)


def test_a_signal_while_python_ends_changes_nothing() -> None:
    """The command has finished, and its exit code says so."""
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
        "class Late:\n"
        "    def __del__(self, kill=os.kill, me=os.getpid(), number=signal.SIGHUP):\n"
        "        kill(me, number)\n"
        "import sys; sys.late = Late()\n"
        "from ragstone.cli.interrupts import Interrupts; Interrupts().install()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
