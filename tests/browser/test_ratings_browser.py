"""The page of ratings in a real browser: widths, schemes, hostile names, accessibility."""

from __future__ import annotations

import asyncio
from importlib import resources
from pathlib import Path

from tests.browser.devtools import open_page
from tests.fakes.made_results import HOSTILE
from tests.results.test_ratings_page import rated

from ragstone.results.ratings_page import write_ratings
from ragstone.results.ratings_report import make_ratings

DRAWN = "document.querySelectorAll('.chart svg').length"


def test_the_page_fits_and_axe_finds_nothing(chromium: str, tmp_path: Path) -> None:
    """At 390 and 1280 pixels, light and dark; nothing is loaded."""
    page_file = tmp_path / "ratings.html"
    write_ratings(make_ratings(rated(*HOSTILE[:4], high=100), by="system"), page_file)
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")

    async def look() -> None:
        async with open_page(chromium) as page:
            await page.resize(390)
            await page.open(page_file)
            await page.until(f"{DRAWN} === 2")
            await page.run(f"{axe};0")
            for width, scheme in ((390, "light"), (390, "dark"), (1280, "light"), (1280, "dark")):
                await page.resize(width)
                await page.prefer(scheme)
                await page.until("!(document.documentElement.scrollWidth > innerWidth)")
                assert await page.run("axe.run().then((found) => found.violations)") == []
            assert await page.run("document.title") == "Ratings of mine \u2013 Ragstone"
            assert page.complaints == []
            assert page.requests == [page_file.as_uri()]

    asyncio.run(look())
