"""A server on a port of this machine, run by a thread of its own: a context manager."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Final, Self

from aiohttp import web

from ragstone.core.own_address import foreign_request, own_hosts

_READY_SECONDS: Final = 10.0


@dataclass(kw_only=True)
class ThreadedServer:
    """The base of the fake servers, which answer requests in `handle`.

    Args:
        port: the port; 0 chooses a free one.
    """

    port: int = 0
    _ready: threading.Event = field(default_factory=threading.Event, repr=False)

    def __enter__(self) -> Self:
        """Start to serve, in a thread."""
        name = type(self).__name__
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()
        if not self._ready.wait(_READY_SECONDS):
            raise RuntimeError(f"{name} did not start")
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, and drop the requests in flight."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner() as runner:
            self._loop = runner.get_loop()
            listening = runner.run(self.listen())
            self._ready.set()
            self._loop.run_forever()
            runner.run(listening.cleanup())

    async def listen(self) -> web.ServerRunner:
        """Open the port in the running event loop; `cleanup()` of the result closes it."""
        server = web.Server(self._guarded, handler_cancellation=True, access_log=None)
        runner = web.ServerRunner(server, shutdown_timeout=0.01)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", self.port, backlog=2048).start()
        self.port = runner.addresses[0][1]
        self._own = own_hosts(self.port)
        return runner

    async def _guarded(self, request: web.BaseRequest) -> web.StreamResponse:
        """Refuse the requests of pages of other addresses."""
        given = request.headers
        why = foreign_request(request.method, given.get("Host"), given.get("Origin"), self._own)
        return web.Response(text=why, status=403) if why else await self.handle(request)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the response to a request."""
        raise NotImplementedError
