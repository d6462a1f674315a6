"""Work in threads: the first error is raised at once, and context variables are the caller's."""

from __future__ import annotations

import subprocess
import sys
import threading
from contextvars import ContextVar
from pathlib import Path

import pytest

from ragstone.core.threads import run_all

NAME: ContextVar[str] = ContextVar("name", default="")


def test_the_first_error_does_not_wait_for_the_others() -> None:
    """The other work goes on, and is not awaited."""
    release, entered = threading.Event(), threading.Event()

    def stays() -> None:
        entered.set()
        release.wait(30)

    def fails() -> None:
        entered.wait(30)
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        run_all([stays, fails], "test")
    assert not release.is_set()
    release.set()


def test_works_run_at_once_and_see_the_callers_context() -> None:
    """Both pass a barrier, which needs both."""
    barrier, seen = threading.Barrier(2, timeout=30), list[str]()

    def work() -> None:
        barrier.wait()
        seen.append(NAME.get())

    NAME.set("caller")
    run_all([work, work], "test")
    assert seen == ["caller"] * 2


def test_nothing_to_do_is_no_error() -> None:
    """An empty list ends at once; a single function runs in the caller's thread."""
    run_all([], "test")
    threads = list[threading.Thread]()
    run_all([lambda: threads.append(threading.current_thread())], "test")
    assert threads == [threading.current_thread()]


def test_a_thread_that_cannot_start_is_not_kept(tmp_path: Path) -> None:
    """A log whose writer the system refuses is closed without another error."""
    code = (
        "import resource\n"
        "from pathlib import Path\n"
        "from ragstone.calls.log import CallLog\n"
        "log = CallLog(Path('calls.sqlite'))\n"
        "size = int(open('/proc/self/statm').read().split()[0]) * resource.getpagesize()\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 20),) * 2)\n"
        "try:\n"
        "    log.put(None, None)\n"
        "except RuntimeError as error:\n"
        "    print(error)\n"
        "    log.close()\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("can't start new thread\n", "")
