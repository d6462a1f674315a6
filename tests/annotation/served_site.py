"""A small project, and its application with pages of every role."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import orjson

from ragstone.annotation.app import make_app
from ragstone.annotation.database import Database
from ragstone.annotation.pages.people import PEOPLE_PAGE
from ragstone.annotation.people import ROLES, PersonRole
from ragstone.annotation.project import Project
from ragstone.annotation.site import Site, SitePage
from ragstone.web.errors import StateText
from ragstone.web.server import running


def _page(path: str, title: str, roles: Sequence[PersonRole] = ROLES) -> SitePage:
    document = {"state": StateText(f"The page {title}"), "sign_in": ""}
    make = lambda _site, _visit: document  # noqa: E731 - one line
    return SitePage(path, title, "site_error.html", make, title, tuple(roles))


TASK = _page("/task", "Task")
REVIEW = _page("/review", "Review", ("reviewer", "owner"))
RESULTS = _page("/results", "Results", ("owner",))
TEST_PAGES = (TASK, REVIEW, RESULTS, PEOPLE_PAGE)


def made_project(folder: Path, name: str = "ferry", items: int = 3) -> Project:
    """Write a project for support labels with the items q1, q2, ..., and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "project.yaml").write_text(f"name: {name}\ntask: support\n", encoding="utf-8")
    with (folder / "items.jsonl").open("wb") as file:
        for number in range(1, items + 1):
            passage = {"passage_id": f"p{number}", "text": "It sails at six."}
            row = {"item_id": f"q{number}", "query": "When does it sail?", "passages": [passage]}
            file.write(orjson.dumps(row) + b"\n")
    return Project.open(folder)


def made_site(folder: Path, **settings: Any) -> Site:
    """Return the site of a new project, or of one that `made_project` wrote there."""
    project = made_project(folder)
    return Site(project, Database.of(project), **settings)


@asynccontextmanager
async def asked(
    site: Site, hosts: Sequence[str] = (), proxies: Sequence[str] = ()
) -> AsyncIterator[tuple[str, aiohttp.ClientSession]]:
    """Serve a site with the pages of tests; yield its address and a browser-like client."""
    app = make_app(site, hosts, proxies, pages=TEST_PAGES)
    async with running(app) as address, browser() as client:
        yield address, client


def browser() -> aiohttp.ClientSession:
    """Return a client that keeps cookies, those of addresses without a name too."""
    return aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True))


def label(client_id: str, value: Any = "yes", item_id: str = "q1", **fields: Any) -> dict[str, Any]:
    """Return an event with a label."""
    made = {"client_id": client_id, "kind": "label", "item_id": item_id, "field": "support"}
    return made | {"value": value} | fields


async def form_token(client: aiohttp.ClientSession, address: str) -> str:
    """Return the token of the first form of a page."""
    async with client.get(address) as reply:
        return (await reply.text()).split('name="form" value="')[1].split('"')[0]


async def sign_in(client: aiohttp.ClientSession, address: str, token: str) -> None:
    """Sign in with a token, as a script does."""
    async with client.post(f"{address}session", json={"token": token}) as reply:
        assert reply.status == 200
