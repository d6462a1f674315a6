"""What a killed run leaves is removed: its folder, and the processes that use it."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragstone.core.executors.leftovers import Guard

_OPENS = (
    "import sys, time; file = open(sys.argv[1], 'w'); print('open', flush=True); time.sleep(600)"
)
_RUN = """
import sys, time
from pathlib import Path
from ragstone.core.executors.leftovers import Guard
own = open(Path(sys.argv[1], "own.log"), "w")
print(Guard.of(Path(sys.argv[1])).process.pid, flush=True)
time.sleep(600)
"""


def _started(*command: str) -> subprocess.Popen[str]:
    """Start Python, and wait for its first line."""
    found = subprocess.Popen([sys.executable, "-c", *command], stdout=subprocess.PIPE, text=True)
    assert found.stdout
    assert found.stdout.readline()
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_a_killed_run_leaves_nothing(tmp_path: Path) -> None:
    """After SIGKILL, processes with a file of the folder are killed and the folder is removed."""
    folder = tmp_path / "session"
    folder.mkdir()
    agent, other = _started(_OPENS, str(folder / "log")), _started(_OPENS, str(tmp_path / "log"))
    run = _started(_RUN, str(folder))
    try:
        run.kill()
        assert agent.wait(timeout=120) == -9
        for _ in range(1_200):
            if folder.exists():
                time.sleep(0.1)
        assert not folder.exists()
        assert other.poll() is None
    finally:
        for one in (agent, other, run):
            one.kill()
            one.communicate()


def test_a_dismissed_guard_removes_nothing(tmp_path: Path) -> None:
    """A run that ends by itself dismisses the guard; the folder stays."""
    guard = Guard.of(tmp_path)
    guard.dismiss()
    assert guard.process.returncode == 0
    assert tmp_path.exists()
