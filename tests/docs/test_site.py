"""The documentation site: every page is in it, no link is broken, and everybody can read it."""

from __future__ import annotations

import fcntl
import functools
import http.server
import json
import os
import re
import threading
from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, unquote, urljoin, urlsplit

import pytest
from axe_core_python.sync_playwright import Axe  # type: ignore[import-untyped]
from tests.browser.devtools import driven_browser
from tools.site import build as site_builder

KINDS = (
    *("index.html", "own-components.html", "gate.html", "concepts.html"),
    *("annotate-people.html", "trackers.html", "decisions/index.html"),
    "reference/api/answers.html",
)
"""The landing page and seven kinds of pages; `RAGSTONE_SITE=all` checks every page."""
QUESTIONS = {
    "your own system": "calls",
    "recorded answers": "data",
    "429": "calls",
    "OpenAI endpoint": "calls",
    "confidence interval": "statistics",
    "how many queries": "statistics",
    "wrong answers cause": "causes",
    "exit code": "experiment-file",
    "judge bias": "judges",
    "annotators agreement": "annotate-progress",
    "generate questions": "data-generate",
    "PDF": "documents",
    "chunk size": "chunking",
    "dangling qrels": "data",
    "NaN failed": "statistics",
    "language": "languages",
    "offline": "calls",
    "LaTeX table": "leaderboard",
    "TREC run": "trec-rag",
    "telemetry": "trackers",
    "leakage": "data-doctor",
    "hybrid weight": "retrievers",
    "memory index": "scale",
    "How do I measure my own system?": "calls",
    "How many queries do I need?": "statistics",
    "What does the exit code mean?": "experiment-file",
    "How can I compare two versions of my system?": "compare-versions",
    "Why are my answers wrong?": "causes",
    "How do I score recorded answers?": "data",
    "Can I use my PDF files?": "documents",
    "How do I cut documents into passages?": "chunking",
    "How do I measure the bias of a judge?": "judges",
    "What is a context setting?": "concepts",
    "How do I run an experiment on a cluster?": "executors",
    "How can I write my own metric?": "own-components",
    "Does Ragstone send telemetry?": "trackers",
    "How do I fail a CI job if quality drops?": "gate",
    "How do I get a LaTeX table?": "leaderboard",
    "How do I generate questions from documents?": "generate",
    "What happens if the server answers 429?": "calls",
    "How do I label answers with several people?": "annotate-label",
    "How do I train a reranker?": "train-retrieval",
    "Can I resume a run after Ctrl-C?": "commands",
}
"""What people type -> a page that answers it."""


class _Page(HTMLParser):
    """Links, anchors and addresses of files that a page loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.anchors |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        if tag == "link" and found.get("rel") in {"stylesheet", "icon"}:
            self.loaded.append(found["href"])
        if "src" in found:
            self.loaded.append(found["src"])


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Return the folder of the built site, which all processes of a test run share."""
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "site"
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "site" / "versions.json").exists():
            site_builder.build(folder)
    return folder / "site"


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Yield the address of this version's pages, with a slash at its end."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/{site_builder.version()}/"
        server.shutdown()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Yield a Chromium that Playwright drives; skips the tests if one of them is missing."""
    yield from driven_browser()


def _leaves(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for one in nav if isinstance(nav, list) else nav.values():
            yield from _leaves(one)


def test_every_page_is_in_the_navigation_once() -> None:
    """A new page of docs/ needs a place in mkdocs.yml: else the site hides it."""
    generated = site_builder.generated_pages()
    listed = Counter(_leaves(site_builder.configuration(list(generated))["nav"]))
    pages = {path for path, _ in site_builder.written_pages()} | {*generated, "decisions/index.md"}
    assert {path for path, times in listed.items() if times > 1} == set()
    assert set(listed) == pages


def test_links_and_pictures_lead_somewhere(site: Path) -> None:
    """Each link of the HTML leads to a page and an anchor of it, each picture and script exists."""
    pages = {path: _Page(path.read_text("utf-8")) for path in site.rglob("*.html")}
    broken, followed = [], 0
    for path, page in pages.items():
        here = f"https://site/{path.relative_to(site)}"
        for link in [*page.links, *page.loaded]:
            target = urlsplit(urljoin(here, link))
            if target.netloc != "site":
                continue
            followed += 1
            file = site / unquote(target.path).lstrip("/")
            file = file / "index.html" if file.is_dir() else file
            anchor = unquote(target.fragment)
            if not file.exists() or (anchor and anchor not in pages[file].anchors):
                broken.append(f"{path.name}: {link}")
    assert broken == []
    assert followed > 50 * len(pages)


def test_pages_load_nothing_from_another_host(site: Path) -> None:
    """No style, script, font or picture has an address of another host."""
    foreign = [
        f"{path.name}: {source}"
        for path in site.rglob("*.html")
        for source in _Page(path.read_text("utf-8")).loaded
        if urlsplit(source).netloc
    ]
    assert foreign == []
    for style in site.rglob("*.css"):
        assert re.search(r"url\(['\"]?https?:|@import", style.read_text("utf-8")) is None, style


def test_markdown_is_rendered(site: Path) -> None:
    """No paragraph shows a code fence, a heading or the row of a table as it was written."""
    raw = re.compile(r"<p>(?:```|\||#+ )|^#{2,} [A-Z]", re.MULTILINE)
    code = re.compile(r"<pre>.*?</pre>", re.DOTALL)
    texts = {path.name: path.read_text("utf-8") for path in site.rglob("*.html")}
    assert [name for name, text in texts.items() if raw.search(code.sub("", text))] == []


def test_versions_have_a_folder_each(tmp_path: Path) -> None:
    """The newest is the first, is `latest`, and is where the start page leads."""
    for name in ("0.9.0", "0.10.0", "0.10.0rc1"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").touch()
    site_builder.list_versions(tmp_path)
    found = json.loads((tmp_path / "versions.json").read_text("utf-8"))
    assert [one["version"] for one in found] == ["0.10.0", "0.10.0rc1", "0.9.0"]
    assert [one["aliases"] for one in found] == [["latest"], [], []]
    assert "url=0.10.0/index.html" in (tmp_path / "index.html").read_text("utf-8")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_accessible(
    chromium: Any, address: str, site: Path, width: int, scheme: str
) -> None:
    """Axe finds nothing, no page is wider than the window, and no other host is asked."""
    every = [
        str(path.relative_to(site / site_builder.version())) for path in site.glob("*/**/*.html")
    ]
    pages = sorted(every) if os.environ.get("RAGSTONE_SITE") == "all" else KINDS
    page = chromium.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    found, wide = [], []
    for name in pages:
        page.goto(address + name)
        page.locator(".md-version__current").wait_for()
        found += [
            f"{name}: {one['id']}: {one['nodes'][0]['html'][:200]}"
            for one in Axe().run(page)["violations"]
        ]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
    page.close()
    assert (found, wide) == ([], [])
    host = urlsplit(address).netloc
    assert {urlsplit(url).netloc for url in requests if url.startswith("http")} == {host}
    assert len(requests) > 3 * len(pages)


def _found(page: Any, words: str) -> list[str]:
    """Return the first pages that the search finds, without their parts."""
    page.locator("input[placeholder=Search]").fill(words)
    links = page.locator(f"a[href*='?h={quote_plus(words)}']")
    links.first.wait_for()
    hrefs = links.evaluate_all("found => found.map((one) => one.pathname)")
    return list(dict.fromkeys(Path(href).stem for href in hrefs))[:5]


def test_search_finds_the_page(chromium: Any, address: str) -> None:
    """Within the first five pages, for words that people type; the index is part of the site."""
    page = chromium.new_page()
    page.goto(f"{address}trackers.html", wait_until="networkidle")
    page.locator(".md-search__button").click()
    found = {words: _found(page, words) for words in QUESTIONS}
    page.close()
    missed = {words: pages for words, pages in found.items() if QUESTIONS[words] not in pages}
    assert missed == {}
