"""Running an application: on this machine alone, unless another host is given."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from ragstone.errors import ConfigError
from ragstone.web.security import host_in_address

HOST: Final = "127.0.0.1"
PORT: Final = 8321
"""The port if none is given."""
_EVERY: Final = ("0.0.0.0", "::")  # noqa: S104 - compared with a user's choice


@asynccontextmanager
async def running(app: web.Application, port: int = 0, host: str = HOST) -> AsyncIterator[str]:
    """Serve an application, by default on the loopback address, and yield its address.

    Port 0 means a free one. Raises `ConfigError` if the port is in use or not allowed.
    """
    runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port)
        try:
            await site.start()
        except OSError as error:
            raise _problem(error, port, host) from error
        yield f"http://{host_in_address(reachable(host)[0])}:{runner.addresses[0][1]}/"
    finally:
        await runner.cleanup()


def is_loopback(host: str) -> bool:
    """Return whether a server that listens on a host is reached from this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def reachable(host: str) -> list[str]:
    """Return the addresses of this machine on which a server listens, the best known first."""
    if host not in _EVERY:
        return [host]
    found = [_outgoing_address()]
    with contextlib.suppress(OSError):
        found += [str(one[4][0]) for one in socket.getaddrinfo(socket.gethostname(), None)]
    others = [one for one in found if one and not is_loopback(one)]
    return list(dict.fromkeys(others)) or [HOST]


def _outgoing_address() -> str:
    """Return the address from which this machine reaches others; "" if it reaches none."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.connect(("192.0.2.1", 9))  # an address for documentation; nothing is sent
        return str(one.getsockname()[0])
    return ""


def _problem(error: OSError, port: int, host: str) -> ConfigError:
    if error.errno == errno.EADDRINUSE:
        said = (
            f"port {port} is in use by another program, perhaps by a second Ragstone; choose "
            "another one with --port N, or any free one with --port 0"
        )
        return ConfigError(said, key="port", value=port)
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        said = f"cannot listen on {host!r}: this machine has no such address; try --host 0.0.0.0"
        return ConfigError(said, key="host", value=host)
    said = f"cannot listen on port {port}: {error.strerror}; choose another one with --port N"
    return ConfigError(said, key="port", value=port)


def serve(
    app: web.Application,
    port: int,
    announce: Callable[[str], object],
    *,
    browser: bool,
    host: str = HOST,
    query: str = "",
) -> None:
    """Serve until a signal ends the program.

    Args:
        app: the application.
        port: the port; 0 for a free one.
        announce: gets the address, without `query`, when pages can be asked for.
        browser: whether a browser opens the address.
        host: where to listen.
        query: the suffix of the address that the browser opens.
    """
    asyncio.run(_serve(app, port, announce, host, query if browser else None))


async def _serve(
    app: web.Application,
    port: int,
    announce: Callable[[str], object],
    host: str,
    query: str | None,
) -> None:
    async with running(app, port, host) as address:
        announce(address)
        if query is not None:
            # The program that opens it may block.
            page = (f"{address}{query}",)
            threading.Thread(target=webbrowser.open, args=page, daemon=True).start()
        await asyncio.Event().wait()
