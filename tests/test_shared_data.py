"""Where the shared real data is absent, tests say so loudly instead of passing quietly."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest


def test_a_test_without_its_data_is_skipped_with_the_reason(
    shared_data: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The reason names the folder that was looked for and the variable that can be set."""
    monkeypatch.setenv("RAGSTONE_SHARED_DATA", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match=r"SHARED DATA ABSENT: .*RAGSTONE_SHARED_DATA"):
        shared_data("nq_singlehop")
    (tmp_path / "nq_singlehop").mkdir()
    assert shared_data("nq_singlehop") == tmp_path / "nq_singlehop"


def test_the_summary_counts_the_tests_not_run() -> None:
    """Only tests skipped for want of data are counted, and without any there is no line."""
    lines: list[str] = []
    reasons = ["SHARED DATA ABSENT: no x", "another reason", "SHARED DATA ABSENT: no y"]
    skipped = [SimpleNamespace(longrepr=("file", 1, reason)) for reason in reasons]
    reporter = SimpleNamespace(
        stats={"skipped": skipped}, write_sep=lambda _sep, text, **_style: lines.append(text)
    )
    summarise = import_module("conftest").pytest_terminal_summary
    summarise(reporter)
    assert len(lines) == 1
    assert lines[0].startswith("2 tests NOT RUN")
    reporter.stats = {}
    summarise(reporter)
    assert len(lines) == 1
