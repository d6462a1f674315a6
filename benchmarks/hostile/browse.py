"""Opens the pages of the campaign in Chromium, and says what is wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from benchmarks.hostile.commands import fake_model, filled, make_inputs
from benchmarks.hostile.inputs import QUERIES, TASKS
from benchmarks.hostile.pages import ANNOTATE, FILES, ITEM, LOOK, OPEN, VIEW
from benchmarks.hostile.terminals import beside, said_by
from benchmarks.hostile.texts import CONTROLS, NAME

WIDTHS: Final = (390, 1280)
NOWHERE: Final = f"/nothing/{quote(NAME, safe='')}"


@dataclass
class Seen:
    """What a browser found on a page."""

    page: str
    route: str
    """The file, or the route with the program that serves it."""
    width: int
    shows: bool
    """Whether a text of the data is on the page, as text."""
    problems: list[str] = field(default_factory=list)


def look_at(  # noqa: PLR0917
    context: Any, name: str, route: str, address: str, width: int, policy: str = ""
) -> Seen:
    """Open a page in a new tab, and return what is wrong with it."""
    tab, told, asked = context.new_page(), [], []
    tab.set_viewport_size({"width": width, "height": 900})
    tab.on("dialog", lambda one: (told.append(f"a dialog: {one.message}"), one.dismiss()))
    tab.on("console", lambda one: told.append(f"console: {one.type}: {one.text}"))
    tab.on("pageerror", lambda one: told.append(f"error: {one}"))
    tab.on("request", lambda one: asked.append(one.url))
    answer = tab.goto(address)
    tab.evaluate(OPEN)
    tab.wait_for_timeout(150)
    found = tab.evaluate(LOOK)
    # The browser reports the status of a page that does not exist.
    status = answer.status if answer else 200
    problems = [one for one in told if not (status >= 400 and "Failed to load resource" in one)]
    origin = address.split("/", 3)
    own = ("data:", "blob:", "/".join(origin[:3]) if address.startswith("http") else address)
    problems += [f"asked for {url}" for url in asked if not url.startswith(own)]
    problems += [f"asked for {url}" for url in asked if "canary" in url.partition("?")[0][-12:]]
    problems += found["bad"]
    if found["wide"] > 0 and address[-4:] != ".svg":
        problems.append(f"{found['wide']} pixels too wide: {found['widest']}")
    if controls := CONTROLS.search(_without_marks(found["text"])):
        problems.append(f"a control: {found['text'][max(controls.start() - 40, 0) :][:80]!r}")
    if policy and answer.headers.get("content-security-policy") != policy:
        problems.append("another policy")
    if status >= 500:
        problems.append(f"status {status}: {found['text'][-200:]}")
    shows = "canary" in found["text"] or "\\x1b" in found["text"]
    tab.close()
    return Seen(name, route, width, shows, problems)


def _without_marks(text: str) -> str:
    """Return a text without marks of direction, which elements isolate, and line ends."""
    return "".join(one for one in text if not "\u2028" <= one <= "\u2069").replace("\r", "")


@contextmanager
def view_pages(folder: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Serve the store, with received traces; yield the address and the paths."""
    from tests.browser.served_pages import served
    from tests.fakes.asked_store import EVERY_ACTION

    from ragstone.data.readers.traces.otlp_request import split_json
    from ragstone.data.readers.traces.received import received_in
    from ragstone.view.store_view import StoreView

    spans = received_in(folder / "store")
    for line in (folder / "traces.jsonl").read_bytes().splitlines():
        spans.add(split_json(line).kept)
    spans.close()
    paths = [(route, path) for route, paths in VIEW.items() for path in paths]
    with served(StoreView(folder / "store"), EVERY_ACTION) as address:
        yield address, [*paths, ("nothing", NOWHERE)]


@contextmanager
def annotation_pages(folder: Path, task: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Serve a project; yield the address that opens a session and the paths."""
    from tests.fakes.served_project import served_site

    from ragstone.annotation.database import Database
    from ragstone.annotation.pages import PAGES
    from ragstone.annotation.project import Project
    from ragstone.annotation.site import Site

    project = Project.open(folder / task)
    database = Database.open(f"sqlite:///{folder / task / 'annotation.db'}", project.name)
    routes = [one.path for one in PAGES if not one.tasks or task in one.tasks]
    paths = []
    for route in routes:
        for path in ANNOTATE[route]:
            items = list(project.items) if ITEM in path else [""]
            paths += [(route, path.replace(ITEM, quote(one, safe=""))) for one in items]
    try:
        with served_site(Site(project, database)) as address:
            yield address, [*paths, ("nothing", NOWHERE)]
    finally:
        database.close()


def browse(folder: Path, queries: int = QUERIES) -> Iterator[Seen]:
    """Write the files, serve the sites, and yield what was seen on each page."""
    from playwright.sync_api import sync_playwright
    from tests.browser.devtools import find_chromium

    with beside(fake_model()) as url:
        make_inputs(folder, url, queries)
    write_files(folder)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        context = started.new_context()
        for seen in visits(context, folder):
            if seen.problems:
                sys.stderr.write(f"{seen.page[:100]} {seen.width}: {seen.problems!a}\n")
            yield seen
        started.close()


def write_files(folder: Path) -> None:
    """Write the pages and pictures of the commands."""
    for name, row in FILES.items():
        (folder / name).unlink(missing_ok=True)
        done = said_by((*filled(row, folder, 0), name), folder, terminal=False)
        if not (folder / name).exists():
            raise SystemExit(f"{row}: {done.errors[-900:]}")


def visits(context: Any, folder: Path) -> Iterator[Seen]:
    """Open each page at each width."""
    from ragstone.web.security import POLICY

    for name in FILES:
        for width in WIDTHS:
            yield look_at(context, name, name, (folder / name).as_uri(), width)
    for site, pages in all_sites(folder):
        with pages as (address, paths):
            base = "/".join(address.split("/")[:3])
            if "key=" in address:
                tab = context.new_page()
                tab.goto(address)
                tab.close()
            for route, path in paths:
                for width in WIDTHS:
                    yield look_at(
                        context,
                        f"{site} {path}",
                        f"{site.split()[0]} {route}",
                        base + path,
                        width,
                        POLICY,
                    )


def all_sites(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the name and the served pages of the store and of each project."""
    yield "view", view_pages(folder)
    for task in TASKS:
        yield f"annotate {task}", annotation_pages(folder, task)
