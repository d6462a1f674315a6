"""Bytes over HTTP: responses to the real client, and requests to the real local servers."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, Final

from .frames import ENDLESS

_MOST: Final = 100_000_000
"""Bytes of a response without end: a client that reads further would read for ever."""
_PATIENCE: Final = 0.4
"""Seconds without a byte after which a server waits for the rest of a request."""
_ADDRESS: Final = b"127.0.0.1:8321"
"""The address of a server in a request; it becomes the real one."""
_HEAD: Final = b"GET /alive HTTP/1.1\r\nHost: 127.0.0.1:8321\r\nConnection: close\r\n\r\n"


class Server:
    """A server of this process that replies with the bytes that it is given."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.content = b""
        made = asyncio.start_server(self._reply, "127.0.0.1", 0)
        self.server = self.loop.run_until_complete(made)
        self.port = self.server.sockets[0].getsockname()[1]

    async def _reply(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            size = next(
                int(line.partition(b":")[2])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            await reader.readexactly(size)
            before, endless, _ = self.content.partition(ENDLESS.encode())
            writer.write(before if endless else self.content)
            await writer.drain()
            if endless:
                await self._without_end(writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    async def _without_end(self, writer: asyncio.StreamWriter) -> None:
        sent, block = 0, f"{ENDLESS}: x\r\n".encode() * 5000
        while sent < _MOST:
            writer.write(block)
            await writer.drain()
            sent += len(block)
        raise AssertionError("the client reads headers without end")

    def ask(self, content: bytes, protocol: str) -> Any:
        """Return the outcome of one call."""
        from ragstone.calls.http import ChatClient
        from ragstone.calls.rate_control import ConcurrencyLimiter
        from ragstone.calls.types import Endpoint, ServerAddresses, chat

        url = f"http://127.0.0.1:{self.port}/v1"
        endpoint = Endpoint("m", (url,), protocol=protocol)
        self.content = content
        raised: list[Any] = []
        self.loop.set_exception_handler(lambda _, context: raised.append(context))

        async def attempt() -> Any:
            client = ChatClient(endpoint, ServerAddresses((url,)), ConcurrencyLimiter(4))
            try:
                return await asyncio.wait_for(client.attempt(chat("Where?", max_tokens=9)), 30)
            finally:
                await client.close()

        try:
            return self.loop.run_until_complete(attempt())
        finally:
            _check(raised)


@cache
def server() -> Server:
    """Return the server of this process."""
    return Server()


def _check(raised: list[Any]) -> None:
    """Raise what no task of a loop has taken, such as an exception of a connection."""
    for context in raised:
        raise RuntimeError(f"not handled: {context.get('message')}: {context.get('exception')!r}")


class LocalServers:
    """The server of pages with its receiver of traces, and the fake model server."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.raised: list[Any] = []
        self.loop.set_exception_handler(lambda _, context: self.raised.append(context))
        self.folder = tempfile.TemporaryDirectory(prefix="fuzz-store")
        self.ports = self.loop.run_until_complete(self._start(Path(self.folder.name)))

    async def _start(self, store: Path) -> tuple[int, int]:
        from aiohttp import web

        from ragstone.data.readers.traces.received import received_in
        from ragstone.testing.fake_model_server import FakeModelServer
        from ragstone.view.app import make_app
        from ragstone.view.otlp import OtlpReceiver
        from ragstone.view.pages import ACTIONS, PAGES
        from ragstone.view.store_view import StoreView

        app = make_app(StoreView(store), PAGES, ACTIONS)
        OtlpReceiver(received_in(store)).add_to(app)
        self.runner = web.AppRunner(app, access_log=None, handle_signals=False)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        model = FakeModelServer()
        self.model = await model.listen()
        return self.runner.addresses[0][1], model.port

    def ask(self, content: bytes, *, model: bool) -> int:
        """Return the status of the response to a request, or 0 if the connection is closed."""
        port = self.ports[model]
        response = self.loop.run_until_complete(asyncio.wait_for(_exchange(port, content), 30))
        after = self.loop.run_until_complete(asyncio.wait_for(_exchange(self.ports[0], _HEAD), 30))
        raised, self.raised[:] = list(self.raised), []
        _check(raised)
        if not after.startswith(b"HTTP/1.1 200"):
            raise RuntimeError(f"the server does not answer any more: {after[:200]!r}")
        if not response:
            return 0
        status = int(response.split(b" ", 2)[1])
        if status >= 500 and status != 503:
            raise RuntimeError(f"the server has an error: {response[:300]!r}")
        return status


async def _exchange(port: int, content: bytes) -> bytes:
    """Return the response to a request; the sender ends it if the server waits for more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    found = b""
    with contextlib.suppress(ConnectionError):
        writer.write(content.replace(_ADDRESS, f"127.0.0.1:{port}".encode()))
        await asyncio.wait_for(writer.drain(), 5)
    with contextlib.suppress(ConnectionError, TimeoutError):
        while part := await asyncio.wait_for(reader.read(2**20), _PATIENCE):
            found = (found + part)[: 2**16]
    with contextlib.suppress(OSError):
        writer.write_eof()
    if not found:
        with contextlib.suppress(ConnectionError):
            found = await reader.read(2**16)
    writer.close()
    with contextlib.suppress(ConnectionError):
        await writer.wait_closed()
    return found


@cache
def local_servers() -> LocalServers:
    """Return the servers of this process."""
    return LocalServers()
