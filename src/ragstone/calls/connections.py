"""Connections that are kept open between calls, and dropped if a server sent more than replies.

`TimedBody` notes when a request was sent.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
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
            began = asyncio.get_running_loop().time()
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol not in self._known:
                self._known.add(protocol)
                if isinstance(req.body, TimedBody):
                    req.body.connecting += asyncio.get_running_loop().time() - began
                return connection
            # Waiting bytes are in aiohttp's buffer, or still in the socket.
            if not protocol.should_close and not _readable(connection.transport):  # type: ignore[union-attr]
                return connection
            connection.close()


class TimedBody(aiohttp.BytesPayload):
    """The body of a request, which notes when it is sent, on the event loop's clock."""

    def __init__(self, value: bytes, began: float) -> None:
        super().__init__(value)
        self._began = began
        self._sent = 0.0
        self.connecting = 0.0
        """Seconds in which a new connection was opened."""

    @property
    def queued(self) -> float | None:
        """Seconds from `began` to the sending, without those of a new connection."""
        return max(0.0, self._sent - self._began - self.connecting) if self._sent else None

    def write_with_length(
        self, writer: Any, content_length: int | None
    ) -> Coroutine[Any, Any, None]:
        """Hand the body to the socket."""
        self._sent = asyncio.get_running_loop().time()
        return super().write_with_length(writer, content_length)


def _readable(transport: Any) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(transport.get_extra_info("socket"), selectors.EVENT_READ)
        return bool(selector.select(0))
