"""Tests that end differently from run to run are found."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tools import repeat

ROOT = Path(__file__).resolve().parents[1]
TESTS = """
from pathlib import Path

def test_first_time():
    assert Path(__file__).with_suffix(".ran").exists()

def test_all_times():
    Path(__file__).with_suffix(".ran").touch()
"""


def test_a_test_that_fails_in_one_run_alone_is_named(tmp_path: Path) -> None:
    """With the numbers of runs; a test that always passes is not."""
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, repeat.__file__, "--times", "3", "-n0", str(tmp_path / "test_it.py")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert [line.partition("::")[2] for line in done.stdout.splitlines() if "::" in line] == [
        "test_first_time: failed in 1 of 3 runs"
    ]
    assert done.stdout.endswith("1 tests failed in some of 3 runs\n")
