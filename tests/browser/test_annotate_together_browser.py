"""Two people and a phone at once, on SQLite and PostgreSQL: each task from first to last key."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from tests.fakes.annotation_team import PHONE, Team, labels_of, printed, written_project
from tests.fakes.conversation_project import conversation_project

from ragstone.annotation.conversation import conversation
from ragstone.annotation.database import Database
from ragstone.annotation.disagreements import final_labels
from ragstone.annotation.project import Project

TASKS: Final = ("labels", "support", "ratings", "pairwise", "causes", "validation")
# By language "a_3" is before "B-1", and "é" before "z"; by bytes they are after it.
ITEM_IDS: Final = ("a_3", "B-1", "é", "z 2")
ANSWERS: Final = (
    {"system": "bm25", "setting": "retrieved(3)", "answer": "At six."},
    {"system": "Dense", "answer": "At seven."},
)
PARTS: Final = {"At six.": "bm25 · retrieved(3)", "At seven.": "Dense"}
STANDING: Final = """() => {
  const desk = document.querySelector(".desk"), now = desk.querySelector(".unit.now");
  const text = (one) => one?.querySelector("p")?.textContent ?? "";
  return {
    item: desk.dataset.item, field: now?.dataset.field, kind: now?.dataset.kind,
    about: text(desk.querySelector(".shown.now")), left: text(desk.querySelector(".shown")),
  };
}"""
"""Where a page is: item, question, the answer that is asked about, the answer on the left."""


@pytest.fixture(params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Return a function that gives the address of an empty database, in turn of each kind."""
    made = iter(range(10))
    if request.param == "sqlite":
        return lambda: f"sqlite:///{tmp_path / f'{next(made)}.db'}"
    server = request.getfixturevalue("postgres")
    name = tmp_path.name.replace("-", "_")
    return lambda: str(server.new_database(f"{name}_{next(made)}"))


def expect(what: Any) -> Any:
    """Return Playwright's assertions about a locator."""
    from playwright.sync_api import expect as expected

    expected.set_options(timeout=20_000)
    return expected(what)


def saved(page: Any) -> None:
    """Wait until the server has confirmed every event."""
    expect(page.locator("#saved")).to_contain_text(", 0 waiting")


class Person:
    """A person who labels in a browser, with keys or with fingers."""

    def __init__(self, team: Team, name: str, given: dict[Any, Any], *, phone: bool) -> None:
        self.name, self.given, self.phone = name, given, phone
        self.scheme = team.project.scheme
        self.page = team.page(name, PHONE) if phone else team.page(name)
        # The next items are in the browser before a connection is lost.
        self.page.wait_for_load_state("networkidle")

    def label_item(self) -> None:
        """Answer every question of the item that is shown; the next one follows."""
        item = self.page.evaluate(STANDING)["item"]
        assert item in ITEM_IDS
        for _ in range(self.page.locator(".unit").count()):
            found = self.page.evaluate(STANDING)
            if found["kind"] == "text":
                self._write(found)
                break
            self._choose(found)
        expect(self.page.locator(".desk")).not_to_have_attribute("data-item", item)

    def _choose(self, found: dict[str, Any]) -> None:
        question = self.scheme.question(found["field"])
        assert question is not None
        part = PARTS[found["about"]] if question.of == "answer" else ""
        # All say the same about an item, but for what the phone says about one of them.
        odd = 2 * (self.phone and found["item"] == "é")
        place = (ITEM_IDS.index(found["item"]) + (part == "Dense") + odd) % len(
            question.options[:4]
        )
        value = question.options[place].value
        if question.of == "pair":
            value, place = self._side(found["left"], odd=bool(odd))
        self.given[self.name, found["item"], found["field"], part] = value
        key = list(question.keys)[place]
        if self.phone:
            self.page.locator(f'.unit.now [data-key="{key}"]').tap()
        else:
            self.page.keyboard.press(key)

    @staticmethod
    def _side(left: str, *, odd: bool) -> tuple[str, int]:
        """Return the value and the place of the button for the answer of bm25, or the other one."""
        wanted = "At seven." if odd else "At six."
        return ("b" if odd else "a"), (0 if left == wanted else 2)

    def _write(self, found: dict[str, Any]) -> None:
        """Repair the text of one item, and store it."""
        area = self.page.locator(".unit.now textarea")
        if found["item"] == "B-1":
            text = f"When does it sail? ({self.name})"
            self.given[self.name, found["item"], found["field"], ""] = text
            if self.phone:
                area.fill(text)
            else:
                for key in ("e", "Control+a"):
                    self.page.keyboard.press(key)
                self.page.keyboard.type(text)
        if self.phone:
            self.page.locator("[data-do=store]").tap()
        else:
            self.page.keyboard.press("Control+Enter")


def items_of(task: str) -> list[dict[str, Any]]:
    """Return four items of a task."""
    count = {"ratings": 2, "pairwise": 2, "causes": 1}.get(task, 0)
    return [
        {
            "item_id": name,
            "query": f"When does the ferry {name} sail?",
            "gold_answers": ["at six"],
            "passages": [{"passage_id": f"p {name}", "title": "Times", "text": "It is at six."}],
            "answers": ANSWERS[:count],
        }
        for name in ITEM_IDS
    ]


@pytest.mark.parametrize(
    ("task", "new_database"),
    # Half of the tasks on each: what they do with a database is the same.
    [(task, ("sqlite", "postgresql")[place % 2]) for place, task in enumerate(TASKS)],
    indirect=["new_database"],
)
def test_three_people_do_a_task_from_first_to_last_key(
    task: str, new_database: Callable[[], str], tmp_path: Path, browser: Any
) -> None:
    """One loses the connection, the server is killed; the labels are those that were given."""
    folder = written_project(tmp_path / task, items_of(task), task=task, people_per_item=3)
    roles: Any = {"ann": "annotator", "ben": "annotator", "cat": "annotator", "olga": "owner"}
    team = Team(folder, new_database(), browser, roles)
    try:
        given = labelled(team)
        assert team.labels() == given
        olga = team.page("olga")
        adjudicated(team, olga)
        figures_are_equal(team, olga, tmp_path)
        read_back(team, [f"sqlite:///{tmp_path / 'again.db'}", new_database()], tmp_path)
        assert team.told == []
    finally:
        team.close()


def labelled(team: Team) -> dict[Any, Any]:
    """Let all three label all items, and return what they said."""
    given: dict[Any, Any] = {}
    ann, ben, cat = (Person(team, n, given, phone=n == "cat") for n in ("ann", "ben", "cat"))
    for one in (ann, ben, cat):
        one.label_item()
    for one in (ann, ben, cat):
        saved(one.page)
        one.page.wait_for_load_state("networkidle")
    ben.page.context.set_offline(True)
    for one in (ann, ben, cat):
        one.label_item()
    expect(ben.page.locator("#saved")).to_contain_text("Not connected")
    for one in (ann, cat):
        saved(one.page)
        one.page.wait_for_load_state("networkidle")
    team.server.kill()
    for one in (ann, cat):
        one.label_item()
        expect(one.page.locator("#saved")).to_contain_text("Not connected")
    ben.page.context.set_offline(False)
    team.restart()
    ben.label_item()
    for one in (ann, ben, cat):
        saved(one.page)
        one.label_item()
    for one in (ann, ben, cat):
        end = one.page.locator(".said-text")
        expect(end).to_have_text("Nothing is left for you. Thank you.")
        saved(one.page)
    return given


def adjudicated(team: Team, olga: Any) -> None:
    """Let the owner decide the first disagreement; the labels of the people stay."""
    before = team.labels()
    olga.goto(f"{team.server.address}/disagreements")
    queue = olga.locator("#queue")
    expect(queue).to_contain_text("0 of ")
    item = olga.locator(".desk").get_attribute("data-item")
    olga.keyboard.press("1")
    expect(queue).to_contain_text("1 of ")
    database = Database.of(team.project, team.database)
    found = final_labels(team.project, database)
    database.close()
    assert [place[0] for place, one in found.items() if one.how == "adjudicated"] == [item]
    assert {place: value for place, value in team.labels().items() if place in before} == before


def figures_are_equal(team: Team, olga: Any, folder: Path) -> None:
    """The page, `annotate agreement` and `data ratings` on the export have the same figures."""
    olga.goto(f"{team.server.address}/progress")
    expect(olga.locator("h1")).to_contain_text("4 of 4 items have 3 labels; alpha ")
    shown = olga.request.get(f"{team.server.address}/progress.json").json()
    project = str(team.project.folder)
    told = printed("annotate", "agreement", project, database=team.database)["questions"]
    out = folder / "labels.jsonl"
    made = printed("annotate", "export", project, "-o", str(out), database=team.database)
    assert made["digest"]
    reported = printed("data", "ratings", str(out))["properties"]
    assert [one["question"] for one in shown["questions"]] == [one["question"] for one in told]
    texts = {one.name for one in team.project.scheme.questions if one.kind == "text"}
    assert {one["question"] for one in told} == reported.keys() - texts
    for page, command in zip(shown["questions"], told, strict=True):
        agreement, report = command["agreement"], reported[command["question"]]
        assert page["alpha"] == agreement["alpha"]
        assert agreement["alpha"]["value"] == report["alpha"]
        assert (agreement["alpha"]["interval"] or []) == (report["alpha_interval"] or [])
        assert agreement["n"] == report["n"]
        kappas = [(one["a"], one["b"], one["kappa"]["value"]) for one in agreement["pairwise"]]
        assert kappas == [(one["a"], one["b"], one["kappa"]) for one in report["pairwise"]]
    asked = olga.request.get(f"{team.server.address}/export.jsonl")
    assert asked.body() == out.read_bytes()


def read_back(team: Team, databases: list[str], folder: Path) -> None:
    """The export, imported into new projects of both databases, has the labels and one digest."""
    written, digests = folder / "labels.jsonl", set[str]()
    wanted = untimed(written)
    for number, database in enumerate(databases):
        again = folder / f"again{number}"
        settings = json.loads((team.project.folder / "project.yaml").read_text())
        written_project(again, items_of(settings["task"]), **settings)
        counts = printed("annotate", "import", str(again), str(written), database=database)
        assert (counts["kept"], counts["known"], counts["others"]) == (len(wanted), 0, 0)
        mine = {place: value for place, value in team.labels().items() if place[0] != "olga"}
        found = labels_of(again, database)
        assert {place: value for place, value in found.items() if place[0] != "olga"} == mine
        for form in ("ratings", "qrels")[: 1 + (settings["task"] in ("labels", "support"))]:
            out = again / f"out.{form}"
            line = ("annotate", "export", str(again), "-o", str(out), "--as", form, "--no-names")
            digests.add(f"{form} {printed(*line, database=database)['digest']}")
        named = again / "named.jsonl"
        printed("annotate", "export", str(again), "-o", str(named), database=database)
        assert untimed(named) == wanted
    assert len(digests) == len({one.partition(" ")[0] for one in digests})


def untimed(path: Path) -> list[dict[str, Any]]:
    """Return the rows of an export without the times at which labels were received."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [{name: value for name, value in one.items() if name != "time"} for one in rows]


def press(page: Any, *pressed: str) -> None:
    """Press keys one after the other; a text of several letters is typed."""
    for one in pressed:
        if len(one) == 1 or one in ("Enter", "Escape", "Control+a"):
            page.keyboard.press(one)
        else:
            page.keyboard.type(one)


def test_conversations_are_written_reviewed_returned_and_accepted(
    new_database: Callable[[], str], tmp_path: Path, browser: Any
) -> None:
    """Ann writes at a desk, cat on a phone, ben reviews; the export is read back equal."""
    folder = conversation_project(tmp_path / "talks")
    roles: Any = {"ann": "annotator", "ben": "reviewer", "cat": "annotator", "olga": "owner"}
    team = Team(folder, new_database(), browser, roles)
    try:
        ann, cat = team.page("ann"), team.page("cat", PHONE)
        written_by_keys(team, ann, cat)
        on_a_phone(cat)
        ben = team.page("ben")
        reviewed(team, ann, ben)
        mtrag_read_back(team, [f"sqlite:///{tmp_path / 'again.db'}", new_database()], tmp_path)
        assert team.told == []
    finally:
        team.close()


def written_by_keys(team: Team, ann: Any, cat: Any) -> None:
    """Two turns by keys; the server is killed between them, the second one is marked offline."""
    press(ann, "a", "Enter")
    expect(ann.locator("#answer")).to_be_visible()
    expect(cat.locator("details p b").first).to_have_text("Ask about pets.")
    press(ann, "y", "x", "q", "o", "1", "Escape", "s")
    expect(ann.locator("#asked")).to_have_text("Turn 1 is complete.")
    saved(ann)
    team.server.kill()
    press(ann, "a", "Which lines carry bicycles?", "Enter")
    expect(ann.locator("#asked")).to_contain_text("The server does not respond")
    expect(ann.locator("#next")).to_have_value("Which lines carry bicycles?")
    team.restart()
    press(ann, "Enter")
    expect(ann.locator(".now .you")).to_have_text("Which lines carry bicycles?")
    expect(ann.locator("#answer")).to_be_visible()
    ann.context.set_offline(True)
    press(ann, "y", "x", "w", "f", "o", "1", "Escape")
    expect(ann.locator("#saved")).to_contain_text("Not connected")
    ann.context.set_offline(False)
    saved(ann)
    expect(ann.locator("[data-do=send]")).to_be_enabled()
    press(ann, "v")
    expect(ann.locator("#asked")).to_have_text("The conversation is sent to review.")


def on_a_phone(cat: Any) -> None:
    """A first turn with fingers: the query, the marks on the other half of the page, a label."""
    cat.locator("#next").tap()
    cat.keyboard.type("May my dog come along?")
    cat.get_by_role("button", name="Ask").tap()
    expect(cat.locator(".now .you")).to_have_text("May my dog come along?")
    expect(cat.locator("#answer")).to_be_visible()
    cat.locator(".switch [data-to=shelf]").tap()
    for one in cat.locator(".passage").all():
        one.get_by_role("button", name="Not relevant").tap()
    expect(cat.get_by_role("button", name="Passages · all marked")).to_be_visible()
    cat.locator(".switch [data-to=talk]").tap()
    cat.locator("[data-field=answerability] [data-key=r]").tap()
    saved(cat)


def reviewed(team: Team, ann: Any, ben: Any) -> None:
    """Ben rejects a turn and returns the conversation; ann changes it; ben accepts it."""
    address = f"{team.server.address}/review?item=c1"
    ben.goto(address)
    press(ben, "1")
    expect(ben.locator(".now .done")).to_have_text("accepted")
    press(ben, "j")
    expect(ben.locator(".now .you")).to_have_text("Which lines carry bicycles?")
    press(ben, "3", "The price is missing.", "Enter")
    expect(ben.locator(".now .done")).to_have_text("rejected")
    ben.locator("#why").fill("Turn 2 lacks the price.")
    ben.get_by_role("button", name="Return to the writer").click()
    ben.wait_for_url("**/review*")
    saved(ben)
    ann.goto(f"{team.server.address}/")
    expect(ann.locator(".returned")).to_contain_text("Turn 2 lacks the price.")
    press(ann, "e", "Control+a", "All lines do; a bicycle costs 6.00.", "Escape")
    saved(ann)
    expect(ann.locator("[data-do=send]")).to_be_enabled()
    press(ann, "v")
    expect(ann.locator("#asked")).to_have_text("The conversation is sent to review.")
    ben.goto(f"{address}&turn=2")
    expect(ben.locator(".now .done")).to_have_count(0)
    press(ben, "1")
    expect(ben.locator(".now .done")).to_have_text("accepted")
    ben.get_by_role("button", name="Accept the conversation").click()
    ben.wait_for_url(lambda url: "item=c1" not in url)
    saved(ben)


def mtrag_read_back(team: Team, databases: list[str], folder: Path) -> None:
    """The accepted conversation, exported and imported for review again, has the same turns."""
    wanted = turns_of(team.project, team.database, "c1")
    assert [one[1] for one in wanted][1] == "All lines do; a bicycle costs 6.00."
    exported = folder / "talks.json"
    line = ("annotate", "export", str(team.project.folder), "-o", str(exported), "--as", "mtrag")
    digests = {printed(*line, database=team.database)["digest"]}
    for number, database in enumerate(databases):
        again = folder / f"again{number}"
        found = made_of(exported, again, database)
        (item_id,) = found.items
        assert turns_of(found, database, item_id) == wanted
        out = again / "talks.json"
        line = ("annotate", "export", str(again), "-o", str(out), "--as", "mtrag")
        digests.add(printed(*line, "--all", database=database)["digest"])
    assert len(digests) == 2


def made_of(exported: Path, folder: Path, database: str) -> Project:
    """Return the project that `ragstone annotate` makes of exported conversations."""
    from ragstone.annotation.conversation_import import conversation_items, keep_conversations

    imported = conversation_items(exported)
    rows = [{"item_id": one.item_id, "query": one.query.text} for one in imported.items]
    project = Project.open(written_project(folder, rows, task="conversation"))
    opened = Database.of(project, database)
    keep_conversations(opened, imported)
    opened.close()
    return project


def turns_of(project: Project, database: str, item_id: str) -> list[Any]:
    """Return query, final answer, marks and labels of the turns of a conversation."""
    opened = Database.of(project, database)
    try:
        found = conversation(opened, item_id).turns
    finally:
        opened.close()
    return [
        (one.query, one.final_answer, dict(one.relevance), dict(one.labels), one.answer)
        for one in found
    ]
