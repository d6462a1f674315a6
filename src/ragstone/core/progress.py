"""Progress of long steps: the library reports, whoever runs it decides what is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeVar

T = TypeVar("T")


class Bar(Protocol):
    """Something that shows one step's progress."""

    def advance(self, count: int = 1) -> None:
        """Count some items as done."""
        ...

    def close(self) -> None:
        """End the step's display."""
        ...


class SilentBar:
    """Shows nothing: the default of the library."""

    def advance(self, count: int = 1) -> None:
        """Count nothing."""

    def close(self) -> None:
        """Do nothing."""


_open_bar: ContextVar[Callable[[str, int], Bar]] = ContextVar(
    "open_bar", default=lambda _title, _total: SilentBar()
)


@contextmanager
def shown_by(open_bar: Callable[[str, int], Bar]) -> Iterator[None]:
    """Within the block, show progress with what `open_bar(title, total)` returns."""
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
    """Yield the items, counting each as done when the next is asked for."""
    with progress(title, total) as bar:
        for item in items:
            yield item
            bar.advance()
