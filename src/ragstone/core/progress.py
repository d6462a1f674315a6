"""Progress of long steps: a live bar in a notebook or interactive session, silence in a script.

A script shows the bars with `with shown_by(LiveBar):`. The command line does so too.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

from ragstone.core import limits
from ragstone.core.screen_text import plain

T = TypeVar("T")


class Bar(Protocol):
    """A display of one step's progress."""

    def advance(self, count: int = 1) -> None:
        """Count some items as done."""

    def close(self) -> None:
        """End the step's display."""


class SilentBar:
    """A bar without display."""

    def advance(self, count: int = 1) -> None:
        """Ignore the items."""

    def close(self) -> None:
        """Do nothing."""


class LiveBar:
    """A bar with throughput and time left, on a terminal or in a notebook; nothing elsewhere."""

    def __init__(self, title: str, total: int) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(
            total=total or None,
            desc=plain(title),
            delay=limits.PROGRESS_DELAY_SECONDS,
            leave=True,
            file=sys.stderr,
            disable=not (in_notebook() or sys.stderr.isatty()),
        )

    def advance(self, count: int = 1) -> None:
        """Count some items as done."""
        self._bar.update(count)

    def close(self) -> None:
        """End the bar, leaving its last state on the screen."""
        self._bar.close()


def in_notebook() -> bool:
    """Return whether the code runs in a Jupyter kernel."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and "IPKernelApp" in shell.config


def _default_bar(title: str, total: int) -> Bar:
    # Python and IPython set ps1 in interactive sessions alone.
    interactive = in_notebook() or hasattr(sys, "ps1")
    return LiveBar(title, total) if interactive else SilentBar()


_open_bar: ContextVar[Callable[[str, int], Bar]] = ContextVar("open_bar", default=_default_bar)


@contextmanager
def shown_by(open_bar: Callable[[str, int], Bar]) -> Iterator[None]:
    """Show progress within the block with the bars that `open_bar(title, total)` returns."""
    token = _open_bar.set(open_bar)
    try:
        yield
    finally:
        _open_bar.reset(token)


def progress(title: str, total: int) -> AbstractContextManager[Bar]:
    """Return the bar of a step with `total` items; the end of a `with` block closes it.

    A total of 0 is a number that is not known.
    """
    return closing(_open_bar.get()(title, total))


def track(items: Iterable[T], title: str, total: int) -> Iterator[T]:
    """Yield the items; each counts as done when the next one is requested."""
    with progress(title, total) as bar:
        for item in items:
            yield item
            bar.advance()
