"""ProcessExecutor: results in order, and a process that dies is replaced."""

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from ragstone.core import limits
from ragstone.core.executors.processes import ProcessExecutor
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


def test_an_item_whose_processes_always_die_is_named() -> None:
    """An item whose processes always die is named."""
    with pytest.raises(RagstoneError, match=f"{limits.MAX_WORKER_DEATHS} processes died.*7"):
        list(ProcessExecutor(1).map(_dies, [7]))
