"""The server: who may ask, plain data of pages, errors, and a port in use."""

from __future__ import annotations

import asyncio
from pathlib import Path

import aiohttp
import pytest
from tests.fakes.made_results import made_results

from ragstone.errors import ConfigError
from ragstone.view.app import make_app
from ragstone.view.pages import PAGES
from ragstone.view.security import POLICY
from ragstone.view.server import running
from ragstone.view.store_view import StoreView


def test_requests_of_other_addresses_are_refused(tmp_path: Path) -> None:
    """A foreign Host or Origin gets 403; the answer of a page has the policy."""
    made_results(tmp_path / "store")

    async def ask() -> None:
        app = make_app(StoreView(tmp_path / "store"), PAGES)
        async with running(app) as address, aiohttp.ClientSession() as session:
            page = f"{address}experiments"
            async with session.get(page) as reply:
                assert reply.status == 200
                assert reply.headers["Content-Security-Policy"] == POLICY
            async with session.get(page, headers={"Host": "evil.example"}) as reply:
                assert reply.status == 403
            async with session.post(page, headers={"Origin": "http://evil.example"}) as reply:
                assert reply.status == 403
            async with session.get(f"{page}.json") as reply:
                assert [one["name"] for one in (await reply.json())["experiments"]] == ["made"]
            async with session.get(f"{page}.json?state=nix") as reply:
                assert reply.status == 404
                assert "'nix'" in (await reply.json())["error"]["said"]

    asyncio.run(ask())


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    """The message has the port and the way out."""
    made_results(tmp_path / "store")

    async def twice() -> None:
        async with running(make_app(StoreView(tmp_path / "store"), PAGES)) as address:
            port = int(address.rstrip("/").rpartition(":")[2])
            with pytest.raises(ConfigError, match=f"port {port} is in use.*--port 0"):
                async with running(make_app(StoreView(tmp_path / "store"), PAGES), port):
                    pass

    asyncio.run(twice())
