"""Where the shared real data is absent, tests say so loudly instead of passing quietly."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType, SimpleNamespace

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
    summarise = _conftest().pytest_terminal_summary
    summarise(reporter)
    assert len(lines) == 1
    assert lines[0].startswith("2 tests NOT RUN")
    reporter.stats = {}
    summarise(reporter)
    assert len(lines) == 1


def _conftest() -> ModuleType:
    """Load tests/conftest.py by its path: there is more than one file of that name."""
    spec = spec_from_file_location("root_conftest", Path(__file__).parents[1] / "conftest.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
