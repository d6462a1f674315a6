"""Times as text."""

from __future__ import annotations

from ragstone.core.times import utc_text


def test_a_time_is_text_in_utc() -> None:
    """The offset is written, and fractions of a second only if they are wanted."""
    assert utc_text(1_764_000_000.5) == "2025-11-24T16:00:00+00:00"
    assert utc_text(1_764_000_000.5, timespec="milliseconds") == "2025-11-24T16:00:00.500+00:00"


def test_the_current_time_is_the_default() -> None:
    """Without a time, the current one is returned."""
    assert utc_text(0.0) < utc_text()
