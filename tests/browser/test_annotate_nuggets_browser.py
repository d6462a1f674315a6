"""Nuggets in a browser: marked, written, split, joined, removed and labelled; by touch, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.browser.test_annotate_label_browser import (
    at,
    expect,
    labels,
    made_site,
    page,
    saved,
    type_keys,
)
from tests.fakes.served_project import served_site

from ragstone.annotation.site import Site

__all__ = ["page"]
ANSWER = "It sails at six. It sails from pier two, and dogs are free. Ask the crew."
ITEMS: list[dict[str, Any]] = [
    {
        "item_id": "q0",
        "query": "When does it sail?",
        "answers": [{"system": "bm25", "answer": ANSWER}],
        "passages": [{"passage_id": "p1", "title": "Times", "text": "At six. From pier two."}],
    },
    {
        "item_id": "q1",
        "query": "Where does it sail from?",
        "parts": ["From pier two.", "From there at six."],
        "passages": [{"passage_id": "p1", "text": "At six. From pier two."}],
    },
]


def texts(page: Any) -> list[str]:
    """Return the texts of the statements."""
    fields = page.locator(".statements textarea").all()
    return [one.input_value() for one in fields]


def given(site: Site) -> list[tuple[str, str, str, Any]]:
    """Return the labels with the numbers of statements in place of ids."""
    held = {one.item_id: one.value for one in site.database.labels() if one.field == "nugget"}
    names = {one["id"]: str(n) for held_one in held.values() for n, one in enumerate(held_one, 1)}
    return sorted(
        (item, field, names.get(part, part), value)
        for item, field, part, value, _ in labels(site)
        if field != "nugget"
    )


def test_from_the_first_to_the_last_key(tmp_path: Path, page: Any) -> None:
    """Take, split, edit, join, write, remove and undo; then each statement has its labels."""
    with made_site(tmp_path, ITEMS, task="nuggets") as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        type_keys(page, "Enter")
        expect(page.locator("[data-tell]")).to_have_text("nugget has no label yet.")
        type_keys(page, "t t t t")
        expect(page.locator("[data-tell]")).to_contain_text("There is no further sentence.")
        assert texts(page) == [
            "It sails at six.",
            "It sails from pier two, and dogs are free.",
            "Ask the crew.",
        ]
        # The third one goes and comes back; the second one is split before "and".
        type_keys(page, "ArrowDown ArrowDown x")
        assert len(texts(page)) == 2
        type_keys(page, "u x ArrowDown e")
        for _ in range(len(" and dogs are free.")):
            page.keyboard.press("ArrowLeft")
        type_keys(page, "Enter")
        assert texts(page)[1:] == ["It sails from pier two,", "and dogs are free."]
        type_keys(page, "Backspace")
        assert texts(page)[1:] == ["It sails from pier two, and dogs are free."]
        type_keys(page, "Enter Delete Delete Delete Delete Escape ArrowUp e Backspace . Escape")
        assert texts(page)[1:] == ["It sails from pier two.", "dogs are free."]
        page.keyboard.press("w")
        page.keyboard.type("The crew knows more.")
        type_keys(page, "Escape ArrowUp ArrowUp ArrowUp ArrowUp 1 1 1 2 2 1 2 3")
        page.reload()
        assert len(texts(page)) == 4
        page.keyboard.press("Enter")
        at(page, "q1")
        saved(page)
        assert given(site) == [
            ("q0", "importance", "1", "vital"),
            ("q0", "importance", "2", "vital"),
            ("q0", "importance", "3", "okay"),
            ("q0", "importance", "4", "okay"),
            ("q0", "supported", "1", "yes"),
            ("q0", "supported", "2", "partly"),
            ("q0", "supported", "3", "yes"),
            ("q0", "supported", "4", "no"),
        ]


def test_given_statements_keep_their_ids(tmp_path: Path, page: Any) -> None:
    """An edited one has the same id; one that was split is gone; what was stored can be changed."""
    with made_site(tmp_path, ITEMS[1:], task="nuggets") as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q1")
        assert texts(page) == ["From pier two.", "From there at six."]
        type_keys(page, "1 1 2 2 ArrowUp e Backspace ! Control+Enter")
        expect(page.locator(".said-text")).to_be_visible()
        saved(page)
        first = {"id": "part:1", "text": "From pier two!"}
        second = {"id": "part:2", "text": "From there at six."}
        assert [one[3] for one in labels(site) if one[1] == "nugget"] == [[first, second]]
        # The texts stay to be edited if the labels are taken back.
        page.keyboard.press("u")
        at(page, "q1")
        assert texts(page) == ["From pier two!", "From there at six."]
        type_keys(page, "ArrowDown e Home")
        for _ in range(len("From there")):
            page.keyboard.press("ArrowRight")
        page.locator("[data-do=split]:visible").click()
        assert texts(page)[1:] == ["From there", "at six."]
        type_keys(page, "Escape 1 Enter")
        expect(page.locator("[data-tell]")).to_have_text("importance has no label yet.")
        type_keys(page, "2 Enter")
        expect(page.locator(".said-text")).to_be_visible()
        saved(page)
        held = next(one[3] for one in labels(site) if one[1] == "nugget")
        assert [one["text"] for one in held] == ["From pier two!", "From there", "at six."]
        assert held[0]["id"] == "part:1"
        assert len({one["id"] for one in held} | {"part:2"}) == 4


def test_marked_text_of_a_passage(tmp_path: Path, page: Any) -> None:
    """Sentences are marked with Shift and arrows, other texts with a mouse; a text counts once."""
    with made_site(tmp_path, ITEMS[1:], task="nuggets") as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q1")
        type_keys(page, "Shift+ArrowRight Shift+ArrowRight t")
        page.locator(".read").dblclick(position={"x": 8, "y": 12})
        page.locator("[data-do=take]").click()
        assert texts(page)[2:] == ["At six. From pier two.", "At"]
        type_keys(page, "Shift+ArrowLeft Shift+ArrowRight t")
        expect(page.locator("[data-tell]")).to_have_text("This statement is in the list.")
        type_keys(page, "l")
        assert texts(page)[2:] == ["At six. From pier two.", "At"]


def test_a_phone_by_touch(tmp_path: Path, browser: Any) -> None:
    """Every act is a button; the panel shows one statement at a time."""
    with made_site(tmp_path, ITEMS, task="nuggets") as (site, _), served_site(site) as to:
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
        page = context.new_page()
        page.goto(to)
        at(page, "q0")
        page.locator("[data-do=take]").tap()
        page.locator("[data-do=take]").tap()
        expect(page.locator(".statement:visible")).to_have_count(1)
        for key in ("1", "2", "2", "1"):
            page.locator(f".unit.now [data-key='{key}']").tap()
        page.locator("[data-do=write]").tap()
        page.keyboard.type("Dogs are free.")
        page.locator("[data-do=remove]:visible").tap()
        assert page.locator(".panel").bounding_box()["height"] <= 844 / 3
        page.locator("[data-do=store]").tap()
        at(page, "q1")
        saved(page)
        assert [one[3] for one in given(site)] == ["vital", "okay", "partly", "yes"]
        context.close()


def test_no_answer_and_hostile_texts(tmp_path: Path, page: Any) -> None:
    """Texts stay texts; an answer that failed and an item without passages can be written about."""
    hostile = "<script>document.title = 'owned'</script> ' \" &amp; ما هي شروط"
    found = [{"item_id": "q0", "query": "Why?", "parts": [hostile], "answers": [{"system": "a"}]}]
    with made_site(tmp_path, found, task="nuggets") as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        type_keys(page, "t")
        expect(page.locator("[data-tell]")).to_contain_text("There is no further sentence.")
        type_keys(page, "1 1 Enter")
        expect(page.locator(".said-text")).to_be_visible()
        saved(page)
        assert [one[3] for one in labels(site) if one[1] == "nugget"] == [
            [{"id": "part:1", "text": hostile}]
        ]
        assert page.title() != "owned"
