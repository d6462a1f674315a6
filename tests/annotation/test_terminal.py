"""Tasks in a terminal: from first to last key, undone, skipped, resumed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.annotation.test_rating_export import PASSAGE, QUERY, A, B, project

from ragstone.annotation.database import Database
from ragstone.annotation.items import AnnotationItem, ShownAnswer
from ragstone.annotation.project import Project
from ragstone.annotation.schemes import TaskName
from ragstone.annotation.site import Site
from ragstone.annotation.terminal import TerminalPage
from ragstone.annotation.terminal_keys import END, ENTER
from ragstone.errors import ConfigError

PAIRS = [AnnotationItem(f"i{n}", QUERY, (PASSAGE,)) for n in range(3)]


class Script:
    """Keys and lines in the order in which a person would type them."""

    def __init__(self, *typed: str) -> None:
        self._typed = list(typed)

    def key(self) -> str:
        """Return the next key."""
        return self._typed.pop(0) if self._typed else END

    def line(self, prompt: str) -> str | None:
        """Return the next line."""
        assert prompt
        return self._typed.pop(0) if self._typed else None

    def close(self) -> None:
        """Do nothing."""


def typed(made: Project, database: Database, *keys: str, person: str = "ann") -> str:
    """Let a person type and return what the terminal showed."""
    shown: list[str] = []
    TerminalPage(Site(made, database), person, Script(*keys), shown.append, 70).run()
    return "".join(shown)


def labels(database: Database, person: str = "ann") -> list[tuple[str, str, str, Any]]:
    """Return item, field, part and value of the labels of a person."""
    return [(o.item_id, o.field, o.part, o.value) for o in database.labels(person=person)]


def in_order(tmp_path: Path, task: TaskName, *items: AnnotationItem) -> tuple[Project, Database]:
    """Return a project whose people get the items in the order of the file."""
    made, database = project(tmp_path, task, *items)
    text = (made.folder / "project.yaml").read_text() + "order: file\n"
    (made.folder / "project.yaml").write_text(text)
    return Project.open(made.folder), database


def test_digits_label_and_the_next_start_goes_on(tmp_path: Path) -> None:
    """A session that ends in the middle loses nothing."""
    made, database = in_order(tmp_path, "support", *PAIRS)
    shown = typed(made, database, "1", "q")
    assert "the passage has the whole answer" in shown
    assert "1 items labelled in this session." in shown

    shown = typed(made, database, "3", "2")
    assert labels(database) == [
        ("i0", "support", "", "yes"),
        ("i1", "support", "", "no"),
        ("i2", "support", "", "partly"),
    ]
    assert "No item is left for you." in shown
    events = list(database.events(kinds=("label",)))
    assert all(one.event.seconds is not None for one in events)


def test_undo_skip_comment_guidelines_and_other_keys(tmp_path: Path) -> None:
    """An undo leads back to its item, also that of an earlier session."""
    made, database = in_order(tmp_path, "support", *PAIRS)
    typed(made, database, "1")
    shown = typed(made, database, "u", "2", "s", "too long", "g", "m", "odd", "?", "x", "q")

    assert labels(database) == [
        ("i0", "support", "", "partly"),
        ("i1", "skipped", "", "too long"),
    ]
    for said in ("undone", "not support by itself", "write a comment", "no such key: x"):
        assert said in shown
    (comment,) = database.events(kinds=("comment",))
    assert (comment.event.item_id, comment.event.value) == ("i2", "odd")
    assert "nothing to undo" in typed(made, database, "u", "q", person="ben")


def test_every_answer_is_rated_without_its_name(tmp_path: Path) -> None:
    """The order is drawn per person; an answer of a failed system is not rated."""
    failed = ShownAnswer("c", "gold", None, "timeout")
    item = AnnotationItem("q1", QUERY, (PASSAGE,), (A, B, failed))
    made, database = in_order(tmp_path, "ratings", item)
    shown = typed(made, database, *"44332211")

    assert {(part, field) for _, field, part, _ in labels(database)} == {
        (part, one.name) for part in ("a · gold", "b · gold") for one in made.scheme.questions
    }
    assert "(no answer: timeout)" in shown
    assert "gold ·" not in shown
    assert "· gold" not in shown


@pytest.mark.parametrize("person", [f"person {n}" for n in range(6)])
def test_the_left_answer_is_the_first_one_shown(tmp_path: Path, person: str) -> None:
    """Whatever side it is on, `a` is the first answer of the item."""
    item = AnnotationItem("q1", QUERY, (), (A, B))
    made, database = in_order(tmp_path, "pairwise", item)
    shown = typed(made, database, "1", person=person)
    ((_, _, _, value),) = labels(database, person)

    first = shown.split("ANSWER 1\n")[1].split("\n")[0].strip()
    assert {"At six.": "a", "At 6.": "b"}[first] == value


def test_statements_are_written_and_labelled(tmp_path: Path) -> None:
    """Statements line by line, then importance of each; a question may be left out."""
    made, database = in_order(tmp_path, "nuggets", AnnotationItem("q1", QUERY, (), (A,)))
    shown = typed(made, database, ENTER, "It sails.", "At six.", "", "1", ENTER, "2", "3")

    assert labels(database) == [
        ("q1", "importance", "part:1", "vital"),
        ("q1", "importance", "part:2", "okay"),
        ("q1", "nugget", "", ["It sails.", "At six."]),
        ("q1", "supported", "part:2", "no"),
    ]
    assert "Statement 2, At six." in shown


def test_texts_are_repaired_and_several_options_chosen(tmp_path: Path) -> None:
    """`e` writes a text, Enter leaves it out; digits choose, Enter saves."""
    made, database = in_order(tmp_path, "validation", AnnotationItem("q1", QUERY, (PASSAGE,)))
    typed(made, database, "1", "5", ENTER, ENTER, ENTER, "e", "When, exactly?", ENTER)
    assert labels(database) == [
        ("q1", "query", "", "When, exactly?"),
        ("q1", "question_grounded", "", 5),
        ("q1", "verdict", "", "keep"),
    ]

    types = "mtrag-question-types"
    made, database = project(tmp_path / "t", "labels", AnnotationItem("q1", QUERY), scheme=types)
    typed(made, database, "1", "6", "3", "3", ENTER)
    assert labels(database) == [("q1", types, "", ["factoid", "opinion"])]


@pytest.mark.parametrize(
    ("mode", "before", "after"), [("never", 0, 0), ("before", 1, 0), ("after", 0, 1)]
)
def test_suggestions(tmp_path: Path, mode: str, before: int, after: int) -> None:
    """The model's label is shown as the project says, which is kept with the label."""
    item = AnnotationItem("q1", QUERY, (PASSAGE,), suggested={"support": "no"})
    made, database = in_order(tmp_path, "support", item)
    (made.folder / "project.yaml").write_text(f"name: p\ntask: support\nsuggestions: {mode}\n")
    shown = typed(Project.open(made.folder), database, "1")

    assert shown.count("the model says: no") == before
    assert shown.count("the model said: no") == after
    assert [one.shown for one in database.labels()] == [mode]


def test_conversations_need_the_page(tmp_path: Path) -> None:
    """The error says what to do."""
    made, database = project(tmp_path, "conversation", AnnotationItem("q1", QUERY))
    with pytest.raises(ConfigError, match="leave --terminal out"):
        typed(made, database)
