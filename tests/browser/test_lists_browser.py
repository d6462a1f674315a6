"""The list pages in a browser: widths, schemes, accessibility, keyboard, hostile texts."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from typing import Any

import pytest
from tests.browser.served_pages import served
from tests.fakes.listed_pages import faulty_store, judged_store
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.core.store import Store
from ragstone.results.record import Attempt
from ragstone.view.store_view import StoreView

PATHS = (
    "experiments",
    "leaderboard",
    "leaderboard?metric=nothing",
    "compare",
    "compare?a={a}&b={b}&by=answerability",
    "causes?system={system}&setting=retrieved(3)",
    "labels",
    "judges",
    "calls",
    "calls?experiment={name}",
    "history",
    "history?experiment={name}",
)
NAMES = {"name": "e", "system": "a", "a": "e:a:none", "b": "e:a:gold"}
HOSTILE_NAMES = {
    "name": "made",
    "system": "bm25 %2B small",
    "a": "made:bm25 %2B small:none",
    "b": "made:bm25 %2B small:gold",
}


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a store with a faulty and a judged experiment, of which one runs again."""
    folder = tmp_path_factory.mktemp("lists")
    store = judged_store(folder)
    faulty_store(folder)
    record = StoreView(store).record("judged")
    began = "2026-03-02T10:00:00+00:00"
    begun = Attempt(began, record.finished or "", "ragstone run", 1, 1, 4, 1)
    begun.save(Store(store), "judged")
    with served(StoreView(store)) as found:
        yield found


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve a store whose texts, names, labels and reasons are hostile."""
    store = tmp_path_factory.mktemp("hostile") / "store"
    made_results(store, texts=HOSTILE)
    systems = (HOSTILE[0], HOSTILE[1], HOSTILE[3], HOSTILE[4])
    made_results(store, texts=HOSTILE, systems=systems, name="named")
    with served(StoreView(store)) as found:
        yield found


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit(
    address: str, browser: Any, width: int, scheme: str
) -> None:
    """No violation, no sideways scrolling, no request to elsewhere, no complaint of the browser."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    page, told, asked = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    for path in PATHS:
        page.goto(f"{address}/{path.format(**NAMES)}")
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []
        scrolled = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert (path, max(0, page.evaluate(scrolled))) == (path, 0)
        assert page.locator("h1").count() == 1
        page.on("console", lambda message: told.append(message.text))
    # The browser reports the page that does not exist.
    assert [text for text in told if "404" not in text] == []
    assert all(url.startswith((address, "data:")) for url in asked)
    context.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_hostile_texts_stay_texts(hostile: str, browser: Any, width: int) -> None:
    """No text is executed, and none makes a page wider than its window."""
    context = browser.new_context(viewport={"width": width, "height": 900})
    page, told = context.new_page(), []
    page.on("console", lambda message: told.append(message.text))
    paths = [path.format(**HOSTILE_NAMES) for path in PATHS if "nothing" not in path]
    for path in [*paths, "causes?experiment=named", "labels?experiment=named&label=note"]:
        page.goto(f"{hostile}/{path}")
        assert "owned" not in page.title()
        assert page.locator("main img, main script").count() == 0
        scrolled = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert (path, max(0, page.evaluate(scrolled))) == (path, 0)
    assert not told
    context.close()


def test_lists_work_by_keyboard_and_without_a_script(address: str, browser: Any) -> None:
    """A filter is sent by Enter, its state is in the address, and a link leads on."""
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{address}/causes?experiment=e&system=a&setting=retrieved(3)")
    page.focus("input[name=q]")
    page.keyboard.type("distracted")
    page.keyboard.press("Enter")
    page.wait_for_url("**q=distracted**")
    rows = page.locator("section[aria-labelledby=wrong] tbody tr")
    assert rows.count() == 1
    assert "system=a" in page.url
    page.focus("section[aria-labelledby=wrong] tbody th a")
    link = page.locator("section[aria-labelledby=wrong] tbody th a").get_attribute("href")
    trial = "experiment=e&system=a&setting=retrieved(3)"
    assert link == f"/query/distracted?{trial}&cause=any&q=distracted"
    page.goto(f"{address}/compare")
    page.focus("tbody td a")
    page.keyboard.press("Enter")
    page.wait_for_url("**a=**")
    page.focus("tbody tr:nth-child(2) td a")
    page.keyboard.press("Enter")
    page.wait_for_url("**b=**")
    assert page.locator("section[aria-labelledby=metrics]").count() == 1
    context.close()


def test_keys_and_live_progress(address: str, browser: Any) -> None:
    """The key / leads to the search; a run under way is looked at again."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/leaderboard")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "q"
    page.goto(f"{address}/experiments")
    assert "trials complete: 1 of 4" in page.inner_text("main")
    with page.expect_request("**/experiments") as again:
        pass
    assert again.value.resource_type == "fetch"
    context.close()
