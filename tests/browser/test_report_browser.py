"""The report in a real browser: charts, navigation, filters, themes, narrow and wide."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.browser.devtools import Page, open_page
from tests.fakes.made_results import HOSTILE, made_results
from tests.results.test_hops import ANSWERS, run

from ragstone.results.kept_board import write_report
from ragstone.types import Prediction, Score

Visit: TypeAlias = Callable[[Callable[[Page], Awaitable[None]]], None]

CHARTS = "document.querySelectorAll('.chart svg').length"
LISTED = "document.querySelectorAll('.queries li').length"
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report on 120 queries."""
    folder = tmp_path_factory.mktemp("plain")
    return write_report(made_results(folder / "store", queries=120), folder / "report.html")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a report full of hostile text."""
    folder = tmp_path_factory.mktemp("hostile")
    results = made_results(folder / "store", systems=HOSTILE, texts=HOSTILE)
    return write_report(results, folder / "report.html")


def visit(browser: str, report: Path, act: Callable[[Page], Awaitable[None]]) -> None:
    """Open a report and act; assert that it has no errors and loads no other file."""

    async def run() -> None:
        async with open_page(browser) as page:
            await page.resize(1200)
            await page.open(report)
            await page.until(f"{CHARTS} === document.querySelectorAll('.chart').length")
            await act(page)
            assert page.complaints == []
            assert [url for url in page.requests if not url.startswith("data:")] == [
                report.as_uri()
            ]

    asyncio.run(run())


def test_the_passport_can_be_saved(chromium: str, hostile: Path) -> None:
    """A link saves the text that the page contains."""

    async def act(page: Page) -> None:
        link = "document.getElementById('save-passport')"
        assert await page.run(f"{link}.hidden") is False
        assert await page.run(f"{link}.href.startsWith('blob:')") is True
        read = "JSON.parse(document.getElementById('passport').textContent).kind"
        assert await page.run(read) == "ragstone passport"

    visit(chromium, hostile, act)


def test_charts_are_drawn_and_described(chromium: str, plain: Path) -> None:
    """Every chart has a label and visible marks."""

    async def act(page: Page) -> None:
        assert await page.run(CHARTS) == 8
        labels = await page.run(
            "[...document.querySelectorAll('.chart svg')]"
            ".map((svg) => svg.closest('[aria-label]')?.getAttribute('aria-label'))"
        )
        assert all(label and "0." in label for label in labels)
        bars = "document.querySelectorAll('#chart-shares .mark-rect path').length"
        assert await page.run(bars) == 4 * 5

    visit(chromium, plain, act)


def test_a_query_has_a_page_and_a_link_back(chromium: str, plain: Path) -> None:
    """The list links to the page of a query, which links to the next one and to the list."""

    async def act(page: Page) -> None:
        await page.run("document.querySelector('.queries a').click()")
        await page.until("!document.getElementById('query-page').hidden")
        assert await page.run("location.hash") == "#query/q000"
        assert "ferry 0" in await page.run("document.activeElement.textContent")
        text = await page.run("document.getElementById('query-page').textContent")
        for shown in (
            "at 1 o'clock",
            "Winter timetable",
            "p0-gold",
            "relevant (2)",
            "none",
            "gold+noise(3)",
        ):
            assert shown in text
        await page.run("document.getElementById('next').click()")
        await page.until("location.hash === '#query/q001'")
        await page.until("document.querySelectorAll('.dialogue > div').length === 2")
        await page.run("document.getElementById('back').click()")
        await page.until("!document.getElementById('overview').hidden")
        assert await page.run("document.getElementById('query-page').childElementCount") == 0

    visit(chromium, plain, act)


def test_an_address_leads_straight_to_a_query(chromium: str, plain: Path) -> None:
    """An address with a query id opens its page; an unknown id shows a message."""

    async def run() -> None:
        async with open_page(chromium) as page:
            await page.open(plain, "#query/q002")
            assert "ferry 2" in await page.run(
                "document.querySelector('#query-page h2').textContent"
            )
            await page.run("location.hash = '#query/nobody'")
            await page.until(
                "document.querySelector('#query-page h2').textContent.includes('nobody')"
            )
            assert page.complaints == []

    asyncio.run(run())


def test_the_list_is_filtered(chromium: str, plain: Path) -> None:
    """Words, labels and outcomes filter the list; long lists are shown in pieces."""

    async def act(page: Page) -> None:
        assert await page.run(LISTED) == 100
        await page.run("document.querySelector('#query-list p button').click()")
        assert await page.run(LISTED) == 120
        await _choose(page, "search", "q017", "input")
        assert await page.run(LISTED) == 1
        await _choose(page, "search", "", "input")
        await _choose(page, "label", '["domain","museum"]')
        assert await page.run(LISTED) == 40
        await _choose(page, "label", "")
        await _choose(page, "trial", "0")
        await _choose(page, "outcome", "failed")
        failed = await page.run(LISTED)
        marks = (
            "[...document.querySelectorAll('.queries li')]"
            ".filter((li) => li.querySelector('.mark').classList.contains('failed')).length"
        )
        assert 0 < failed == await page.run(marks)

    visit(chromium, plain, act)


async def _choose(page: Page, field: str, value: str, event: str = "change") -> None:
    await page.run(
        f"(() => {{ const field = document.getElementById({field!r}); field.value = {value!r};"
        f" field.dispatchEvent(new Event({event!r})); }})()"
    )


def test_tables_are_sorted_by_number_and_name(chromium: str, plain: Path) -> None:
    """A click on a heading sorts its column in descending order, a second click reverses it."""

    async def act(page: Page) -> None:
        first = "document.querySelector('#cost tbody').rows[0].cells[6].dataset.value"
        tokens = (
            "[...document.querySelectorAll('#cost tbody tr')]"
            ".map((row) => Number(row.cells[6].dataset.value))"
        )
        button = "document.querySelectorAll('#cost thead button')[6]"
        values = await page.run(tokens)
        await page.run(f"{button}.click()")
        assert float(await page.run(first)) == max(values)
        assert await page.run(f"{button}.closest('th').getAttribute('aria-sort')") == "descending"
        await page.run(f"{button}.click()")
        assert float(await page.run(first)) == min(values)

    visit(chromium, plain, act)


@pytest.mark.parametrize("width", [400, 1000, 1600])
def test_nothing_is_cut_at_any_width(chromium: str, hostile: Path, width: int) -> None:
    """The page does not scroll sideways with any name; charts follow its width."""

    async def act(page: Page) -> None:
        await page.resize(width)
        await page.until("document.querySelector('.chart svg').clientWidth <= innerWidth")
        await page.until(f"!({TOO_WIDE})")
        await page.run("document.querySelector('.queries a').click()")
        await page.until("!document.getElementById('query-page').hidden")
        assert not await page.run(TOO_WIDE)

    visit(chromium, hostile, act)


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(chromium: str, hostile: Path, width: int, scheme: str) -> None:
    """The report has no violation of the rules of accessibility, with any text."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")

    async def act(page: Page) -> None:
        await page.prefer(scheme)
        await page.resize(width)
        await page.run(f"{axe};0")
        assert await page.run("axe.run().then((found) => found.violations)") == []

    visit(chromium, hostile, act)


def test_tables_fit_the_page(chromium: str, plain: Path) -> None:
    """On a phone rows are stacked, each value beside its heading; a wide page has their columns."""
    scrolling = (
        "[...document.querySelectorAll('.scroll')]"
        ".filter((place) => place.scrollWidth > place.clientWidth + 1).length"
    )
    cell = "document.querySelector('#leaderboard td.number')"
    label = f"getComputedStyle({cell}, '::before').content"

    async def act(page: Page) -> None:
        await page.resize(1280)
        assert await page.run(f"getComputedStyle({cell}).display") == "table-cell"
        assert await page.run(scrolling) == 0
        await page.resize(390)
        assert await page.run(scrolling) == 0
        assert await page.run(label) == '"Rank by Match"'
        await page.run("document.querySelector('#leaderboard thead button').click()")
        head = "document.querySelector('#leaderboard th[aria-sort]').textContent"
        assert await page.run(head) == "System"

    visit(chromium, plain, act)


def test_a_wide_table_says_that_it_scrolls(chromium: str, plain: Path) -> None:
    """A table that is wider than its place has a hint."""
    hint = "getComputedStyle(document.querySelector('#retrieval .scroll'), '::before').content"

    async def act(page: Page) -> None:
        await page.resize(1280)
        assert await page.run(hint) == "none"
        await page.resize(720)
        await page.until("document.querySelector('#retrieval .overflows')")
        assert "scroll this table" in await page.run(hint)

    visit(chromium, plain, act)


def test_hostile_text_runs_nothing(chromium: str, hostile: Path) -> None:
    """Markup in names, ids and answers is text on every page and never runs."""

    async def act(page: Page) -> None:
        for place in range(0, 12, 3):
            await page.run(f"document.querySelectorAll('.queries a')[{place}].click()")
            await page.until("!document.getElementById('query-page').hidden")
            await page.run("document.getElementById('back').click()")
            await page.until("document.getElementById('query-page').hidden")
        assert await page.run("document.title.split(' ')[0]") == "made"
        assert await page.run("document.images.length") == 0
        listed = await page.run("document.querySelector('.queries').textContent")
        assert HOSTILE[0] in listed
        assert HOSTILE[2] in listed

    visit(chromium, hostile, act)


def test_the_scheme_follows_the_preference(chromium: str, plain: Path) -> None:
    """Page and charts follow the system's preference until the reader clicks the button."""
    ground = "getComputedStyle(document.body).backgroundColor"
    axis = "getComputedStyle(document.querySelector('#chart-answers .role-axis-label text')).fill"
    button = "document.getElementById('theme')"

    async def act(page: Page) -> None:
        await page.prefer("light")
        light, light_axis = await page.run(ground), await page.run(axis)
        await page.prefer("dark")
        await page.until(f"{ground} !== {light!r}")
        assert await page.run(axis) != light_axis
        await page.run(f"{button}.click()")
        assert await page.run(f"{button}.textContent") == "Theme: light"
        assert await page.run(ground) == light

    visit(chromium, plain, act)


def test_the_keyboard_reaches_everything(chromium: str, plain: Path) -> None:
    """Tab moves from the skip link to the contents; Enter on a query opens its page."""

    async def act(page: Page) -> None:
        await _press(page, "Tab")
        assert await page.run("document.activeElement.className") == "skip"
        await _press(page, "Tab")
        assert await page.run("document.activeElement.getAttribute('href')") == "#summary"
        await page.run("document.querySelector('.queries a').focus()")
        await _press(page, "Enter")
        await page.until("location.hash === '#query/q000'")

    visit(chromium, plain, act)


async def _press(page: Page, key: str) -> None:
    code = {"Tab": 9, "Enter": 13}[key]
    text = {"text": "\r"} if key == "Enter" else {}
    held = {"key": key, "code": key, "windowsVirtualKeyCode": code}
    await page.send("Input.dispatchKeyEvent", type="keyDown", **held, **text)
    await page.send("Input.dispatchKeyEvent", type="keyUp", **held)


def test_risk_against_coverage_is_drawn(chromium: str, tmp_path: Path) -> None:
    """A line and a point per system and setting, within the width of a phone, in both schemes."""
    results = made_results(tmp_path / "store", queries=40)
    results.__dict__["trials"] = [
        replace(trial, scores={**trial.scores, "refusal": _refusals(trial.predictions)})
        for trial in results.trials
    ]
    report = write_report(results, tmp_path / "report.html")

    async def act(page: Page) -> None:
        drawn = "document.querySelectorAll('#chart-refusals .mark-{} path').length"
        for scheme in ("light", "dark"):
            await page.prefer(scheme)
            await page.resize(390)
            await page.until(f"{drawn.format('line')} === 8")
            assert await page.run(drawn.format("symbol")) >= 8
            assert not await page.run(TOO_WIDE)
            assert await page.run("document.querySelectorAll('#refusals tbody tr').length") == 8

    visit(chromium, report, act)


def test_hops_and_confidence_are_drawn(chromium: str, tmp_path: Path) -> None:
    """Charts and tables within the width of a phone; a query has its searches, gold marked."""
    answers = [{**one, "confidence": 0.7} for one in ANSWERS]
    report = write_report(run(tmp_path, answers), tmp_path / "report.html")

    async def act(page: Page) -> None:
        await page.resize(390)
        for name in ("hops", "confidence"):
            await page.until(f"document.querySelector('#chart-{name} .mark-symbol path')")
        assert not await page.run(TOO_WIDE)
        await page.run("location.hash = '#query/q1'")
        await page.until("document.querySelectorAll('.hop').length === 2")
        first = await page.run("document.querySelector('.hop summary').textContent")
        assert first == "1. Which of 2? 2 passages 1 relevant"
        assert await page.run("document.querySelectorAll('.hop .passage.relevant').length") == 2
        assert not await page.run(TOO_WIDE)

    visit(chromium, report, act)


def _refusals(predictions: Mapping[str, Prediction]) -> dict[str, Score]:
    """Return scores in which every third answer is a refusal."""
    return {
        query_id: Score(query_id, "refusal", float(place % 3 == 0))
        for place, (query_id, prediction) in enumerate(predictions.items())
        if prediction.answer is not None
    }
