"""An annotation project, served in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ragstone.annotation.app import make_app
from ragstone.annotation.site import Site
from ragstone.web.server import running


@contextmanager
def served_site(site: Site, port: int = 0) -> Iterator[str]:
    """Serve a project, and yield the address that opens a session."""
    ready, found = threading.Event(), list[Any]()

    async def serve() -> None:
        stop = asyncio.Event()
        async with running(make_app(site), port) as address:
            found.extend([address, asyncio.get_running_loop(), stop])
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield f"{found[0]}?key={site.key}"
    finally:
        found[1].call_soon_threadsafe(found[2].set)
        thread.join(10)


def port_of(address: str) -> int:
    """Return the port of a served project."""
    return int(address.split(":")[2].partition("/")[0])
