"""The page of labels: which item, its state, and what a browser does not get."""

from __future__ import annotations

import asyncio
import re
from importlib import resources
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.app import make_app
from ragstone.annotation.database import Person
from ragstone.annotation.events import Event
from ragstone.annotation.pages.label import LABEL, LABEL_ITEM
from ragstone.annotation.site import Site, Visit
from ragstone.web.answers import json_bytes
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery
from ragstone.web.server import running

SECRET = {
    "answers": [
        {"system": "bm25-secret", "answer": "At six."},
        {"system": "dense-secret", "answer": None, "reason": "dense-secret timed out"},
    ],
    "known": {"faithfulness": "known-secret"},
    "suggested": {"faithfulness": "suggested-secret"},
}


def document(site: Site, page: Any = LABEL, person: str = "ann", **values: str) -> Any:
    """Return the plain data of a page."""
    query = PageQuery(page.path, {}, values)
    return page.make(site, Visit(Person(person, "annotator"), query))


def test_items_in_hand_are_left_out(tmp_path: Path) -> None:
    """A browser gets the next item that it does not have."""
    with made_site(tmp_path, 3, order="file") as (site, give):
        assert document(site)["item"].item_id == "q0"
        assert document(site, LABEL_ITEM, held="q0\nq1")["item"].item_id == "q2"
        assert document(site, LABEL_ITEM, held="q0\nq1\nq2")["item"] is None
        give("ann", "q0", "yes")
        found = document(site)
        assert (found["item"].item_id, found["place"]["done"], found["place"]["total"]) == (
            "q1", 1, 3
        )  # fmt: skip
        assert document(site, item="q0")["item"].asked[0].given == "yes"


def test_states_instead_of_an_item(tmp_path: Path) -> None:
    """Nothing is left, there are no items, the item was withdrawn or does not exist."""
    with made_site(tmp_path / "empty", 0) as (site, _):
        assert document(site)["state"].said == "This project has no items."
    with made_site(tmp_path, 1) as (site, give):
        give("ann", "q0", "yes")
        assert document(site)["state"].said == "Nothing is left for you. Thank you."
        site.database.append("owner", [Event("w", "withdraw", "q0", value="a duplicate")])
        state = document(site, item="q0")["state"]
        assert (state.said, state.then) == ("The item 'q0' was withdrawn.", "a duplicate")
        with pytest.raises(PageError, match="There is no item 'q7'"):
            document(site, item="q7")


def test_a_browser_gets_neither_systems_nor_known_labels_nor_suggestions(tmp_path: Path) -> None:
    """Nor the reason of a failure, which may name a system."""
    with made_site(tmp_path, [{**plain_items(1)[0], **SECRET}], task="ratings") as (site, _):
        found = document(site)
        assert found["item"].answers[0].part.startswith("~")
        assert b"secret" not in json_bytes(found)


def test_a_quick_item_is_stored_by_its_last_key(tmp_path: Path) -> None:
    """An item with a text or an optional question is stored by Enter."""
    with made_site(tmp_path / "a", 1) as (site, _):
        assert document(site)["item"].is_quick
    with made_site(tmp_path / "b", 1, task="validation") as (site, _):
        assert not document(site)["item"].is_quick


def test_events_are_kept_with_parts_and_answered_with_tokens(tmp_path: Path) -> None:
    """The answer has no name of a system; events of another person are not taken."""

    async def ask(site: Site) -> None:
        token = document(site, person="owner")["item"].asked[0].part
        event = {"client_id": "c", "kind": "label", "item_id": "q0", "field": "faithfulness"}
        posted = {**event, "part": token, "value": 3}
        jar = aiohttp.CookieJar(unsafe=True)
        async with (
            running(make_app(site)) as address,
            aiohttp.ClientSession(cookie_jar=jar) as session,
        ):
            await session.get(f"{address}?key={site.key}")
            async with session.post(f"{address}events?person=bob", json=posted) as reply:
                assert reply.status == 409
            async with session.post(f"{address}events?person=owner", json=posted) as reply:
                answer = await reply.json()
        assert answer["confirmed"] == [{"client_id": "c", "sequence": 1}]
        assert [one["part"] for one in answer["current"]["q0"]] == [token]
        assert [one.part.endswith("-secret") for one in site.database.labels()] == [True]

    with made_site(tmp_path, [{**plain_items(1)[0], **SECRET}], task="ratings") as (site, _):
        asyncio.run(ask(site))


LINKED = re.compile(r'(?:src|href)="/assets/([a-z_]+\.(js|css))')


@pytest.mark.parametrize(
    ("task", "scripts", "settings"),
    [
        ("support", 28_000, {}),
        ("support", 30_000, {"suggestions": "after"}),
        ("nuggets", 36_000, {}),
        ("conversation", 18_500, {}),
    ],
)
def test_scripts_and_styles_are_small(
    task: str, scripts: int, settings: dict[str, Any], tmp_path: Path
) -> None:
    """All of a page, before it is compressed for the way; compressed, scripts are under 16 kB."""

    async def ask(site: Site) -> None:
        async with (
            running(make_app(site)) as address,
            aiohttp.ClientSession(auto_decompress=False) as session,
        ):
            plain = {"Accept-Encoding": "identity"}
            async with session.get(f"{address}?key={site.key}&item=q0", headers=plain) as reply:
                linked = set(LINKED.findall(await reply.text()))
            sizes: dict[str, int] = {"js": 0, "css": 0}
            sent = dict(sizes)
            for name, kind in linked:
                sizes[kind] += len(site_assets(name))
                async with session.get(f"{address}assets/{name}") as reply:
                    assert reply.headers["Content-Encoding"] in {"gzip", "deflate"}
                    sent[kind] += len(await reply.read())
            assert 10_000 < sizes["js"] <= scripts
            assert sizes["css"] <= 40_000
            assert sent["js"] <= 16_000

    with made_site(tmp_path, 1, task=task, **settings) as (site, _):
        asyncio.run(ask(site))


def site_assets(name: str) -> bytes:
    """Return a script or a style as it is in the package."""
    found = [
        resources.files(f"ragstone.{one}") / "templates" / name for one in ("annotation", "web")
    ]
    return next(one for one in found if one.is_file()).read_bytes()
