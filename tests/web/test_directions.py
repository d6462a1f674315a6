"""Texts of the data in pages: each is in an element with its own direction, whatever its script."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import pytest
from tests.fakes.listed_pages import html_of
from tests.fakes.made_results import made_results
from tests.results.board.made_board import made_board
from tests.results.test_comparison_page import compared

from ragstone.core.shown_text import with_own_direction
from ragstone.core.store import Store
from ragstone.results.board.page import render_board
from ragstone.results.comparison_page import render_comparison
from ragstone.results.html import render_report
from ragstone.results.reader import StoredResults

ARABIC = "ما هي عاصمة مصر؟"
SYSTEMS = ("نظام أول", "نظام ثان")
LEAST_TEXTS = {
    "/leaderboard": 4, "/compare": 4, "/causes": 0, "/queries": 10, "/labels": 4, "/judges": 0,
    "/history": 1, "/experiment/{name}": 4, "/query/{query_id:.+}": 20,
}  # fmt: skip
"""Page -> number of Arabic texts that it has at least."""
SKIPPED = {"script", "style", "title"}
VOID = {"input", "br", "hr", "img", "link", "meta", "col", "wbr", "source"}


class Directions(HTMLParser):
    """Collects the Arabic texts without a direction; our sentences may name them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, bool]] = []
        self.without: list[str] = []
        self.seen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        if tag not in VOID:
            self.open.append((tag, tag == "bdi" or "dir" in dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Close an element, and those inside that have no end."""
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        """Check a text."""
        inside = {tag for tag, _ in self.open}
        if any("\u0600" <= letter <= "\u06ff" for letter in data) and not inside & SKIPPED:
            self.seen += 1
            ours = any(letter.isascii() and letter.isalpha() for letter in data)
            if not ours and not any(own for _, own in self.open):
                self.without.append(f"{'/'.join(tag for tag, _ in self.open)}: {data.strip()}")


def texts_without_direction(page: str) -> tuple[list[str], int]:
    """Return the Arabic texts of a page without a direction, and the number of Arabic texts."""
    found = Directions()
    found.feed(page)
    return found.without, found.seen


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a store whose queries, answers, labels, ids and systems are Arabic."""
    made = tmp_path_factory.mktemp("directions")
    made_results(made / "store", texts=(ARABIC,), systems=SYSTEMS, queries=9)
    return made


def test_every_text_of_a_report_has_its_own_direction(folder: Path) -> None:
    """Names in tables, sentences, labels, the record; the JSON of its scripts is left out."""
    found, seen = texts_without_direction(
        render_report(StoredResults.load(Store(folder / "store"), "made"))
    )

    assert found == []
    assert seen > 50


@pytest.mark.parametrize("page", LEAST_TEXTS)
def test_every_text_of_the_live_pages_has_its_own_direction(folder: Path, page: str) -> None:
    """All pages about the store, with its experiment, a query and a setting."""
    parts = {"query_id": f"q000 {ARABIC}", "name": "made"}
    shown = html_of(
        folder / "store", page, parts, experiment="made", setting="gold", system=SYSTEMS[0]
    )
    found, seen = texts_without_direction(shown)

    assert found == []
    assert seen >= LEAST_TEXTS[page]


def test_every_text_of_a_comparison_has_its_own_direction(tmp_path: Path) -> None:
    """Both answers of a query that changed, labels and names."""
    page = render_comparison(compared(tmp_path / "store", *SYSTEMS, texts=(ARABIC,)))
    found, seen = texts_without_direction(page)

    assert found == []
    assert seen > 50


def test_every_text_of_a_leaderboard_has_its_own_direction(tmp_path: Path) -> None:
    """Names of data sets in rows and columns."""
    _, table = made_board(tmp_path, data=(ARABIC, SYSTEMS[0]), metrics=("nDCG@10",))
    found, seen = texts_without_direction(render_board(table))

    assert found == []
    assert seen > 2


def test_a_template_with_conditions_in_its_tags() -> None:
    """A > inside an expression ends no tag; a tag with a direction keeps it."""
    source = '<dd{% if a > b %} class="x"{% endif %}>{{ a }}</dd><pre><path><li dir="ltr">'

    assert with_own_direction(source) == (
        '<dd dir="auto"{% if a > b %} class="x"{% endif %}>{{ a }}</dd>'
        '<pre dir="auto"><path><li dir="ltr">'
    )
