"""A test that does not run is named with its reason, and fails CI unless `skips.toml` lists it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
pytestmark = pytest.mark.filterwarnings("default")

def test_of_real_data(shared_data):
    shared_data("no_such_folder")

@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.needs("json", "no_such_package")
def test_of_a_package(n): ...

@pytest.mark.needs("json", "pytest")
def test_that_runs(): ...
"""


def run(folder: Path, *options: str, **environment: str) -> tuple[int, str]:
    """Return the exit code and the output of pytest over `TESTS`, under this project's rules."""
    here = Path(__file__).parent
    (folder / "tests").mkdir()
    for name in ("conftest.py", "skips.toml"):
        shutil.copy(here / name, folder / "tests")
    (folder / "tests" / "slow.txt").write_text("tests/test_some.py::test_that_runs\n")
    shutil.copy(here.parent / "pyproject.toml", folder)
    (folder / "tests" / "test_some.py").write_text(TESTS, encoding="utf-8")
    without = {"CI", "PYTEST_ADDOPTS", "QUICK_TESTS", "RAGSTONE_SHARED_DATA"}
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", *options]
    ended = subprocess.run(
        command,
        cwd=folder, env=inherited | environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return ended.returncode, ended.stdout + ended.stderr


def test_the_run_ends_with_the_tests_that_did_not_run(tmp_path: Path) -> None:
    """Grouped by reason, with the command that installs; outside CI the run passes."""
    code, shown = run(tmp_path)

    assert code == 0
    wanted = r"""
!+ tests NOT RUN: 3 !+
1 x SHARED DATA ABSENT: no \S+/no_such_folder; set RAGSTONE_SHARED_DATA to .*
    tests/test_some.py::test_of_real_data
2 x not installed: no_such_package; install with: make torch
    tests/test_some.py::test_of_a_package \(2 cases\)
1 passed, 3 skipped"""
    assert re.search(wanted, shown), shown


@pytest.mark.parametrize("options", [[], ["--numprocesses=2"]])
def test_a_skip_that_is_not_listed_fails_ci(tmp_path: Path, options: list[str]) -> None:
    """Absent data is listed and may be skipped; an absent package is not. So with workers too."""
    code, shown = run(tmp_path, *options, CI="1")

    assert code == 1
    assert "CI fails: 2 skips are not listed in tests/skips.toml" in shown
    failing = shown.partition("CI fails")[2]
    assert "test_of_a_package[1]" in failing
    assert "test_of_real_data" not in failing


def test_listed_skips_pass_ci(tmp_path: Path) -> None:
    """Absent data does not fail the run of a clone without it."""
    code, shown = run(tmp_path, "--deselect=tests/test_some.py::test_of_a_package", CI="1")

    assert code == 0
    assert "tests NOT RUN: 1" in shown


def test_a_quick_run_leaves_out_slow_tests_and_lists_them(tmp_path: Path) -> None:
    """With the command that runs them."""
    code, shown = run(tmp_path, QUICK_TESTS="1")

    assert code == 0
    assert "1 x slow; run with: make test SLOW=1\n    tests/test_some.py::test_that_runs\n" in shown
    assert "4 skipped" in shown


def test_the_slow_tests_exist() -> None:
    """A test that was renamed would no longer be left out."""
    listed = (Path(__file__).parent / "slow.txt").read_text(encoding="utf-8").splitlines()
    assert listed == sorted(set(listed))
    for entry in listed:
        path, _, name = entry.rpartition("::")
        text = (Path(__file__).parents[1] / path).read_text(encoding="utf-8")
        assert f"def {name}(" in text, entry
