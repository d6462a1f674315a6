"""Opens the pages of the campaign in Chromium, and says what is wrong with them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from unittest import mock
from urllib.parse import quote

from benchmarks.hostile.commands import fake_model, filled, make_inputs
from benchmarks.hostile.inputs import QUERIES, TASKS
from benchmarks.hostile.pages import ANNOTATE, FILES, ITEM, LOOK, OPEN, VIEW
from benchmarks.hostile.terminals import beside, said_by
from benchmarks.hostile.texts import CONTROLS, NAME, TEXTS, text

TALKS: Final = "conversation"
WIDTHS: Final = (390, 1280)
_MISSING: Final = "Failed to load resource: the server responded with a status of 4"
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


def look_at(tab: Any, name: str, route: str, address: str, policy: str = "") -> Iterator[Seen]:
    """Open a page in a tab, and yield what is wrong with it at each width."""
    told: list[str] = []
    asked: list[str] = []

    def dismiss(dialog: Any) -> None:
        told.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    listeners: dict[str, Callable[[Any], None]] = {
        "dialog": dismiss,
        "console": lambda one: told.append(f"console: {one.type}: {one.text}"),
        "pageerror": lambda one: told.append(f"error: {one}"),
        "request": lambda one: asked.append(one.url),
    }
    for event, listener in listeners.items():
        tab.on(event, listener)
    tab.set_viewport_size({"width": WIDTHS[0], "height": 900})
    answer = tab.goto(address)
    # A page from a file has no status.
    status = answer.status or 200
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 900})
        if (found := _looked(tab)) is None:
            yield Seen(name, route, width, shows=False, problems=["the page led elsewhere"])
            break
        shows = "canary" in found["text"] or "\\x1b" in found["text"]
        # The browser reports the status of a page, or of the icon of a part of a page.
        heard = [one for one in told if _MISSING not in one or (found["styled"] and status < 400)]
        problems = [*heard, *_asked(asked, address), *_seen(found)]
        if status >= 500:
            problems.append(f"status {status}")
        if policy and answer.headers.get("content-security-policy") != policy:
            problems.append("another policy")
        yield Seen(name, route, width, shows, problems)
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)


def _looked(tab: Any) -> dict[str, Any] | None:
    """Return what is on a page with all its parts open; None if it led to another page."""
    from playwright.sync_api import Error

    try:
        tab.evaluate(OPEN)
        tab.wait_for_timeout(100)
        found: dict[str, Any] = tab.evaluate(LOOK)
    except Error:
        return None
    return found


def _asked(asked: Sequence[str], address: str) -> Iterator[str]:
    """Yield requests to elsewhere."""
    own = "/".join(address.split("/", 3)[:3]) if address.startswith("http") else address
    for url in asked:
        if not url.startswith(("data:", "blob:", own)) or url.endswith("/canary"):
            yield f"asked for {url}"


def _seen(found: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the elements and the text of a page."""
    yield from found["bad"]
    if found["wide"] > 0:
        yield f"{found['wide']} pixels too wide: {found['widest']}"
    if controls := CONTROLS.search(_without_marks(found["text"])):
        yield f"a control: {found['text'][max(controls.start() - 40, 0) :][:80]!r}"


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


def talks(folder: Path) -> None:
    """Write a project of conversations that wait for review, with a text in each part."""
    from tests.fakes import review_project

    made = review_project
    shown = list(TEXTS.values())
    told = [
        made.told(
            f"c{n} {NAME}",
            made.user(" ".join(shown[n : n + 8]), turn="N/A"),
            made.agent(
                " ".join(shown[n + 8 : n + 12]) or "It sails.",
                made.found(n + 1, "yes", search=text(n), text=" ".join(shown[n : n + 5])),
                original=text(n + 13),
            ),
        )
        for n in range(0, len(shown), 8)
    ]
    with mock.patch.object(made, "CONVERSATIONS", told):
        made.review_project(folder)


@contextmanager
def annotation_pages(folder: Path, task: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Serve a project; yield the address that opens a session and the paths."""
    from tests.fakes.served_project import served_site

    from ragstone.annotation.database import Database
    from ragstone.annotation.pages import PAGES
    from ragstone.annotation.project import Project
    from ragstone.annotation.site import Site

    if task == TALKS and not (folder / task).exists():
        talks(folder / task)
    project = Project.open(folder / task)
    database = Database.open(f"sqlite:///{folder / task / 'annotation.db'}", project.name)
    routes = [one.path for one in PAGES if not one.tasks or task in one.tasks]
    paths = []
    for route in routes:
        for path in ANNOTATE[route]:
            items = list(project.items) if ITEM in path else [""]
            # The page of labels has each text once; the others show the same parts of an item.
            items = items if (task, route) == ("labels", "/label") else items[:6]
            paths += [(route, path.replace(ITEM, quote(one, safe=""))) for one in items]
    try:
        with served_site(Site(project, database)) as address:
            yield address, [*paths, ("nothing", NOWHERE)]
    finally:
        database.close()


def browse(folder: Path, only: tuple[str, ...] = (), queries: int = QUERIES) -> Iterator[Seen]:
    """Write the files, serve the sites, and yield what was seen on each page."""
    from playwright.sync_api import sync_playwright
    from tests.browser.devtools import find_chromium

    with beside(fake_model()) as url:
        make_inputs(folder, url, queries, small=bool(only))
    files = [name for name in FILES if not only or name.startswith(only)]
    write_files(folder, files)
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        tab = started.new_context().new_page()
        for seen in visits(tab, folder, files, only):
            if seen.problems:
                sys.stderr.write(f"{seen.page[:100]} {seen.width}: {seen.problems!a}\n")
            yield seen
        started.close()


def write_files(folder: Path, files: Sequence[str]) -> None:
    """Write the pages and pictures of the commands."""
    for name, row in ((name, FILES[name]) for name in files):
        (folder / name).unlink(missing_ok=True)
        done = said_by((*filled(row, folder, 0), name), folder, terminal=False)
        if not (folder / name).exists():
            raise SystemExit(f"{row}: {done.errors[-900:]}")


def visits(tab: Any, folder: Path, files: Sequence[str], only: tuple[str, ...]) -> Iterator[Seen]:
    """Open each page at each width."""
    from ragstone.web.security import POLICY

    for name in files:
        yield from look_at(tab, name, name, (folder / name).as_uri())
    for site, pages in all_sites(folder):
        if only and not (site.startswith(only) or any(one.startswith(site) for one in only)):
            continue
        with pages as (address, paths):
            base = "/".join(address.split("/")[:3])
            if "key=" in address:  # opens a session
                tab.goto(address)
            for route, path in paths:
                name, kind = f"{site} {path}", f"{site.split()[0]} {route}"
                if only and not name.startswith(only):
                    continue
                yield from look_at(tab, name, kind, base + path, POLICY)


def all_sites(folder: Path) -> Iterator[tuple[str, Any]]:
    """Yield the name and the served pages of the store and of each project."""
    yield "view", view_pages(folder)
    for task in (*TASKS, TALKS):
        yield f"annotate {task}", annotation_pages(folder, task)
