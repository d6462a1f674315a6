"""Connections that are kept open between calls, and dropped if a server sent more than replies.

`SendTimes` notes when a request was sent.
"""

from __future__ import annotations

import asyncio
import selectors
from dataclasses import dataclass
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


@dataclass(slots=True)
class SendTimes:
    """The moments of one request on the event loop's clock."""

    began: float
    connecting: float = 0.0
    """Seconds in which a new connection was opened."""
    sent: float = 0.0
    """When the body was handed to the socket."""

    @property
    def queued(self) -> float | None:
        """Seconds from the start to the sending, without those of a new connection."""
        return max(0.0, self.sent - self.began - self.connecting) if self.sent else None


def tracing() -> aiohttp.TraceConfig:
    """Return the hooks that fill the `SendTimes` given as `trace_request_ctx`."""
    trace = aiohttp.TraceConfig(_times)  # type: ignore[arg-type]
    trace.on_connection_create_start.append(_connecting)
    trace.on_connection_create_end.append(_connected)
    trace.on_request_chunk_sent.append(_sent)
    return trace


def _times(trace_request_ctx: SendTimes | None) -> SendTimes:
    return trace_request_ctx or SendTimes(0.0)


async def _connecting(_session: object, times: Any, _details: object) -> None:
    times.connecting -= asyncio.get_running_loop().time()


async def _connected(_session: object, times: Any, _details: object) -> None:
    times.connecting += asyncio.get_running_loop().time()


async def _sent(_session: object, times: Any, _details: object) -> None:
    times.sent = asyncio.get_running_loop().time()


def _readable(transport: Any) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(transport.get_extra_info("socket"), selectors.EVENT_READ)
        return bool(selector.select(0))
