"""The live pages of a store, served in a thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ragstone.view.app import make_app
from ragstone.view.page import ViewAction
from ragstone.view.pages import ACTIONS, PAGES
from ragstone.view.store_view import StoreView
from ragstone.web.server import running


@contextmanager
def served(
    view: StoreView, actions: Sequence[ViewAction] = ACTIONS, port: int = 0
) -> Iterator[str]:
    """Serve all pages of a store, and yield their address, without a slash at its end."""
    ready, loop, found = threading.Event(), [], []

    async def serve() -> None:
        stop = asyncio.Event()
        loop.append((asyncio.get_running_loop(), stop))
        async with running(make_app(view, PAGES, tuple(actions)), port) as address:
            found.append(address.rstrip("/"))
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield found[0]
    finally:
        running_loop, stop = loop[0]
        running_loop.call_soon_threadsafe(stop.set)
        thread.join(10)
