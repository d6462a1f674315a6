"""Running the application on this machine alone."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import signal
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from ragstone.errors import ConfigError

HOST: Final = "127.0.0.1"
PORT: Final = 8321
"""The port if none is given."""


@asynccontextmanager
async def running(app: web.Application, port: int = 0) -> AsyncIterator[str]:
    """Serve an application on the loopback address, and yield its address.

    Port 0 stands for a free one. Raises `ConfigError` if the port is in use or not allowed.
    """
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, HOST, port)
        try:
            await site.start()
        except OSError as error:
            raise ConfigError(_port_problem(error, port), key="port", value=port) from error
        yield f"http://{HOST}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def _port_problem(error: OSError, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} is in use by another program, perhaps by another `ragstone view`; choose "
            "another one with --port N, or any free one with --port 0"
        )
    return f"cannot listen on port {port}: {error.strerror}; choose another one with --port N"


def serve(
    app: web.Application, port: int, announce: Callable[[str], None], *, browser: bool
) -> None:
    """Serve until Ctrl+C; `announce` gets the address when pages can be asked for."""
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(_serve(app, port, announce, browser=browser))


async def _serve(
    app: web.Application, port: int, announce: Callable[[str], None], *, browser: bool
) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # not on Windows
            loop.add_signal_handler(name, stopped.set)
    async with running(app, port) as address:
        announce(address)
        if browser:
            # The program that opens it may block.
            threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        await stopped.wait()
