"""The page of labels in a browser: every task by keys, phones, lost connections, suggestions."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.labelled_project import made_site as any_site
from tests.fakes.labelled_project import plain_items
from tests.fakes.served_project import port_of, served_site

from ragstone.annotation.events import Event
from ragstone.annotation.project import Project
from ragstone.annotation.site import Site

HOSTILE = "<script>document.title = 'owned'</script>"
RIGHT_TO_LEFT = "ما هي شروط نقل الكلاب على متن العبارة؟"
ANSWERS = [
    {"system": "bm25", "setting": "retrieved(3)", "answer": "At six."},
    {"system": "dense", "answer": "At seven."},
]
TASKS = ("labels", "support", "ratings", "pairwise", "nuggets", "causes", "validation")


def items(count: int, task: str) -> list[dict[str, Any]]:
    """Return items of a task; the second one has hostile and right-to-left texts."""
    found = plain_items(count)
    for one in found:
        if task in ("ratings", "pairwise"):
            one["answers"] = ANSWERS
        if task in ("causes", "nuggets"):
            one["answers"] = ANSWERS[:1]
        if task == "nuggets":
            one["parts"] = ["It sails at six."]
    if count > 1:
        text = f"{HOSTILE} \x00\x07 {'Longwordwithoutaspace' * 30} {RIGHT_TO_LEFT}"
        found[1] |= {
            "query": RIGHT_TO_LEFT,
            "gold_answers": [HOSTILE],
            "passages": [{"passage_id": HOSTILE, "title": HOSTILE, "text": text}],
            "history": [{"role": "user", "text": HOSTILE}],
        }
    return found


def made_site(folder: Path, found: Any, **settings: Any) -> Any:
    """Make a project whose items come in the order of the file."""
    return any_site(folder, found, order="file", **settings)


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Yield a page that must not complain."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    made, told = context.new_page(), []
    made.on("pageerror", lambda error: told.append(str(error)))
    yield made
    context.close()
    assert told == []


def expect(what: Any) -> Any:
    """Return Playwright's assertions about a locator."""
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=20_000)
    return expected(what)


def saved(page: Any) -> None:
    """Wait until the server has confirmed every event."""
    from re import compile as pattern

    expect(page.locator("#saved")).to_have_text(pattern(r"^Saved .* 0 waiting$"))


def type_keys(page: Any, keys: str) -> None:
    """Press keys; before each first key of an item, wait until the item is there."""
    for key in keys.split():
        page.keyboard.press(key)


def labels(site: Site) -> list[tuple[Any, ...]]:
    """Return the labels that count: item, question, part, value, when a suggestion was shown."""
    kept = site.database.labels()
    return [(one.item_id, one.field, one.part, one.value, one.shown) for one in kept]


def at(page: Any, item_id: str) -> None:
    """Wait until an item is shown."""
    expect(page.locator(".desk")).to_have_attribute("data-item", item_id)


@pytest.mark.parametrize("task", ["labels", "support", "causes"])
def test_one_key_stores_an_item_and_shows_the_next(task: str, tmp_path: Path, page: Any) -> None:
    """60 items need 60 keys; each label has its time; then there is nothing left to do."""
    count = 60 if task == "support" else 4
    with made_site(tmp_path, items(count, task), task=task) as (site, _), served_site(site) as to:
        page.goto(to)
        for number in range(count):
            at(page, f"q{number}")
            page.keyboard.press("2")
        expect(page.locator(".said-text")).to_have_text("Nothing is left for you. Thank you.")
        saved(page)
        field = site.project.scheme.questions[0]
        assert [one[1:] for one in labels(site)] == [
            (field.name, "", field.options[1].value, "never")
        ] * count
        kinds = [one.event.kind for one in site.database.events()]
        assert (kinds.count("label"), kinds.count("open")) == (count, count)
        assert all(one.seconds is not None for one in site.database.labels())
        assert page.title() != "owned"


def test_ratings_of_all_answers_by_keys(tmp_path: Path, page: Any) -> None:
    """Each key rates one scale of one answer; the last one stores the item; U takes one back."""
    made = made_site(tmp_path, items(2, "ratings"), task="ratings")
    with made as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        assert "bm25" not in page.content()
        order = page.locator(".shown p").all_inner_texts()[:2]
        type_keys(page, "4 1 u 3 2 4 1 1 1")
        assert labels(site) == []
        page.keyboard.press("1")
        at(page, "q1")
        saved(page)
        first = "bm25 · retrieved(3)" if order[0] == "At six." else "dense"
        found = {(one[2] == first, one[1]): one[3] for one in labels(site)}
        scales = [one.name for one in site.project.scheme.questions]
        assert [found[True, name] for name in scales] == [4, 3, 2, 4]
        assert [found[False, name] for name in scales] == [1, 1, 1, 1]


def test_marks_that_are_not_stored_survive_a_reload(tmp_path: Path, page: Any) -> None:
    """A half-rated item is as it was."""
    made = made_site(tmp_path, items(2, "ratings"), task="ratings")
    with made as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        type_keys(page, "4 3")
        page.reload()
        expect(page.locator("[aria-pressed=true][data-value]")).to_have_count(2)
        type_keys(page, "1 1 1 1 1 1")
        at(page, "q1")
        saved(page)
        assert sorted(one[3] for one in labels(site)) == [1] * 6 + [3, 4]


def test_pairs_are_drawn_per_person_and_kept_by_their_place_in_the_file(
    tmp_path: Path, browser: Any
) -> None:
    """The same answer gets `a` from everybody, whatever side it was on."""
    with made_site(tmp_path, items(8, "pairwise"), task="pairwise", people_per_item=2) as made:
        site = made[0]
        sides: dict[str, list[str]] = {}
        for name in ("ann", "bob"):
            own = Site(site.project, site.database, name=name)
            context = browser.new_context()
            page = context.new_page()
            with served_site(own) as to:
                page.goto(to)
                for number in range(8):
                    at(page, f"q{number}")
                    left = page.locator(".shown p").first.inner_text()
                    sides.setdefault(name, []).append(left)
                    page.keyboard.press("1" if left == "At six." else "3")
                expect(page.locator(".said-text")).to_be_visible()
                saved(page)
            context.close()
        assert {one[3] for one in labels(site)} == {"a"}
        assert len(labels(site)) == 16
        assert sides["ann"] != sides["bob"]
        assert len(set(sides["ann"])) == 2


def test_validation_with_repaired_texts_by_keys(tmp_path: Path, page: Any) -> None:
    """A verdict and Enter; E edits a text, and Ctrl+Enter stores from within it."""
    made = made_site(tmp_path, plain_items(2), task="validation")
    with made as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        type_keys(page, "Enter")
        expect(page.locator("[data-tell]")).to_have_text("verdict has no label yet.")
        type_keys(page, "1 5 n n n e End ! Control+Enter")
        at(page, "q1")
        type_keys(page, "2 Enter")
        expect(page.locator(".said-text")).to_be_visible()
        saved(page)
        assert {one[:4] for one in labels(site)} == {
            ("q0", "verdict", "", "keep"),
            ("q0", "question_grounded", "", 5),
            ("q0", "query", "", "When does ferry 0 sail?!"),
            ("q1", "verdict", "", "reject"),
        }


def test_several_choices_by_keys(tmp_path: Path, page: Any) -> None:
    """Keys switch options on and off; Enter stores the list."""
    made = made_site(tmp_path, plain_items(2), task="labels", scheme="mtrag-question-types")
    with made as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        type_keys(page, "3 1 3 2 Enter")
        at(page, "q1")
        saved(page)
        question = site.project.scheme.questions[0]
        first = [one.value for one in question.options[:2]]
        assert [one[:4] for one in labels(site)] == [("q0", question.name, "", first)]


def test_a_label_that_is_undone_offline_is_undone_after_a_reload(tmp_path: Path, page: Any) -> None:
    """Both events wait; the item is open."""
    with made_site(tmp_path, 3) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        page.wait_for_load_state("networkidle")
        page.context.set_offline(True)
        type_keys(page, "1")
        at(page, "q1")
        type_keys(page, "u")
        at(page, "q0")
        page.context.set_offline(False)
        page.goto(to)
        at(page, "q0")
        expect(page.locator("[data-value][aria-pressed=true]")).to_have_count(0)
        saved(page)
        assert labels(site) == []


def test_undo_skip_comment_and_the_way_back(tmp_path: Path, page: Any) -> None:
    """U takes a label back and shows its item; S has a reason; K and J go through seen items."""
    with made_site(tmp_path, 5) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        type_keys(page, "1")
        at(page, "q1")
        type_keys(page, "2 u")
        at(page, "q1")
        expect(page.locator("[data-value][aria-pressed=true]")).to_have_count(0)
        type_keys(page, "3")
        at(page, "q2")
        type_keys(page, "s 3")
        at(page, "q3")
        type_keys(page, "?")
        expect(page.locator("dialog[open] h2")).to_have_text("Keys")
        type_keys(page, "Escape g")
        expect(page.locator("dialog[open] p")).to_contain_text("support by itself")
        type_keys(page, "Escape m h i Control+Enter")
        type_keys(page, "k")
        at(page, "q2")
        type_keys(page, "k k")
        at(page, "q0")
        expect(page.locator("[data-value][aria-pressed=true]")).to_have_text(
            "1Yesthe passage has the whole answer"
        )
        type_keys(page, "4")
        at(page, "q3")
        saved(page)
        assert [one[:4] for one in labels(site)] == [
            ("q0", "support", "", "cannot tell"),
            ("q1", "support", "", "no"),
            ("q2", "skipped", "", "I do not know the subject."),
        ]
        kept = [one.event for one in site.database.events(kinds=("comment", "undo"))]
        assert [(one.kind, one.item_id) for one in kept] == [("undo", "q1"), ("comment", "q3")]
        assert kept[1].value == "hi"
        type_keys(page, "u")
        at(page, "q2")
        saved(page)
        assert "q2" not in [one[0] for one in labels(site)]


def test_the_way_back_and_forward_does_not_stop_the_next_items(tmp_path: Path, page: Any) -> None:
    """After items that were seen before, the browser still asks for the ones after them."""
    with (
        made_site(tmp_path, items(9, "support"), task="support") as (site, _),
        served_site(site) as to,
    ):
        page.goto(to)
        expect(page.locator("#saved")).to_have_text("Saved · 1 event, 0 waiting")
        for number in range(3):
            at(page, f"q{number}")
            page.keyboard.press("1")
        at(page, "q3")
        for key, number in (("k", 2), ("j", 3), ("u", 2)):
            page.keyboard.press(key)
            at(page, f"q{number}")
        for number in range(2, 9):
            at(page, f"q{number}")
            page.keyboard.press("2")
        expect(page.locator(".said-text")).to_have_text("Nothing is left for you. Thank you.")
        saved(page)
        assert [one[3] for one in labels(site)] == ["yes"] * 2 + ["partly"] * 7


def test_marks_of_gold_answers_can_be_switched_off(tmp_path: Path, page: Any) -> None:
    """The setting is kept in the browser, and each open event has it."""
    with made_site(tmp_path, 3) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        assert page.locator("mark").inner_text() == "at six"
        type_keys(page, "b")
        page.reload()
        expect(page.locator("body")).to_have_class("annotate plain")
        type_keys(page, "1")
        at(page, "q1")
        saved(page)
        opened = [one.event.value for one in site.database.events(kinds=("open",))]
        assert opened == [{"marks": True}, *[{"marks": False}] * 3]


SUGGESTED = [{**one, "suggested": {"support": "partly"}} for one in plain_items(4)]


def test_suggestions_before(tmp_path: Path, page: Any) -> None:
    """The model's label is there at once; A takes it."""
    made = made_site(tmp_path, SUGGESTED, suggestions="before")
    with made as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        expect(page.locator(".model")).to_have_count(1)
        type_keys(page, "a")
        at(page, "q1")
        type_keys(page, "1")
        at(page, "q2")
        saved(page)
        assert [one[3:] for one in labels(site)] == [("partly", "before"), ("yes", "before")]


def test_suggestions_after(tmp_path: Path, page: Any) -> None:
    """Another label of the model is shown after your own, and may be taken or not."""
    made = made_site(tmp_path, SUGGESTED, suggestions="after")
    with made as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        type_keys(page, "2")
        at(page, "q1")
        expect(page.locator(".model")).to_have_count(0)
        type_keys(page, "1")
        expect(page.locator(".model")).to_have_count(1)
        at(page, "q1")
        type_keys(page, "Enter")
        at(page, "q2")
        type_keys(page, "1 a")
        at(page, "q3")
        saved(page)
        assert [one[3:] for one in labels(site)] == [
            ("partly", "after"), ("yes", "after"), ("partly", "before")
        ]  # fmt: skip


def test_suggestions_never_and_known_labels_are_not_sent(tmp_path: Path, page: Any) -> None:
    """Neither the page nor its plain data have them."""
    found = [{**one, "known": {"support": "cannot tell"}} for one in SUGGESTED]
    with made_site(tmp_path, found) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        assert "data-suggested" not in page.content()
        page.goto(to.partition("?")[0] + "label.json?item=q0")
        assert '"suggested": null' in page.content()
        assert '"known"' not in page.content()


def test_offline_and_back(tmp_path: Path, page: Any) -> None:
    """Labels wait in the browser, also over a reload; the two next items are there already."""
    with made_site(tmp_path, 6) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        saved(page)
        page.wait_for_load_state("networkidle")
        page.context.set_offline(True)
        type_keys(page, "1")
        at(page, "q1")
        type_keys(page, "2")
        at(page, "q2")
        type_keys(page, "3")
        expect(page.locator("[data-tell]")).to_contain_text("The label is kept.")
        expect(page.locator("#saved")).to_contain_text("Not connected")
        assert labels(site) == []
        with pytest.raises(Exception, match="ERR_INTERNET_DISCONNECTED"):
            page.reload()
        page.context.set_offline(False)
        page.goto(to)
        saved(page)
        assert [one[3] for one in labels(site)] == ["yes", "partly", "no"]
        at(page, "q3")


def test_a_page_that_waits_for_an_item_goes_on_by_itself(tmp_path: Path, page: Any) -> None:
    """The connection is back: the next item is shown."""
    with made_site(tmp_path, 6) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        page.wait_for_load_state("networkidle")
        page.context.set_offline(True)
        type_keys(page, "1 1 1")
        expect(page.locator("[data-tell]")).to_contain_text("The label is kept.")
        page.context.set_offline(False)
        at(page, "q3")
        saved(page)
        assert len(labels(site)) == 3


def test_a_killed_server_loses_nothing(tmp_path: Path, page: Any) -> None:
    """It is started again on the same port; the session and the waiting labels go on."""
    with made_site(tmp_path, 6):
        pass
    code = "from ragstone.cli import main; main()"
    command = [sys.executable, "-c", code, "annotate", str(tmp_path), "--no-browser"]

    def start(port: int) -> tuple[subprocess.Popen[str], str]:
        made = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.PIPE, text=True)
        assert made.stdout is not None
        return made, made.stdout.readline().strip()

    server, to = start(0)
    try:
        page.goto(to)
        at(page, "q0")
        page.keyboard.press("1")
        at(page, "q1")
        saved(page)
        page.wait_for_load_state("networkidle")
        server.send_signal(signal.SIGKILL)
        server.communicate()
        page.keyboard.press("2")
        at(page, "q2")
        expect(page.locator("#saved")).to_contain_text("Not connected")
        server, _ = start(port_of(to))
        saved(page)
        page.keyboard.press("3")
        at(page, "q3")
        saved(page)
        with made_site_again(tmp_path) as site:
            assert [one[3] for one in labels(site)] == ["yes", "partly", "no"]
    finally:
        server.kill()
        server.communicate()


def made_site_again(folder: Path) -> Any:
    """Open a project that exists, for reading."""
    from contextlib import contextmanager

    from ragstone.annotation.database import Database

    @contextmanager
    def opened() -> Iterator[Site]:
        database = Database.open(f"sqlite:///{folder / 'annotation.db'}", "ferry")
        yield Site(Project.open(folder), database)
        database.close()

    return opened()


def test_two_tabs_and_a_withdrawn_item(tmp_path: Path, page: Any) -> None:
    """A label of the other tab moves this one on; a withdrawn item says so."""
    with made_site(tmp_path, 4) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        other = page.context.new_page()
        other.goto(to)
        at(other, "q0")
        other.keyboard.press("1")
        at(other, "q1")
        at(page, "q1")
        expect(page.locator("[data-tell]")).to_contain_text("in another tab")
        saved(other)
        assert len(labels(site)) == 1
        page.wait_for_load_state("networkidle")
        site.database.append("owner", [Event("w", "withdraw", "q2", value="a duplicate")])
        # The tabs share the outbox: here the other tab alone reaches the server.
        page.route("**/events*", lambda route: route.abort())
        page.keyboard.press("1")
        at(page, "q3")
        page.unroute("**/events*")
        expect(page.locator("[data-tell]")).to_contain_text("withdrew the item before: a duplicate")
        saved(page)
        site.database.append("owner", [Event("v", "withdraw", "q3", value="a duplicate")])
        page.keyboard.press("2")
        expect(page.locator("[data-refused]")).to_contain_text("the item 'q3' was withdrawn")
        expect(page.locator("[data-refused]")).to_contain_text("It was: partly")
        page.get_by_text("Forget these").click()
        expect(page.locator("[data-refused]")).to_be_hidden()
        expect(page.locator("[data-where]")).to_have_text("1 of 4")
        page.goto(to.partition("?")[0] + "label?item=q3")
        expect(page.locator(".said-text")).to_have_text("The item 'q3' was withdrawn.")
        page.goto(to.partition("?")[0] + "label?item=q99")
        expect(page.locator(".said-text")).to_have_text("There is no item 'q99'.")
        site.database.append("owner", [Event("x", "undo", "q3", value="v")])
        page.goto(to.partition("?")[0] + "label?item=q3")
        page.keyboard.press("1")
        expect(page.locator(".said-text")).to_have_text("Nothing is left for you. Thank you.")
        expect(page.locator("[data-where]")).to_have_text("3 of 3")
        saved(page)
        assert [one[0] for one in labels(site)] == ["q0", "q1", "q3"]


def test_a_full_browser_takes_no_label(tmp_path: Path, page: Any) -> None:
    """The page says so, and the item stays."""
    with made_site(tmp_path, 3) as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        saved(page)
        page.evaluate(
            "for (let size = 4e6; size >= 1; size /= 2) try {"
            " for (;;) localStorage.setItem('full' + Math.random(), 'x'.repeat(size)); } catch {}"
        )
        page.keyboard.press("1")
        expect(page.locator("[data-said]")).to_contain_text("no room")
        at(page, "q0")
        assert labels(site) == []


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_and_fits(task: str, scheme: str, tmp_path: Path, browser: Any) -> None:
    """No violation, no sideways scrolling, and at most a third of a phone is covered."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    made = made_site(tmp_path, items(3, task), task=task)
    with made as (site, _), served_site(site) as to:
        for width, height in ((1280, 800), (390, 844), (320, 640)):
            context = browser.new_context(
                viewport={"width": width, "height": height},
                color_scheme=scheme,
                bypass_csp=True,
                has_touch=width < 1280,
            )
            page = context.new_page()
            page.goto(to)
            for number in range(2):
                page.goto(f"{to.partition('?')[0]}label?item=q{number}")
                if width > 320:
                    page.evaluate(axe)
                found = page.evaluate("axe.run()")["violations"] if width > 320 else []
                assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
                assert page.evaluate(
                    "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
                )
            if width < 1280:
                panel = page.locator(".panel").bounding_box()
                assert panel["height"] <= height / 3
                sizes = page.evaluate(
                    "[...document.querySelectorAll('.panel button')].filter((one) => one."
                    "offsetParent).map((one) => one.getBoundingClientRect().height)"
                )
                assert min(sizes) >= 40
            assert page.title() != "owned"
            context.close()


def test_dialogs_and_the_end_are_accessible(tmp_path: Path, browser: Any) -> None:
    """No violation in a dialog, with a suggestion that differs, and if nothing is left."""
    axe = (resources.files("axe_core_python") / "axe.min.js").read_text(encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 844}, bypass_csp=True)
    page = context.new_page()
    made = made_site(tmp_path, SUGGESTED[:1], suggestions="after")
    with made as (site, _), served_site(site) as to:
        page.goto(to)
        at(page, "q0")
        page.evaluate(axe)
        for keys in ("s", "Escape g", "Escape m", "Escape 1", "Enter"):
            type_keys(page, keys)
            assert page.evaluate("axe.run()")["violations"] == []
        expect(page.locator(".said-text")).to_be_visible()
        assert page.evaluate("axe.run()")["violations"] == []
    context.close()


def test_a_phone_by_touch(tmp_path: Path, browser: Any) -> None:
    """A tap stores the label and shows the next item; undo is a button."""
    with made_site(tmp_path, items(3, "ratings"), task="ratings") as (site, _):
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True)
        page = context.new_page()
        with served_site(site) as to:
            page.goto(to)
            at(page, "q0")
            for number in range(8):
                expect(page.locator(".unit:visible .of")).to_have_text(f"{number + 1} of 8")
                page.locator(".unit:visible [data-key='3']").tap()
            at(page, "q1")
            page.locator("[data-do=undo]").tap()
            at(page, "q0")
            saved(page)
            assert labels(site) == []
        context.close()


def test_a_project_without_items(tmp_path: Path, page: Any) -> None:
    """The page says how items are made."""
    with made_site(tmp_path, []) as (site, _), served_site(site) as to:
        page.goto(to)
        expect(page.locator(".said-text")).to_have_text("This project has no items.")
