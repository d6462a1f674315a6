"""Addresses on which a server listens."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest
from aiohttp import web

from ragstone.errors import ConfigError
from ragstone.web.security import refusal
from ragstone.web.server import HOST, is_loopback, reachable, running

EVERY = "0.0.0.0"  # noqa: S104 - every network, as a user writes it


def _app() -> web.Application:
    async def answer(request: web.Request) -> web.Response:
        return web.Response(text=refusal(request))

    app = web.Application()
    app.router.add_get("/", answer)
    return app


def test_a_server_of_every_network_knows_its_addresses() -> None:
    """The address of the socket is its own name; a name that it was not given is foreign."""

    async def ask() -> None:
        async with running(_app(), host=EVERY) as address, aiohttp.ClientSession() as client:
            port = address.rstrip("/").rpartition(":")[2]
            for host in (reachable(EVERY)[0], HOST):
                async with client.get(f"http://{host}:{port}/") as reply:
                    assert await reply.text() == ""
            async with client.get(address, headers={"Host": f"evil.example:{port}"}) as reply:
                assert "this one is to 'evil.example" in await reply.text()

    asyncio.run(ask())


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.0.1", True),
        ("::1", True),
        ("localhost", True),
        (EVERY, False),
        ("::", False),
        ("192.168.1.4", False),
        ("lab-pc", False),
        ("", False),
    ],
)
def test_addresses_of_this_machine_alone(host: str, expected: bool) -> None:
    """Everything else counts as reachable by others."""
    assert is_loopback(host) is expected


def test_an_address_of_another_machine_is_named() -> None:
    """The message has the address and a way out."""

    async def start() -> None:
        for host in ("192.0.2.1", "no-such-host.invalid"):
            with pytest.raises(ConfigError, match=r"no such address; try --host 0\.0\.0\.0"):
                async with running(_app(), host=host):
                    pass

    asyncio.run(start())
