"""The review of conversations in a browser: by keys, by two people at once, on a phone, offline."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.review_project import accept, label, opened, review_project
from tests.fakes.served_app import served_app

from ragstone.annotation.app import make_app
from ragstone.annotation.conversation import WrittenConversation, conversation
from ragstone.annotation.sessions import cookie_name
from ragstone.annotation.site import Site

ITEM = "night-boats"
PAGE = f"/review?item={ITEM}"
SCROLLED = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FIXED = """[...document.querySelectorAll("body *")]
    .filter((one) => getComputedStyle(one).position === "fixed" && !one.closest("dialog"))
    .reduce((sum, one) => sum + one.getBoundingClientRect().height, 0) / innerHeight"""


class Reviewed:
    """A served project, and the people who review it."""

    def __init__(self, site: Site, address: str, browser: Any) -> None:
        self.site, self.address, self.browser = site, address, browser
        for name in ("bob", "eve"):
            site.database.add_person(name, "reviewer")

    def page(self, person: str = "bob", path: str = PAGE, **settings: Any) -> Any:
        """Return a page of a person in a browser of their own."""
        context = self.browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}, **settings}
        )
        value = self.site.database.open_session(person)
        cookie = {"name": cookie_name(self.site), "value": value, "url": self.address}
        context.add_cookies([cookie])
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.goto(f"{self.address}{path}")
        return page

    @property
    def state(self) -> WrittenConversation:
        """The conversation as it is now."""
        return conversation(self.site.database, ITEM)


@pytest.fixture
def reviewed(tmp_path: Path, browser: Any) -> Iterator[Reviewed]:
    """Yield a project of two conversations that wait for review."""
    with opened(review_project(tmp_path)) as (project, database):
        site = Site(project, database)
        with served_app(make_app(site)) as address:
            yield Reviewed(site, address, browser)


def saved(page: Any) -> None:
    """Wait until the server has all events of a page."""
    from playwright.sync_api import expect

    expect(page.locator("#saved")).to_contain_text(", 0 waiting")


def test_a_conversation_is_reviewed_by_keys_alone(reviewed: Reviewed) -> None:
    """Accept, repair, reject with a reason, marks, undo, and the verdict; then the next one."""
    from playwright.sync_api import expect

    page = reviewed.page(path="/review")
    page.keyboard.press("j")
    expect(page.locator(".now .you")).to_have_text("When does the boat of line 1 sail?")
    expect(page.locator("[data-fresh=changes] ins")).to_have_text("1")
    page.keyboard.press("1")
    expect(page.locator(".now .done")).to_have_text("accepted")
    page.keyboard.press("p")
    page.keyboard.press("2")
    page.keyboard.press("y")
    expect(page.locator("[data-passage=boats-2]")).to_contain_text("the writer: not relevant")
    page.keyboard.press("Enter")

    expect(page.locator(".now .you")).to_have_text("Does it carry bicycles?")
    page.keyboard.press("e")
    page.keyboard.press("Control+a")
    page.keyboard.type("Line 3 does.")
    page.keyboard.press("Escape")
    expect(page.locator(".now .done")).to_have_text("repaired")
    page.keyboard.press("w")
    page.keyboard.press("q")
    expect(page.locator("[data-fresh=meta]")).to_contain_text("answerable")
    page.keyboard.press("u")
    expect(page.locator("[data-field=answerability] [aria-pressed=true]")).to_contain_text("partly")
    page.keyboard.press("j")

    expect(page.locator(".now .you")).to_have_text("Who is its captain?")
    page.keyboard.press("3")
    expect(page.locator("#reason")).to_be_focused()
    page.keyboard.type("It asks nothing about boats.")
    page.keyboard.press("Enter")
    expect(page.locator(".now .done")).to_have_text("rejected")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Accept the conversation")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**item=day-boats")

    state = reviewed.state
    assert (state.state, state.reviewer) == ("accepted", "bob")
    assert [one.decision for one in state.turns] == ["accept", "repair", "reject"]
    assert state.turns[0].relevance == {"boats-1": "yes", "boats-2": "yes"}
    assert state.turns[1].final_answer == "Line 3 does."
    assert state.turns[1].labels["answerability"] == "partial"
    assert state.turns[2].decision_reason == "It asks nothing about boats."


def test_a_returned_conversation_needs_a_reason_and_the_verdict_is_undone(
    reviewed: Reviewed,
) -> None:
    """The reason is asked for; after the verdict the page is for reading, until U."""
    from playwright.sync_api import expect

    page = reviewed.page()
    page.get_by_role("button", name="Return to the writer").click()
    expect(page.locator("#why")).to_be_focused()
    page.keyboard.type("Turn 2 has no source.")
    page.get_by_role("button", name="Return to the writer").click()
    page.wait_for_url("**item=day-boats")
    assert (reviewed.state.state, reviewed.state.verdict_reason) == (
        "returned",
        "Turn 2 has no source.",
    )

    page.goto(f"{reviewed.address}{PAGE}")
    expect(page.locator(".returned")).to_contain_text("returned to import")
    expect(page.locator("#answer")).to_have_count(0)
    page.keyboard.press("u")
    expect(page.locator("#answer")).to_have_count(1)
    assert reviewed.state.state == "submitted"


def test_two_reviewers_see_each_other_and_a_conversation_taken_back_is_refused(
    reviewed: Reviewed,
) -> None:
    """Of two decisions the later one counts; what was typed stays in the browser."""
    from playwright.sync_api import expect

    bob, eve = reviewed.page(), reviewed.page("eve")
    bob.keyboard.press("1")
    expect(bob.locator(".now .done")).to_have_text("accepted")
    eve.keyboard.press("2")
    expect(eve.locator(".now .done")).to_have_text("repaired")
    expect(eve.locator("[data-fresh=about]")).to_contain_text("bob")

    reviewed.site.database.append("import", [label(ITEM, "submitted", "", None)])
    bob.locator("#reason").fill("a long reason")
    bob.locator("#answer").fill("A better answer.")
    bob.keyboard.press("Escape")
    expect(bob.locator("[data-said]")).to_contain_text("not submitted: import works on it")
    saved(bob)
    expect(bob.locator("#answer")).to_have_value("A better answer.")
    bob.reload()
    expect(bob.locator("h1")).to_contain_text("The conversation is not submitted")
    assert reviewed.state.turns[0].reviewed.answer is None

    reviewed.site.database.append("import", [label(ITEM, "submitted", "", True)])
    bob.goto(f"{reviewed.address}{PAGE}&turn=1")
    expect(bob.locator("#reason")).to_have_value("a long reason")


def test_labels_given_offline_are_saved_when_the_server_is_back(reviewed: Reviewed) -> None:
    """They show at once, wait in the browser, and count once."""
    from playwright.sync_api import expect

    page = reviewed.page()
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(page.locator("#saved")).to_contain_text("1 waiting")
    expect(page.locator(".decision [aria-pressed=true]")).to_contain_text("Accept")
    page.context.set_offline(False)

    expect(page.locator(".now .done")).to_have_text("accepted")
    assert reviewed.state.turns[0].decision == "accept"


def test_a_phone_reviews_with_fingers(reviewed: Reviewed) -> None:
    """Passages and the decision are the second part of the page."""
    from playwright.sync_api import expect

    page = reviewed.page(viewport={"width": 390, "height": 800}, has_touch=True, is_mobile=True)
    page.locator(".decision").get_by_role("button", name="Accept").tap()
    expect(page.locator(".now .done")).to_have_text("accepted")
    page.get_by_role("button", name="Passages, decision").tap()
    page.locator("[data-passage=boats-2]").get_by_role("button", name="Relevant", exact=True).tap()
    expect(page.locator("[data-passage=boats-2] .note")).to_have_text("the writer: not relevant")
    assert page.evaluate(FIXED) < 1 / 3
    saved(page)

    assert reviewed.state.turns[0].relevance["boats-2"] == "yes"


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_pages_are_accessible_and_fit(reviewed: Reviewed, width: int, scheme: str) -> None:
    """No violation, no sideways scrolling, no script of a text, in every state."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    reviewed.site.database.append("bob", [label("day-boats", "answer", "1", "<b>no</b>")])
    page = reviewed.page(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    told: list[str] = []
    page.on("pageerror", lambda error: told.append(str(error)))
    paths = ["/review", PAGE, f"{PAGE}&turn=2&part=passages", "/review?item=day-boats"]
    for step in range(2):
        for path in (*paths, "/review?show=accepted", "/review?item=nothing"):
            page.goto(f"{reviewed.address}{path}")
            page.evaluate(axe)
            found = page.evaluate("axe.run()")["violations"]
            assert [(path, one["id"], one["nodes"][0]["html"]) for one in found] == []
            assert (path, page.evaluate(SCROLLED) <= 0) == (path, True)
            assert (path, page.evaluate(FIXED) < 1 / 3) == (path, True)
            assert page.title() != "owned"
        if step == 0:
            accept(reviewed.site.database, "bob", ITEM, 3)
    assert told == []


def test_no_page_breaks_the_policy(reviewed: Reviewed) -> None:
    """The browser has no complaint."""
    page, told = reviewed.page(), []
    page.on("console", lambda message: told.append(message.text))
    for path in ("/review", PAGE, "/review?item=day-boats", "/review?show=returned"):
        page.goto(f"{reviewed.address}{path}")

    assert told == []
