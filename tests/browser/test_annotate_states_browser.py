"""Empty, finished and refused states of the pages of annotation: accessible, and never cut."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import Any, Final

import pytest
from tests.fakes.labelled_project import made_site
from tests.fakes.served_project import served_site

from ragstone.annotation.sessions import cookie_name

STATES: Final = {
    "progress": "0 of 1 items have a label",
    "agreement": "Nothing can be compared yet",
    "disagreements": "0 disagreements",
    "quality": "Nobody has labelled an item yet",
    "people": "2 people have tokens",
    "label": "When does ferry 0 sail?",
    "label?item=nothing": "There is no item 'nothing'.",
    "review": "There is no page /review.",
}
"""Page of an owner before the first label -> its heading."""
REFUSED: Final = {
    "people": "This is for the owner of the project.",
    "agreement?item=q0": "This project does not show agreement to annotators.",
    "label": "Nothing is left for you. Thank you.",
}
"""Page of an annotator who finished the only item -> its heading."""
SIDEWAYS: Final = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FRAME: Final = """["header", ".tasks"].map((one) => document.querySelector(one))
  .reduce((sum, one) => sum + (one ? one.getBoundingClientRect().height : 0), 0)"""
COVERED: Final = """[...document.querySelectorAll("body *")]
  .filter((one) => getComputedStyle(one).position === "fixed" && !one.closest("dialog"))
  .reduce((sum, one) => sum + one.getBoundingClientRect().height, 0) / innerHeight"""


@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_state_is_accessible_and_fits(
    width: int, scheme: str, tmp_path: Path, browser: Any
) -> None:
    """No violation, no sideways scrolling; the frame and what is fixed leave room on a phone."""
    sync_api = pytest.importorskip("playwright.sync_api")
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(
        viewport={"width": width, "height": 640 if width < 390 else 844},
        color_scheme=scheme,
        bypass_csp=True,
        has_touch=width < 900,
        is_mobile=width < 900,
    )
    page = context.new_page()

    def check(state: str, heading: str) -> None:
        named = page.locator("h1, h2, h3").filter(has_text=heading).first
        sync_api.expect(named).to_be_visible(timeout=20_000)
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        assert [(state, one["id"], one["nodes"][0]["html"]) for one in found] == []
        assert (state, page.evaluate(SIDEWAYS) <= 0) == (state, True)
        if width < 900:
            assert (state, page.evaluate(FRAME) < 140) == (state, True)
            assert (state, page.evaluate(COVERED) <= 1 / 3) == (state, True)

    with made_site(tmp_path / "p", 1, people_per_item=2) as (site, give), served_site(site) as to:
        base = to.partition("?")[0]
        for name, role in (("ann", "annotator"), ("olga", "owner")):
            site.database.add_person(name, role)  # type: ignore[arg-type]
        page.goto(f"{base}sign-in")
        page.get_by_label("Token").fill("wrong")
        page.keyboard.press("Enter")
        check("sign-in", "No person of this project has this token.")
        for person, states in (("olga", STATES), ("ann", REFUSED)):
            value = site.database.open_session(person)
            context.add_cookies([{"name": cookie_name(site), "value": value, "url": base}])
            if person == "ann":
                give("ann", "q0", "yes")
            for path, heading in states.items():
                page.goto(f"{base}{path}")
                check(path, heading)
    context.close()


def test_a_project_without_items_is_accessible(tmp_path: Path, browser: Any) -> None:
    """It says how items are made."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(viewport={"width": 320, "height": 640}, bypass_csp=True)
    page = context.new_page()
    with made_site(tmp_path / "p", []) as (site, _), served_site(site) as to:
        page.goto(to)
        page.get_by_text("This project has no items.").wait_for()
        page.evaluate(axe)
        assert page.evaluate("axe.run()")["violations"] == []
        assert page.evaluate(SIDEWAYS) <= 0
    context.close()
