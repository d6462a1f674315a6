"""Progress of long steps: the library reports it, the caller chooses the display."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Bar(Protocol):
    """A display of one step's progress."""

    def advance(self, count: int = 1) -> None:
        """Count some items as done."""
        ...

    def close(self) -> None:
        """End the step's display."""
        ...


class SilentBar:
    """A bar without display, which is the default."""

    def advance(self, count: int = 1) -> None:
        """Ignore the items."""

    def close(self) -> None:
        """Do nothing."""


_open_bar: ContextVar[Callable[[str, int], Bar]] = ContextVar(
    "open_bar", default=lambda _title, _total: SilentBar()
)


@contextmanager
def shown_by(open_bar: Callable[[str, int], Bar]) -> Iterator[None]:
    """Show progress within the block with the bars that `open_bar(title, total)` returns."""
    token = _open_bar.set(open_bar)
    try:
        yield
    finally:
        _open_bar.reset(token)


@contextmanager
def progress(title: str, total: int) -> Iterator[Bar]:
    """Open a bar for a step of `total` items."""
    bar = _open_bar.get()(title, total)
    try:
        yield bar
    finally:
        bar.close()


def track(items: Iterable[T], title: str, total: int) -> Iterator[T]:
    """Yield the items; each counts as done when the next one is requested."""
    with progress(title, total) as bar:
        for item in items:
            yield item
            bar.advance()
