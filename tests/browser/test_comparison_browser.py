"""The page of a comparison in a real browser: filters, keyboard, schemes, narrow and wide."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from tests.browser.devtools import Page, open_page
from tests.fakes.made_results import HOSTILE, made_results

import ragstone
from ragstone.results.comparison_page import write_comparison
from ragstone.results.results import Results

LISTED = "[...document.querySelectorAll('#flips > li')].filter((one) => !one.hidden).length"
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the page of two hostile systems."""
    folder = tmp_path_factory.mktemp("comparison")
    made = made_results(folder / "store", systems=HOSTILE[:2], texts=HOSTILE, queries=40)
    results = Results(made.store, made.record)
    found = ragstone.compare(
        {name: results.evaluation(name, "retrieved(3)") for name in results.systems}
    )
    return write_comparison(found, folder / "comparison.html")


def visit(browser: str, file: Path, act: Callable[[Page], Awaitable[None]]) -> None:
    """Open a page and act; assert that it has no errors and loads no other file."""

    async def run() -> None:
        async with open_page(browser) as page:
            await page.open(file)
            await act(page)
            assert page.complaints == []
            assert [url for url in page.requests if not url.startswith("data:")] == [file.as_uri()]

    asyncio.run(run())


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_any_screen_in_both_schemes(
    chromium: str, page_file: Path, width: int, scheme: str
) -> None:
    """The page does not scroll sideways, and hostile text runs nothing."""

    async def act(page: Page) -> None:
        await page.prefer(scheme)
        await page.resize(width)
        await page.run(
            "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
        )
        assert not await page.run(TOO_WIDE)
        assert "owned" not in (await page.run("document.title")).split()
        assert await page.run("document.images.length") == 0

    visit(chromium, page_file, act)


def test_the_flipped_queries_are_filtered(chromium: str, page_file: Path) -> None:
    """The headline metric is chosen first; direction, cause, metric and words narrow the list."""

    async def choose(page: Page, field: str, value: str) -> None:
        await page.run(
            f"(() => {{ const field = document.getElementById({field!r}); field.value = {value!r};"
            " field.dispatchEvent(new Event('input', { bubbles: true })); })()"
        )

    async def act(page: Page) -> None:
        both = await page.run(LISTED)
        await choose(page, "outcome", "worse")
        worse = await page.run(LISTED)
        await choose(page, "outcome", "better")
        assert worse + await page.run(LISTED) == both > worse > 0
        await choose(page, "outcome", "")
        causes = "[...document.querySelectorAll('#cause option')].slice(1).map((one) => one.value)"
        by_cause = 0
        for cause in await page.run(causes):
            await choose(page, "cause", cause)
            by_cause += await page.run(LISTED)
        assert by_cause == both
        await choose(page, "words", "no such words")
        assert await page.run(LISTED) == 0
        assert await page.run("document.getElementById('shown').textContent[0]") == "0"

    visit(chromium, page_file, act)


def test_the_keyboard_opens_a_query(chromium: str, page_file: Path) -> None:
    """A summary has the focus, and Enter opens it."""

    async def act(page: Page) -> None:
        third = "[...document.querySelectorAll('#flips > li:not([hidden]) > details')][2]"
        await page.run(f"{third}.querySelector('summary').focus()")
        held = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
        await page.send("Input.dispatchKeyEvent", type="keyDown", **held, text="\r")
        await page.send("Input.dispatchKeyEvent", type="keyUp", **held)
        await page.until(f"{third}.open")

    visit(chromium, page_file, act)
