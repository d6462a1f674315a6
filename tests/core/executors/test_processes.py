"""ProcessExecutor: results in order, and a process that dies is replaced."""

import os
import signal
import subprocess
import sys
import time
from collections import deque
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path

import pytest

from ragstone.core import limits
from ragstone.core.executors.processes import ProcessExecutor, _Sent
from ragstone.errors import RagstoneError


def _square(number: int) -> int:
    return number * number


def _dies_once(folder: Path, number: int) -> int:
    if number == 2 and not (folder / "died").exists():
        (folder / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def _dies(_: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def test_results_come_in_order_and_a_dead_process_is_replaced(tmp_path: Path) -> None:
    """Results come in order and a dead process is replaced."""
    executor = ProcessExecutor(2)
    assert list(executor.map(_square, range(5))) == [0, 1, 4, 9, 16]
    assert list(executor.map(partial(_dies_once, tmp_path), range(5))) == [0, 1, 2, 3, 4]
    executor.close()


def test_an_item_of_a_broken_pool_does_not_stop_the_next_pool() -> None:
    """Several items break with one process; the first of them has started new processes."""
    executor = ProcessExecutor(1)
    next_pool = executor._submit(_square, 2).pool
    broken: Future[int] = Future()
    broken.set_exception(BrokenProcessPool("died"))
    assert executor._first(_square, deque([(3, _Sent(None, broken))])) == 9
    assert executor._pool is next_pool
    executor.close()


def test_an_item_whose_processes_always_die_is_named() -> None:
    """An item whose processes always die is named."""
    with pytest.raises(RagstoneError, match=f"{limits.MAX_WORKER_DEATHS} processes died"):
        list(ProcessExecutor(1).map(_dies, [7]))


DRIVER = """
import os, sys, time
from pathlib import Path
from ragstone.core.executors.processes import ProcessExecutor

def slow(name):
    Path(name + ".tmp").write_text(str(os.getpid()))
    os.rename(name + ".tmp", name)
    time.sleep(120)

if __name__ == "__main__":
    list(ProcessExecutor(1).map(slow, sys.argv[1:]))
"""


def _runs(pid: int) -> bool:
    """Return whether a process has not ended; one that nobody waited for has no command."""
    try:
        return bool(Path(f"/proc/{pid}/cmdline").read_bytes())
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="reads /proc")
def test_processes_end_with_a_killed_driver(tmp_path: Path) -> None:
    """The processes end if the one that started them is killed."""
    (tmp_path / "driver.py").write_text(DRIVER)
    named = tmp_path / "pid"
    driver = subprocess.Popen([sys.executable, tmp_path / "driver.py", named])
    while not named.exists():
        assert driver.poll() is None
        time.sleep(0.1)
    driver.kill()
    driver.wait()
    pid = int(named.read_text())
    left = 300
    while _runs(pid) and left:
        time.sleep(0.1)
        left -= 1
    assert left
