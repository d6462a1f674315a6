"""The pages of disagreements and of quality in a browser: keys alone, widths and schemes."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.labelled_project import Give, made_site, plain_items
from tests.fakes.served_project import served_site

from ragstone.annotation.disagreements import final_labels
from ragstone.annotation.site import Site

HOSTILE = "<script>document.title = 'owned'</script>"
RIGHT_TO_LEFT = "ما هي شروط نقل الكلاب على متن العبارة؟"
SIDEWAYS = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
COVERED = """[...document.querySelectorAll("body *")].filter((one) =>
  ["fixed", "sticky"].includes(getComputedStyle(one).position)).map((one) =>
  one.getBoundingClientRect().height / innerHeight)"""


def expect(what: Any) -> Any:
    """Return Playwright's assertions about a locator."""
    from playwright.sync_api import expect as expected

    return expected(what)


@pytest.fixture
def disputed(tmp_path: Path) -> Iterator[tuple[Site, Give]]:
    """Yield a project in which two people disagree about three items."""
    items = plain_items(6)
    items[1] |= {"query": RIGHT_TO_LEFT, "gold_answers": [HOSTILE]}
    items[1]["passages"] = [{"passage_id": "p", "title": HOSTILE, "text": 40 * "Longword"}]
    items[5]["known"] = {"support": "no"}
    with made_site(tmp_path, items, people_per_item=2) as (site, give):
        for number, other in enumerate(["no", "partly", "cannot tell", "yes"]):
            give("ann", f"q{number}", "yes", seconds=0.4 * number)
            give("ben", f"q{number}", other)
        give("ann", "q1", f"It is on the timetable. {HOSTILE}", kind="comment")
        give("ann", "q0#again", "no")
        give("ann", "q5", "no")
        give("ben", "q4", HOSTILE, kind="skip")
        yield site, give


def test_three_disagreements_are_decided_by_keys(disputed: tuple[Site, Give], browser: Any) -> None:
    """A wrong decision is undone; the labels of the people stay."""
    site, _ = disputed
    with served_site(site) as address:
        page = browser.new_page()
        page.goto(address)
        page.goto(f"{address.partition('?')[0]}disagreements")
        queue = page.locator("#queue")
        expect(queue).to_have_text("0 of 3 disagreements are decided")
        page.keyboard.press("1")
        expect(queue).to_have_text("1 of 3 disagreements are decided")
        page.keyboard.press("u")
        expect(queue).to_have_text("0 of 3 disagreements are decided")
        page.keyboard.press("j")
        expect(page.locator(".query-text")).to_have_text(RIGHT_TO_LEFT)
        page.keyboard.press("k")
        expect(page.locator(".query-text")).to_have_text("When does ferry 0 sail?")
        page.keyboard.press("n")
        expect(page.locator(".opinions li").first).to_have_text("ann Yes")
        for done, key in enumerate("123", 1):
            page.keyboard.press(key)
            expect(queue).to_have_text(f"{done} of 3 disagreements are decided")
        expect(page.locator(".said-text")).to_have_text("All disagreements are decided.")
        page.close()
    found = final_labels(site.project, site.database)
    decided = {place[0]: one.value for place, one in found.items() if one.how == "adjudicated"}
    assert decided == {"q0": "yes", "q1": "partly", "q2": "no"}
    assert len(list(site.database.labels(person="ann", field="support"))) == 6


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit(
    disputed: tuple[Site, Give], browser: Any, width: int, scheme: str
) -> None:
    """No violation, no sideways scrolling, nothing over a third of a phone, no script of a text."""
    site, _ = disputed
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    with served_site(site) as address:
        context = browser.new_context(
            viewport={"width": width, "height": 844}, color_scheme=scheme, bypass_csp=True
        )
        page = context.new_page()
        page.goto(address)
        root = address.partition("?")[0]
        for path in (
            "disagreements", "disagreements?item=q1&field=support", "disagreements?state=decided",
            "quality",
        ):  # fmt: skip
            assert page.goto(f"{root}{path}").status == 200
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []
            assert (path, page.evaluate(SIDEWAYS) <= 0) == (path, True)
            assert page.title() != "owned"
            if width < 900:
                assert all(share <= 0.34 for share in page.evaluate(COVERED))
        context.close()
