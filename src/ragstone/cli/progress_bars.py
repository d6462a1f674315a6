"""Progress in the terminal: a live bar, or plain lines if standard error is not a terminal."""

from __future__ import annotations

import sys
import time

from ragstone.cli.screen import say
from ragstone.core import limits
from ragstone.core.progress import Bar, LiveBar
from ragstone.core.screen_text import plain


class PlainBar:
    """A bar that prints a line now and then, for log files."""

    def __init__(self, title: str, total: int) -> None:
        self._title, self._total, self._done = plain(title), total, 0
        self._started = time.monotonic()
        self._next_line = self._started + limits.PROGRESS_DELAY_SECONDS

    def advance(self, count: int = 1) -> None:
        """Count some items as done, and print a line if the last one is old enough."""
        self._done += count
        now = time.monotonic()
        if now >= self._next_line:
            self._next_line = now + limits.PROGRESS_LINE_SECONDS
            self._print(now - self._started)

    def close(self) -> None:
        """Print a last line if the step was long enough to have others."""
        passed = time.monotonic() - self._started
        if passed >= limits.PROGRESS_DELAY_SECONDS:
            self._print(passed)

    def _print(self, passed: float) -> None:
        rate = self._done / passed
        if not self._total:  # The number of documents of a stream is not known.
            say(f"{self._title}: {self._done:,}, {rate:,.1f} per second", err=True)
            return
        left = (self._total - self._done) / rate if rate else float("inf")
        say(
            f"{self._title}: {self._done:,} of {self._total:,}, {rate:,.1f} per second, "
            f"{left:,.0f} s left",
            err=True,
        )


def open_bar(title: str, total: int) -> Bar:
    """Return a live bar for a terminal, or else a plain one."""
    return LiveBar(title, total) if sys.stderr.isatty() else PlainBar(title, total)
