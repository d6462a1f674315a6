"""Signing in and the page of people in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pytest
from tests.fakes.labelled_project import made_site
from tests.fakes.served_project import served_site

from ragstone.annotation.events import Event
from ragstone.annotation.people import PersonRole

NAMES: Final[dict[str, PersonRole]] = {
    "ann": "annotator",
    20 * "long": "reviewer",
    "أحمد": "owner",
}
HOSTILE = "<script>document.title = 'owned'</script>"
SIZES = ({"width": 390, "height": 844}, {"width": 1280, "height": 800})


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Yield a page whose scripts must not fail."""
    context = browser.new_context()
    made, told = context.new_page(), []
    made.on("pageerror", lambda error: told.append(str(error)))
    yield made
    context.close()
    assert told == []


def expect(what: Any) -> Any:
    """Return Playwright's assertions about a locator or a page."""
    from playwright.sync_api import expect as expected

    return expected(what)


def test_the_key_leaves_the_address_bar_and_is_in_no_request(tmp_path: Path, page: Any) -> None:
    """Neither the history nor the header Referer has it."""
    with made_site(tmp_path, 2) as (site, _), served_site(site) as to:
        sent: list[str] = []
        page.on("request", lambda one: sent.append(f"{one.url} {one.headers}"))
        page.goto(f"{to}&scheme=dark")
        expect(page).not_to_have_url(re.compile("key="))
        expect(page).to_have_url(re.compile("scheme=dark"))
        page.get_by_role("link", name="People").click()
        expect(page).to_have_url(re.compile("people"))
        page.go_back()
        expect(page).not_to_have_url(re.compile("people"))
        page.go_forward()
        expect(page.locator("h1")).to_have_text("0 people have tokens")
        assert site.key in sent[0]
        assert not any(site.key in one for one in sent[1:])


def test_a_person_is_added_signs_in_and_out(tmp_path: Path, browser: Any, page: Any) -> None:
    """The token is shown once; a hostile name is text; a new token ends the session."""
    with made_site(tmp_path, 2) as (site, _), served_site(site) as to:
        base = to.partition("?")[0]
        page.goto(to)
        page.goto(f"{base}people")
        page.get_by_label("Name").fill(HOSTILE)
        page.get_by_role("button", name="Add").click()
        token = page.locator("code.token").text_content()
        expect(page.locator("tbody th").first).to_have_text(HOSTILE)

        context = browser.new_context()
        person = context.new_page()
        person.goto(base)
        expect(person.locator("h1")).to_have_text("Sign in with your token.")
        person.get_by_label("Token").fill("wrong")
        person.get_by_role("button", name="Sign in").click()
        expect(person.locator("h1")).to_have_text("No person of this project has this token.")
        person.get_by_label("Token").fill(f" {token} ")
        person.keyboard.press("Enter")
        expect(person.locator(".who bdi")).to_have_text(HOSTILE)
        expect(person.get_by_role("link", name="People")).to_have_count(0)
        person.goto(f"{base}people")
        expect(person.locator("h1")).to_have_text("This is for the owner of the project.")
        person.goto(base)
        person.get_by_role("button", name="Sign out").click()
        expect(person.locator("h1")).to_have_text("Sign in")

        page.goto(f"{base}people")
        expect(page.locator("code.token")).to_have_count(0)
        page.get_by_role("button", name=f"New token: {HOSTILE}").click()
        assert page.locator("code.token").text_content() != token
        page.get_by_role("button", name=f"Remove: {HOSTILE}").click()
        expect(page.locator(".said-text")).to_contain_text("was removed. The labels of")
        expect(page).to_have_title(re.compile("^People"))
        context.close()


def test_an_item_withdrawn_while_it_is_open(tmp_path: Path, page: Any) -> None:
    """The page says why its label does not count, and shows another item."""
    with made_site(tmp_path, 3) as (site, _), served_site(site) as to:
        page.goto(to)
        first = page.locator(".query-text").first.text_content()
        item_id = f"q{first.split()[3]}"
        site.database.append("owner", [Event("w", "withdraw", item_id, value="It is twice here.")])
        page.keyboard.press("1")
        expect(page.locator("body")).to_contain_text("was withdrawn")
        expect(page.locator(".query-text").first).not_to_have_text(first)
        assert list(site.database.labels()) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible_at_both_sizes(tmp_path: Path, page: Any, scheme: str) -> None:
    """Axe finds nothing, and nothing is wider than the screen."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    with made_site(tmp_path, 2) as (site, give), served_site(site) as to:
        base = to.partition("?")[0]
        page.emulate_media(color_scheme=scheme)
        page.goto(to)
        for name, role in NAMES.items():
            site.database.add_person(name, role)
            site.database.open_session(name)
        give("ann", "q0", "yes")
        for size in SIZES:
            page.set_viewport_size(size)
            for path in ("people", "sign-in", "nothing"):
                page.goto(f"{base}{path}")
                if path == "people":
                    page.get_by_label("Name").fill(f"new {size['width']}")
                    page.get_by_role("button", name="Add").click()
                    expect(page.locator("code.token")).to_be_visible()
                page.screenshot(
                    path=tmp_path / f"{path}-{size['width']}-{scheme}.png", full_page=True
                )
                wide = "document.documentElement.scrollWidth > innerWidth"
                assert not page.evaluate(wide), (path, size)
                page.evaluate(axe)
                assert page.evaluate("axe.run()")["violations"] == [], (path, size)
