"""Work in several threads that an interruption does not wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextvars import copy_context
from queue import Empty, SimpleQueue
from typing import Final

_LOOK_SECONDS: Final = 0.2
"""Seconds after which a waiting thread looks for signals, such as Ctrl-C."""


def run_all(works: Sequence[Callable[[], None]], name: str) -> None:
    """Run all functions at once, and return when they have ended; raise the first error at once.

    Each sees the context variables of the caller. After an error, or if the caller is interrupted,
    the other functions are left alone.

    >>> found = []
    >>> run_all([lambda: found.append(1), lambda: found.append(2)], "example")
    >>> sorted(found)
    [1, 2]
    """
    if len(works) == 1:
        works[0]()
        return
    ended: SimpleQueue[BaseException | None] = SimpleQueue()

    def run(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
            ended.put(error)
        else:
            ended.put(None)

    for work in works:
        thread = threading.Thread(target=copy_context().run, args=(run, work), name=name)
        thread.daemon = True
        thread.start()
    waiting = len(works)
    while waiting:
        try:
            error = ended.get(timeout=_LOOK_SECONDS)
        except Empty:
            continue
        if error is not None:
            raise error
        waiting -= 1


def started_thread(target: Callable[[], object], name: str) -> threading.Thread:
    """Return a thread that runs, and that the program does not wait for at its end.

    Raises `RuntimeError` if the system allows no further one; who keeps it has none to join then.
    """
    thread = threading.Thread(target=target, name=name, daemon=True)
    thread.start()
    return thread
