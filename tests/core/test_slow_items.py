"""A component that does not return is told of, with the item and the way out."""

from __future__ import annotations

import logging
import threading

import pytest

from ragstone.core import limits
from ragstone.core.slow_items import told_if_slow
from ragstone.types import Query


class Heard(logging.Handler):
    """Notes a warning, and lets the waiting component go on."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self.heard = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        """Note the line."""
        self.lines.append(record.getMessage())
        self.heard.set()


def test_a_component_that_hangs_is_told_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The warning names the component, the item, its query and the way out."""
    monkeypatch.setattr(limits, "OWN_CODE_SECONDS", 0.01)
    handler, logger = Heard(), logging.getLogger("ragstone.core.slow_items")
    logger.addHandler(handler)
    try:
        with told_if_slow("Mine", [Query("q1", "a"), Query("q2", "b")]) as returned:
            returned.count = 1
            assert handler.heard.wait(60)
    finally:
        logger.removeHandler(handler)

    assert len(handler.lines) == 1
    assert "Mine has returned nothing for over 0.01 s, at item 2 of 2 (query 'q2')" in str(
        handler.lines
    )
    assert "stop with Ctrl+C" in handler.lines[0]
    assert threading.active_count() == len(
        [t for t in threading.enumerate() if "Mine" not in t.name]
    )


def test_a_quick_component_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    """No warning, and no thread is left."""
    with told_if_slow("Mine", []):
        pass
    assert not caplog.records
    assert not [one for one in threading.enumerate() if one.name == "watch Mine"]
