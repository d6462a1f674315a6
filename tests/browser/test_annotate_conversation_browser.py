"""Writing a conversation with a live agent in a browser: by keys, offline, on a phone."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.conversation_project import conversation_project, open_site
from tests.fakes.served_project import served_site

from ragstone.annotation.conversation import conversation
from ragstone.annotation.events import Event
from ragstone.annotation.site import Site

CABINS = "Do the night boats have cabins for four?"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Yield a project with its agent."""
    with open_site(conversation_project(tmp_path / "p", seconds=5)) as found:
        yield found


@pytest.fixture
def address(site: Site) -> Iterator[str]:
    """Yield the printed address of the project."""
    with served_site(site) as found:
        yield found


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    """Yield the page of the first conversation; the browser has no complaint about it."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    made, told = context.new_page(), []
    made.on("pageerror", lambda error: told.append(str(error)))
    made.goto(address)
    yield made
    assert told == []
    context.close()


def expect(locator: Any) -> Any:
    """Return Playwright's assertions of a locator."""
    from playwright.sync_api import expect as of

    return of(locator)


def keys(page: Any, *pressed: str) -> None:
    """Press keys one after the other; a text of several letters is typed."""
    for one in pressed:
        if len(one) == 1 or one in {"Enter", "Escape", "Control+End", "Backspace", "Control+a"}:
            page.keyboard.press(one)
        else:
            page.keyboard.type(one)


def saved(page: Any) -> None:
    """Wait until nothing waits in the browser."""
    expect(page.locator("#saved")).to_contain_text(", 0 waiting")


def first_turn(page: Any) -> None:
    """Ask the seed query."""
    keys(page, "a", "Enter")
    said = "Cabins for four are on decks 5 and 6, with or without a window. Pets are not allowed."
    expect(page.locator("#answer")).to_have_value(said)


def test_two_turns_by_keys_alone(page: Any, site: Site) -> None:
    """Marks, repair, search, labels, the next query and sending to review."""
    first_turn(page)
    assert page.locator(".shelf mark").count() > 0
    expect(page.locator("#asked")).to_contain_text("Turn 1 needs marks of 2 passages")
    keys(page, "y", "x", "q", "o", "1", "Escape", "s")
    expect(page.locator("#asked")).to_have_text("Turn 1 is complete.")
    keys(page, "e", "Control+a", "Cabins for four are on decks 5 and 6.", "Escape")
    expect(page.locator("#diff del").first).to_contain_text("with or without a window")
    expect(page.locator("#score")).not_to_have_text("0")
    expect(page.locator("[data-fresh=versions]")).to_have_text("2 versions kept")
    keys(page, "/", "bicycles", "Enter")
    expect(page.locator(".passage")).to_have_count(3)
    expect(page.locator("#asked")).to_contain_text("marks of 1 passage")
    keys(page, "x", "a", "Which lines carry bicycles?", "Enter")
    expect(page.locator(".now .you")).to_have_text("Which lines carry bicycles?")
    keys(page, "y", "1", "x", "y", "2", "x", "w", "f", "o", "1", "4", "Escape")
    keys(page, "u")  # how-to is taken back
    expect(page.locator("[data-value], [data-key='4']")).to_have_attribute("aria-pressed", "false")
    keys(page, "1", "y")
    expect(page.locator("[data-do=send]")).to_be_enabled()
    keys(page, "v")
    expect(page.locator("#asked")).to_have_text("The conversation is sent to review.")
    assert page.locator("#answer").count() == 0
    found = conversation(site.database, "c1")
    assert (found.state, found.writer, len(found.turns)) == ("submitted", "owner", 2)
    first, second = found.turns
    assert first.final_answer == "Cabins for four are on decks 5 and 6."
    assert dict(first.relevance) == {"cabins#5": "yes", "pets#2": "no", "bicycles#1": "no"}
    assert dict(first.labels) == {
        "answerability": "answerable",
        "question_type": ["factoid"],
        "standalone": "yes",
    }
    assert dict(second.labels) == {
        "answerability": "partial",
        "question_type": ["factoid"],
        "multi_turn": "follow-up",
    }
    assert dict(second.relevance) == {"bicycles#1": "yes", "cabins#4": "no"}
    asked = (site.project.folder / "asked.txt").read_text().splitlines()
    assert asked[1].endswith("| ['" + CABINS + "', 'Cabins for four are on decks 5 and 6.']")
    page.get_by_role("button", name="Take back from review").click()
    expect(page.locator("#answer")).to_be_visible()


def test_a_failure_keeps_what_was_typed(page: Any, site: Site) -> None:
    """The turn shows the reason as text, and is tried again."""
    (site.project.folder / "fails").touch()
    keys(page, "a", "Enter")
    expect(page.locator(".state-line")).to_contain_text("the index is gone <b>now</b>")
    expect(page.locator(".now .you")).to_have_text(CABINS)
    (site.project.folder / "fails").unlink()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#answer")).to_be_visible()
    assert len(conversation(site.database, "c1").turns) == 1


def test_a_turn_that_is_answered_while_the_page_is_closed(page: Any, site: Site) -> None:
    """A page that is opened while the agent works waits for the same answer."""
    hangs = site.project.folder / "hangs"
    hangs.touch()
    keys(page, "a", "Enter")
    expect(page.locator("#asked")).to_have_text("The agent works.")
    page.reload()
    expect(page.locator(".state-line")).to_have_text("The agent works on the answer.")
    hangs.unlink()
    expect(page.locator("#answer")).to_be_visible(timeout=10_000)
    assert len((site.project.folder / "asked.txt").read_text().splitlines()) == 1


def test_drafts_survive_a_reload(page: Any) -> None:
    """The next query, an unsent search and an unfinished repair are there again."""
    first_turn(page)
    keys(page, "a", "What if I can", "Escape", "/", "cancel", "Escape", "e", "Control+End", " But")
    page.reload()
    expect(page.locator("#next")).to_have_value("What if I can")
    expect(page.locator("#search")).to_have_value("cancel")
    assert page.locator("#answer").input_value().endswith(" But")
    page.get_by_role("button", name="Restore").click()
    assert not page.locator("#answer").input_value().endswith(" But")


def test_marks_made_offline_are_sent_later(page: Any, site: Site) -> None:
    """A query that cannot be sent stays in its field with a message."""
    first_turn(page)
    saved(page)
    page.context.set_offline(True)
    keys(page, "y", "x", "q")
    expect(page.locator("#saved")).to_contain_text("3 waiting")
    expect(page.locator(".passage.yes")).to_have_count(1)
    keys(page, "a", "And pets?", "Enter")
    expect(page.locator("#asked")).to_contain_text("The server does not respond", timeout=10_000)
    expect(page.locator("#next")).to_have_value("And pets?")
    page.context.set_offline(False)
    saved(page)
    page.reload()
    expect(page.locator(".passage.yes")).to_have_count(1)
    expect(page.locator("#next")).to_have_value("And pets?")
    (turn,) = conversation(site.database, "c1").turns
    assert list(turn.relevance.values()) == ["yes", "no"]


def test_the_next_query_needs_a_complete_turn(page: Any) -> None:
    """The refusal is beside the field, and the text stays."""
    first_turn(page)
    keys(page, "a", "And?", "Enter")
    expect(page.locator("#asked")).to_contain_text(
        "Turn 1 needs marks of 2 passages, answerability"
    )
    expect(page.locator("#next")).to_have_value("And?")


def test_the_last_turn_is_taken_back_into_the_field(page: Any, site: Site) -> None:
    """Its query can be changed and asked again."""
    first_turn(page)
    keys(page, "y", "q")
    saved(page)
    page.get_by_role("button", name="Take the turn back").click()
    expect(page.locator("#next")).to_have_value(CABINS)
    assert conversation(site.database, "c1").turns == ()
    keys(page, "a", "Control+a", "Which lines carry bicycles?", "Enter")
    expect(page.locator(".now .you")).to_have_text("Which lines carry bicycles?")
    assert page.locator(".now [aria-pressed=true]").count() == 0


def test_a_second_tab_cannot_change_what_was_sent(page: Any, site: Site) -> None:
    """Its mark is refused with the reason, and nothing of it counts."""
    first_turn(page)
    keys(page, "y", "x", "q", "o", "1", "Escape")
    saved(page)
    site.database.append("owner", [Event("s", "label", "c1", "submitted", value=True)])
    keys(page, "1", "x")
    expect(page.locator("[data-said]")).to_contain_text("Not saved:")
    assert list(conversation(site.database, "c1").turns[0].relevance.values()) == ["yes", "no"]


def test_an_earlier_turn_can_be_opened(page: Any, site: Site) -> None:
    """Its passages and its answer can still be changed."""
    first_turn(page)
    keys(page, "y", "x", "q", "o", "1", "Escape", "a", "And pets?", "Enter")
    expect(page.locator(".now .you")).to_have_text("And pets?")
    page.get_by_role("link", name="Open turn 1").click()
    expect(page.locator(".now .you")).to_have_text(CABINS)
    keys(page, "2", "y")
    saved(page)
    assert dict(conversation(site.database, "c1").turns[0].relevance) == {
        "cabins#5": "yes",
        "pets#2": "yes",
    }


def test_a_phone_switches_between_conversation_and_passages(page: Any) -> None:
    """Fixed parts cover at most a third; every mark is reached by touch."""
    page.set_viewport_size({"width": 390, "height": 844})
    first_turn(page)
    # The frame has two rows: the project, and the pages with the button that signs out.
    rows = [page.locator(one).first.bounding_box()["height"] for one in ("header", ".tasks")]
    assert sum(rows) < 140
    assert page.locator(".shelf").is_hidden()
    page.get_by_role("button", name="Passages · 2 unmarked").click()
    assert page.locator(".talk").is_hidden()
    for number in (1, 2):
        group = page.get_by_role("group", name=f"Relevance of passage {number}")
        group.get_by_role("button", name="Relevant", exact=True).click()
    expect(page.get_by_role("button", name="Passages · all marked")).to_be_visible()
    page.reload()
    assert page.locator(".talk").is_hidden()
    page.get_by_role("button", name="Conversation", exact=True).click()
    assert page.locator("#answer").is_visible()
    covered = page.evaluate(
        "[...document.querySelectorAll('body *')].filter((one) => getComputedStyle(one).position"
        " === 'fixed').reduce((sum, one) => sum + one.getBoundingClientRect().height, 0)"
    )
    assert covered <= 844 / 3


def pages_seen(site: Site, page: Any, address: str) -> Iterator[str]:
    """Yield the states of the page: new, with a document, hostile, a turn, failed, sent."""
    base = address.partition("/?")[0]
    page.goto(address)
    yield "new"
    page.goto(f"{base}/conversation?item=c2")
    yield "document"
    page.goto(f"{base}/conversation?item=c3")
    yield "hostile"
    page.goto(f"{base}/conversation?item=c1")
    first_turn(page)
    keys(page, "y", "x", "q", "o", "1", "Escape", "e", "Control+End", " No.", "Escape")
    saved(page)
    expect(page.locator("#diff ins")).to_be_visible()
    yield "turn"
    page.goto(f"{base}/conversation?item=c1&part=passages")
    yield "passages"
    (site.project.folder / "fails").touch()
    keys(page, "a", "And?", "Enter")
    expect(page.get_by_role("button", name="Try again")).to_be_visible()
    yield "failed"
    (site.project.folder / "fails").unlink()
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("#answer")).to_be_visible()
    keys(page, "y", "x", "w", "f", "o", "1", "Escape")
    expect(page.locator("[data-do=send]")).to_be_enabled()
    keys(page, "v")
    expect(page.get_by_role("button", name="Take back from review")).to_be_visible()
    yield "sent"
    said = [
        Event("d", "label", "c1", "decision", "1", "reject"),
        Event("w", "label", "c1", "reason", "1", "Add the decks <b>5</b>."),
        Event("v", "label", "c1", "verdict", value="rejected"),
    ]
    site.database.append("rev", said)
    page.reload()
    expect(page.locator(".returned")).to_contain_text("A reviewer stated: rejected.")
    expect(page.locator(".meta")).to_contain_text(["reject: Add the decks <b>5</b>."])
    yield "returned"


@pytest.mark.parametrize("seen", list(product([390, 1280], ["light", "dark"])))
def test_every_state_is_accessible_and_fits(
    site: Site, address: str, browser: Any, seen: tuple[int, str], tmp_path: Path
) -> None:
    """No violation, no sideways scrolling, no request to elsewhere, no script of a text."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(
        viewport={"width": seen[0], "height": 900}, color_scheme=seen[1], bypass_csp=True
    )
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    for state in pages_seen(site, page, address):
        page.screenshot(path=tmp_path / f"{state}.png")
        page.evaluate(axe)
        found = page.evaluate("axe.run()")["violations"]
        assert [(state, one["id"], one["nodes"][0]["html"]) for one in found] == []
        scrolled = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert (state, page.evaluate(scrolled) <= 0) == (state, True)
        assert page.title() != "owned"
    assert all(url.startswith((address.partition("/?")[0], "data:")) for url in asked)
    context.close()
