"""The page of a history in a real browser: narrow and wide, light and dark, hostile text."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.browser.devtools import open_page
from tests.fakes.made_history import made_passports
from tests.fakes.made_results import HOSTILE

from ragstone.results.charts.trend import trend_chart
from ragstone.results.history import make_history
from ragstone.results.html import chart_page

DRAWN = "document.querySelectorAll('.chart svg .mark-line path').length"
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


def new_corpus(passport: dict[str, Any]) -> None:
    """Change the passages."""
    passport["data"]["corpus_digest"] = "1" * 64


@pytest.mark.parametrize("texts", [(), HOSTILE], ids=["plain", "hostile"])
def test_the_trend_fits_every_screen(chromium: str, tmp_path: Path, texts: tuple[str, ...]) -> None:
    """Each of the four lines has two segments; the page runs no script of its texts."""
    history = make_history(made_passports(tmp_path, 8, {3: new_corpus}, texts), metric="F1")
    page_file = tmp_path / "history.html"
    page_file.write_text(chart_page("history", chart=trend_chart(history), history=history))

    async def look() -> None:
        async with open_page(chromium) as page:
            for width in (390, 1280):
                for scheme in ("light", "dark"):
                    await page.prefer(scheme)
                    await page.resize(width)
                    await page.open(page_file)
                    await page.until(f"{DRAWN} === 8")
                    assert await page.run(TOO_WIDE) is False
                    assert await page.run("document.title") == "made \u2013 Ragstone history"
            assert page.complaints == []
            assert {url for url in page.requests if not url.startswith("data:")} == {
                page_file.as_uri()
            }

    asyncio.run(look())
