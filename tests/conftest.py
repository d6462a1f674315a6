"""What all tests share: the folder of real data, and a loud line where it is not there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import settings

# CI draws the same examples every time: what it finds, anybody can find again. Elsewhere they vary.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

SharedData: TypeAlias = Callable[[str], Path]
"""Name of a folder of the shared data -> its path; the test is skipped where there is none."""

_REPOSITORY = Path(__file__).resolve().parents[1]
_MARK = "SHARED DATA ABSENT"


def _shared_folder() -> Path:
    given = os.environ.get("RAGSTONE_SHARED_DATA")
    return Path(given) if given else _REPOSITORY.parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> SharedData:
    """Return name -> folder of real data; skips the test where that folder is absent."""

    def find(name: str) -> Path:
        path = _shared_folder() / name
        if not path.exists():
            pytest.skip(f"{_MARK}: no {path}; set RAGSTONE_SHARED_DATA to the folder of real data")
        return path

    return find


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many tests did not run for want of real data: a green line must not hide it."""
    skipped = terminalreporter.stats.get("skipped", [])
    count = sum(_MARK in str(report.longrepr) for report in skipped)
    if count:
        terminalreporter.write_sep(
            "!",
            f"{count} tests NOT RUN: no shared data in {_shared_folder()}",
            yellow=True,
            bold=True,
        )
