"""The server: who may ask, plain data of pages, errors, and a port in use."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from pathlib import Path

import aiohttp
import pytest
from tests.fakes.made_results import made_results

from ragstone.errors import ConfigError
from ragstone.view.app import make_app
from ragstone.view.page import ActionAnswer, ViewAction
from ragstone.view.pages import PAGES
from ragstone.view.store_view import StoreView
from ragstone.web import limits
from ragstone.web.security import POLICY
from ragstone.web.server import running


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


def test_limits_of_a_page_and_of_a_form(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A list has pages; a long value and a large form are errors that name the limit."""
    monkeypatch.setattr(limits, "VIEW_ROWS", 2)
    monkeypatch.setattr(limits, "VIEW_PARAMETER_CHARACTERS", 9)
    monkeypatch.setattr(limits, "VIEW_POST_BYTES", 100)
    for name in ("a", "b", "c"):
        made_results(tmp_path / "store", name=name)

    action = ViewAction("/act", lambda _view, _values: pytest.fail("it must not run"))

    async def ask() -> None:
        app = make_app(StoreView(tmp_path / "store"), PAGES, [action])
        async with running(app) as address, aiohttp.ClientSession() as session:
            page = f"{address}experiments.json"
            async with session.get(page) as reply:
                found = await reply.json()
                assert (len(found["experiments"]), found["total"]) == (2, 3)
            async with session.post(f"{address}act", data={"text": 200 * "x"}) as reply:
                assert reply.status == 413
                assert "larger than 100 bytes" in await reply.text()
            async with session.get(f"{page}?q={10 * 'x'}") as reply:
                assert reply.status == 400
                assert "at most 9 characters" in (await reply.json())["error"]["then"]

    asyncio.run(ask())


def test_pages_do_not_wait_for_buttons(tmp_path: Path) -> None:
    """While buttons work, a page and a file are made."""
    made_results(tmp_path / "store")
    go = threading.Event()

    def wait(_view: StoreView, _values: Mapping[str, str]) -> ActionAnswer:
        assert go.wait(30)
        return ActionAnswer(document="done")

    actions = [
        ViewAction("/wait", wait),
        ViewAction("/file", lambda _view, values: ActionAnswer(document=dict(values)), reads=True),
    ]

    async def ask() -> None:
        app = make_app(StoreView(tmp_path / "store"), PAGES, actions)
        async with running(app) as address, aiohttp.ClientSession() as session:
            async with session.get(f"{address}queries?experiment=made") as reply:
                token = (await reply.text()).split('name="token" value="')[1].split('"')[0]
            form = {"token": token, "basis": ""}
            waiting = [
                asyncio.ensure_future(session.post(f"{address}wait", data=form)) for _ in range(3)
            ]
            async with session.get(f"{address}experiments") as reply:
                assert reply.status == 200
            async with session.get(f"{address}file?a=1") as reply:
                assert await reply.json() == {"a": "1"}
            assert not any(one.done() for one in waiting)
            go.set()
            assert [await (await one).json() for one in waiting] == ["done"] * 3

    asyncio.run(ask())


def test_results_used_last_stay_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal results are the same object until others need the room."""
    for name in ("a", "b"):
        made_results(tmp_path / "store", name=name)
    view = StoreView(tmp_path / "store")
    first = view.results("a")
    assert len(first.trials) == 8
    assert view.results("b")
    assert view.results("a") is first
    monkeypatch.setattr(limits, "VIEW_HELD_BYTES", 1)
    view.results("b")
    assert view.results("a") is not first


def test_a_record_is_verified_and_its_own_headline_is_listed(tmp_path: Path) -> None:
    """A changed number is damage; a record of another place and one half written are too."""
    for name in ("good", "changed", "half", "moved", "newer"):
        made_results(tmp_path / "store", name=name)
    folder = tmp_path / "store" / "experiments"
    changed = (folder / "changed.json").read_text().replace('"queries": 12', '"queries": 13')
    (folder / "changed.json").write_text(changed)
    half = (folder / "half.json").read_bytes()
    (folder / "half.json").write_bytes(half[: len(half) // 2])
    (folder / "moved.json").rename(folder / "elsewhere.json")
    newer = (folder / "newer.json").read_text().replace('"format": 3', '"format": 99')
    (folder / "newer.json").write_text(newer)
    found = {one.name: one for one in StoreView(tmp_path / "store").experiments()}
    assert "differs from its checksum" in found["changed"].problem
    assert "differs from its checksum" in found["elsewhere"].problem
    assert "damaged" in found["half"].problem
    assert "newer Ragstone" in found["newer"].problem
    assert found["good"].headline == StoreView(tmp_path / "store").record("good").headline
    assert [one.is_readable for one in found.values() if one.name != "good"] == 4 * [False]


def test_what_was_made_stays_until_its_state_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last used ones are kept."""
    monkeypatch.setattr(limits, "VIEW_HELD_TABLES", 2)
    (tmp_path / "store").mkdir()
    view = StoreView(tmp_path / "store")
    made: list[list[int]] = [
        view.kept(*of, list) for of in (("a", 1), ("a", 1), ("a", 2), ("b", 1), ("c", 1))
    ]
    assert made[0] is made[1]
    assert made[1] is not made[2]
    assert view.kept("b", 1, list) is made[3]
    assert view.kept("a", 2, list) is not made[2]


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
