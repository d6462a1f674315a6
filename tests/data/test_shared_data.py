"""Tests report that the shared real data is absent, instead of passing without a message."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

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
