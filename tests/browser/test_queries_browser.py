"""The pages about queries in a browser: widths, schemes, accessibility, the keyboard, what if."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.browser.served_pages import served
from tests.fakes.asked_store import EVERY_ACTION, HARD_ID, answer, asked_experiment
from tests.fakes.faulty_system import faulty
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.testing import FakeModelServer
from ragstone.view.store_view import StoreView

TRIED = "[aria-labelledby=tried] tr.band"
CHANGED = "/query/t3?experiment=asked&setting=retrieved(2)"
PAGES_SEEN = (
    "/queries?experiment=asked",
    "/queries?experiment=asked&q=zzz",
    "/queries?experiment=e&system=a&setting=retrieved(3)&right=no",
    f"/query/{quote(HARD_ID)}/?experiment=asked&setting=retrieved(2)",
    "/query/low?experiment=e&system=a&setting=retrieved(3)",
    "/query/failed?experiment=e",
    "/query/none",
    "/queries?experiment=made",
    f"/queries?experiment=made&system={quote(HOSTILE[0])}&setting=gold&right=no",
    f"/query/{quote('q000 ' + HOSTILE[0])}?experiment=made",
    f"/query/{quote('q004 ' + HOSTILE[4])}?experiment=made&system={quote(HOSTILE[4])}&setting=none",
    "/experiment/made",
    "/experiment/asked",
    "/experiment/e",
    "/conversation/k?experiment=asked",
    "/conversation/task?experiment=asked",
)
"""Addresses of all pages about queries, with hostile texts, lists, failures and states."""


@pytest.fixture(scope="module")
def model() -> Iterator[FakeModelServer]:
    """Yield a model server."""
    with FakeModelServer(answer) as found:
        yield found


@pytest.fixture(scope="module")
def view(model: FakeModelServer, tmp_path_factory: pytest.TempPathFactory) -> StoreView:
    """Return a store with two experiments that ran."""
    folder = tmp_path_factory.mktemp("asked")
    asked_experiment(folder, model.url).run()
    faulty(folder / "faulty", store=str(folder / "store"))
    made_results(folder / "store", texts=HOSTILE, systems=(HOSTILE[0], HOSTILE[4]))
    return StoreView(folder / "store")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit(
    view: StoreView, browser: Any, width: int, scheme: str
) -> None:
    """No violation, no sideways scrolling, no request to elsewhere, no script of a text."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    with served(view, EVERY_ACTION) as address:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
        )
        page, asked = context.new_page(), []
        page.on("request", lambda request: asked.append(request.url))
        for path in PAGES_SEEN:
            page.goto(f"{address}{path}")
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []
            scrolled = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert (path, page.evaluate(scrolled) <= 0) == (path, True)
            assert page.title() != "owned"
        assert all(url.startswith((address, "data:")) for url in asked)
        context.close()


def test_no_page_breaks_the_policy(view: StoreView, browser: Any) -> None:
    """The browser has no complaint about any page that exists."""
    with served(view, EVERY_ACTION) as address:
        page, told = browser.new_page(), []
        page.on("console", lambda message: told.append(message.text))
        for path in PAGES_SEEN:
            if path != "/query/none":
                page.goto(f"{address}{path}")
        assert told == []
        page.close()


def test_a_list_is_read_by_keyboard(view: StoreView, browser: Any) -> None:
    """J and K go through the list, / searches; in a field they are letters."""
    with served(view, EVERY_ACTION) as address:
        page = browser.new_page()
        page.goto(f"{address}/queries?experiment=e&system=a&setting=retrieved(3)&cause=processing")
        page.focus("tbody a")
        page.keyboard.press("Enter")
        page.wait_for_url("**/query/dropped?**")
        assert "1 of 2" in page.inner_text(".crumbs")
        page.keyboard.press("j")
        page.wait_for_url("**/query/shortened?**")
        assert "setting=retrieved" in page.url
        page.keyboard.press("k")
        page.wait_for_url("**/query/dropped?**")
        page.focus("#search")
        page.keyboard.press("j")
        assert "/query/dropped" in page.url
        page.focus(".crumbs a")
        page.keyboard.press("Enter")
        page.wait_for_url("**cause=processing**")
        page.keyboard.press("/")
        page.keyboard.type("short")
        page.keyboard.press("Enter")
        page.wait_for_url("**q=short**")
        assert page.locator("tbody tr").count() == 1
        page.close()


@pytest.mark.parametrize("script", [True, False])
def test_what_if_by_keyboard_with_and_without_script(
    view: StoreView, browser: Any, script: bool
) -> None:
    """A passage is edited and another dropped; the answer is listed below."""
    with served(view, EVERY_ACTION) as address:
        context = browser.new_context(java_script_enabled=script)
        page = context.new_page()
        page.goto(f"{address}{CHANGED}")
        first = page.locator(".order li").first.locator(".id").first.inner_text()
        page.focus(".order li:first-child summary")
        page.keyboard.press("Enter")
        page.focus("#text-1")
        page.keyboard.press("Control+A")
        page.keyboard.type(f"It happened in winter. Script: {script}")
        page.focus("[name=drop-2]")
        page.keyboard.press("Space")
        page.focus("button.primary:has-text('Ask again')")
        page.keyboard.press("Enter")
        page.wait_for_url("**tried=**")
        row = page.locator("tr.band").filter(has_text="exploratory")
        assert f"{first} edited" in row.inner_text()
        assert "in winter" in row.inner_text()
        context.close()


def test_passages_move_by_buttons(view: StoreView, browser: Any) -> None:
    """With script the positions follow, and the focus stays on the button."""
    with served(view, EVERY_ACTION) as address:
        page = browser.new_page()
        page.goto(f"{address}{CHANGED}")
        ids = page.locator(".order .what > .id").all_inner_texts()
        page.focus(".order li:first-child [data-do=down]")
        page.keyboard.press("Enter")
        assert page.locator(".order .what > .id").all_inner_texts() == ids[::-1]
        assert page.locator("[name=place-1]").input_value() == "2"
        assert page.evaluate("document.activeElement.dataset.do") == "down"
        page.click("button.primary:has-text('Ask again')")
        page.wait_for_url("**tried=**")
        assert f"order {', '.join(ids[::-1])}" in page.inner_text(TRIED)
        page.close()


def test_hostile_texts_come_back_as_they_were(view: StoreView, browser: Any) -> None:
    """A browser changes line ends and control characters are shown as codes: no edit."""
    with served(view, EVERY_ACTION) as address:
        page = browser.new_page()
        page.goto(f"{address}/query/{quote(HARD_ID)}/?experiment=asked&setting=gold")
        page.click("button.primary:has-text('Ask again')")
        page.wait_for_url("**tried=**")
        assert "nothing changed" in page.inner_text(TRIED)
        page.close()


def test_a_restarted_and_a_stopped_server(view: StoreView, browser: Any) -> None:
    """The page of an earlier start is stale; one without a server says so. Nothing is lost."""
    page = browser.new_page()
    with served(view, EVERY_ACTION) as address:
        page.goto(f"{address}{CHANGED}")
    page.check("[name=drop-1]")
    page.fill("[name=add]", "p1")
    page.click("button.primary:has-text('Ask again')")
    page.wait_for_selector("[data-said]:not([hidden])")
    assert "Nothing that you entered is lost" in page.inner_text("[data-said]")
    assert page.is_checked("[name=drop-1]")
    with served(view, EVERY_ACTION, int(address.rpartition(":")[2])):
        page.click("button.primary:has-text('Ask again')")
        page.wait_for_selector("h1:has-text('stale')")
        page.click("text=Send again")
        page.wait_for_url("**tried=**")
        noted = page.inner_text(TRIED)
        assert "p1 added" in noted
        assert "edited" not in noted
    page.close()


def test_a_model_that_is_off(tmp_path: Path, browser: Any) -> None:
    """The reason is above the form, and the form has what was entered."""
    with FakeModelServer(answer) as server:
        asked_experiment(tmp_path, server.url).run()
    with served(StoreView(tmp_path / "store"), EVERY_ACTION) as address:
        page = browser.new_page(bypass_csp=True)
        page.goto(f"{address}{CHANGED}")
        page.fill("#search", "story one")
        page.click("button.primary:has-text('Ask again')")
        page.wait_for_selector("[role=alert]", timeout=20000)
        assert "cannot connect" in page.inner_text("[role=alert]")
        assert page.input_value("#search") == "story one"
        axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
        page.evaluate(axe)
        assert page.evaluate("axe.run()")["violations"] == []
        page.close()


def test_the_buttons_of_a_list(view: StoreView, browser: Any) -> None:
    """Each button does its own work with script too; a CSV is a download."""
    with served(view, EVERY_ACTION) as address:
        page = browser.new_page()
        page.goto(f"{address}/queries?experiment=asked&q=story")
        with page.expect_download() as download:
            page.click("a[download]")
        assert download.value.suggested_filename == "asked.csv"
        page.fill("[name=name]", "from-browser")
        page.click("text=Make an annotation project")
        page.wait_for_url("**/queries/annotation")
        assert '"items": 3' in page.inner_text("body")
        page.close()
    assert (view.root / "annotation" / "from-browser" / "project.yaml").exists()
