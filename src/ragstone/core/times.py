"""Times in files and messages: UTC, in the format of ISO 8601."""

from __future__ import annotations

import datetime as dt


def utc_text(timestamp: float | None = None, *, timespec: str = "seconds") -> str:
    """Return a time in seconds since the epoch as text in UTC; by default, the current time.

    >>> utc_text(0.0)
    '1970-01-01T00:00:00+00:00'
    """
    now = dt.datetime.now(dt.UTC)
    moment = now if timestamp is None else dt.datetime.fromtimestamp(timestamp, dt.UTC)
    return moment.isoformat(timespec=timespec)
