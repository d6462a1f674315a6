"""An application, served in a thread of the test."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from ragstone.web.server import running


@contextmanager
def served_app(app: web.Application, port: int = 0) -> Iterator[str]:
    """Serve an application, and yield its address, without a slash at its end."""
    ready, found = threading.Event(), list[Any]()

    async def serve() -> None:
        stop = asyncio.Event()
        async with running(app, port) as address:
            found.extend([address.rstrip("/"), asyncio.get_running_loop(), stop])
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        yield found[0]
    finally:
        found[1].call_soon_threadsafe(found[2].set)
        thread.join(10)
