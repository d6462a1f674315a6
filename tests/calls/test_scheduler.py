"""The event loop behind `Calls`."""

import asyncio
import threading
import time

import pytest

from ragstone.calls.scheduler import Engine, RetryPolicy


def test_threads_that_start_at_once_share_one_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two batches of two threads never run in two loops: a client is bound to one."""
    made: list[asyncio.AbstractEventLoop] = []
    make = asyncio.new_event_loop

    def slow() -> asyncio.AbstractEventLoop:
        time.sleep(0.05)
        made.append(make())
        return made[-1]

    monkeypatch.setattr(asyncio, "new_event_loop", slow)
    engine = Engine(RetryPolicy())
    loops: list[asyncio.AbstractEventLoop] = []
    threads = [
        threading.Thread(target=lambda: loops.append(engine._running_loop())) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    engine.close([])
    assert len(made) == 1
    assert loops == made * 4
