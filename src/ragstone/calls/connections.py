"""Connections that are kept open between calls, and dropped if a server sent more than replies."""

from __future__ import annotations

import selectors
from typing import Any
from weakref import WeakSet

import aiohttp


class CheckedConnector(aiohttp.TCPConnector):
    """Drops a kept-alive connection on which bytes wait before a request is sent.

    The bytes are a second response to an earlier request. aiohttp would return them as the response
    to the next request. A connection that the server has closed is dropped as well.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._known: WeakSet[Any] = WeakSet()

    async def connect(self, req: Any, traces: Any, timeout: Any) -> Any:  # noqa: ASYNC109 - of aiohttp
        """Return a new connection, or a kept one without waiting bytes."""
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol not in self._known:
                self._known.add(protocol)
                return connection
            # Waiting bytes are in aiohttp's buffer, or still in the socket.
            if not protocol.should_close and not _readable(connection.transport):  # type: ignore[union-attr]
                return connection
            connection.close()


def _readable(transport: Any) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(transport.get_extra_info("socket"), selectors.EVENT_READ)
        return bool(selector.select(0))
