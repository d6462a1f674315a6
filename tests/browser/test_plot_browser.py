"""Pages of plots in a real browser: patterns, narrow and wide, hostile names, accessibility."""

from __future__ import annotations

import asyncio
from importlib import resources
from pathlib import Path

import pytest
from tests.browser.devtools import open_page
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.results.joined import JoinedResults
from ragstone.results.plots.output import draw, write_plot
from ragstone.results.plots.request import PlotRequest

DRAWN = "document.querySelectorAll('.chart svg').length"


@pytest.mark.parametrize("name", ["leaderboard", "adaptability", "causes", "gains", "history"])
def test_a_page_fits_and_axe_finds_nothing(chromium: str, tmp_path: Path, name: str) -> None:
    """At 390 and 1280 pixels, light and dark, with hostile names; nothing is loaded."""
    results = made_results(tmp_path / "store", queries=40, systems=HOSTILE[:4], texts=HOSTILE)
    page_file = tmp_path / f"{name}.html"
    write_plot(draw(PlotRequest(name, JoinedResults.of([results]))), page_file)
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")

    async def look() -> None:
        async with open_page(chromium) as page:
            await page.resize(390)
            await page.open(page_file)
            await page.until(f"{DRAWN} === document.querySelectorAll('.chart').length")
            await page.run(f"{axe};0")
            for width, scheme in ((390, "light"), (1280, "dark")):
                await page.resize(width)
                await page.prefer(scheme)
                wide = "document.documentElement.scrollWidth > innerWidth"
                await page.until(f"!({wide})")
                assert await page.run("axe.run().then((found) => found.violations)") == []
            assert await page.run("document.title.split(' ')[0]") == name
            assert page.complaints == []
            assert page.requests == [page_file.as_uri()]

    asyncio.run(look())


def test_segments_have_patterns(chromium: str, tmp_path: Path) -> None:
    """Marks along a segment, which follow the width of the page."""
    results = made_results(tmp_path / "store", queries=40)
    page_file = tmp_path / "causes.html"
    write_plot(draw(PlotRequest("causes", JoinedResults.of([results]))), page_file)
    marks = "document.querySelectorAll('#chart-1 .mark-symbol.role-mark path').length"

    async def look() -> None:
        async with open_page(chromium) as page:
            await page.resize(1280)
            await page.open(page_file)
            await page.until(f"{marks} > 40")
            many = await page.run(marks)
            await page.resize(390)
            await page.until(f"{marks} < {many} / 2")

    asyncio.run(look())
