"""Labels as ratings: what each kind of question says, in an order that the labels alone decide."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.annotation.create import ProjectPlan, make_project
from ragstone.annotation.database import Database
from ragstone.annotation.events import Event
from ragstone.annotation.items import AGAIN, AnnotationItem, ShownAnswer
from ragstone.annotation.project import Project
from ragstone.annotation.rating_export import (
    ExportChoice,
    export_lines,
    rating_lines,
    rating_places,
)
from ragstone.annotation.schemes import TaskName
from ragstone.annotation.site import Site
from ragstone.data.readers.ratings import Inclusion, read_ratings
from ragstone.types import Passage, Query

QUERY = Query("q1", "When does it sail?", ("at six",))
PASSAGE = Passage("p1", "At six.")
A, B = ShownAnswer("a", "gold", "At six."), ShownAnswer("b", "gold", "At 6.")


def project(
    folder: Path, task: TaskName, *items: AnnotationItem, scheme: str = ""
) -> tuple[Project, Database]:
    """Return a project of some items and its empty database."""
    made = make_project(folder / "p", ProjectPlan(task, scheme=scheme), items)
    return made, Database.open(f"sqlite:///{folder / 'a.db'}", made.name)


def give(database: Database, person: str, *labels: tuple[str, str, str, Any]) -> None:
    """Keep labels: item id, field, part and value."""
    start = database.count()
    database.append(
        person,
        [
            Event(f"e{start}-{n}", "label", item_id, field, part, value)
            for n, (item_id, field, part, value) in enumerate(labels)
        ],
    )


def rows(made: Project, database: Database, **choice: Any) -> list[dict[str, Any]]:
    """Return the rows of an export without times."""
    found = [json.loads(one) for one in export_lines(made, database, ExportChoice(**choice))]
    return [{name: value for name, value in one.items() if name != "time"} for one in found]


@pytest.mark.parametrize(
    ("task", "item", "label", "row"),
    [
        (
            "support",
            AnnotationItem("q1 p1", QUERY, (PASSAGE,), inclusion=Inclusion(0.5, 2)),
            ("q1 p1", "support", "", "partly"),
            {"passage_id": "p1", "property": "support", "value": "partly",
             "inclusion_probability": 0.5, "round": 2},
        ),
        (
            "ratings",
            AnnotationItem("q1", QUERY, (PASSAGE,), (A, B)),
            ("q1", "faithfulness", "b · gold", 4),
            {"system": "b", "setting": "gold", "property": "faithfulness", "value": 4},
        ),
        (
            "pairwise",
            AnnotationItem("q1", QUERY, (), (A, B)),
            ("q1", "better", "", "tie"),
            {"system": "a", "setting": "gold", "against": "b", "property": "better",
             "value": "tie"},
        ),
        (
            "causes",
            AnnotationItem("q1", QUERY, (PASSAGE,), (A,)),
            ("q1", "cause", "", "reading"),
            {"system": "a", "setting": "gold", "property": "cause", "value": "reading"},
        ),
        (
            "nuggets",
            AnnotationItem("q1", QUERY, (PASSAGE,), (A,), ("It sails.", "At six.")),
            ("q1", "importance", "part:2", "vital"),
            {"system": "a", "setting": "gold", "part": "At six.", "property": "importance",
             "value": "vital"},
        ),
        (
            "validation",
            AnnotationItem("q1", QUERY, (PASSAGE,)),
            ("q1", "query", "", "When does the ferry sail?"),
            {"property": "query", "value": "When does the ferry sail?"},
        ),
    ],
)  # fmt: skip
def test_each_kind_of_question(
    tmp_path: Path,
    task: TaskName,
    item: AnnotationItem,
    label: tuple[str, str, str, Any],
    row: dict[str, Any],
) -> None:
    """A rating says what was rated, and the reader of ratings reads it."""
    made, database = project(tmp_path, task, item)
    give(database, "ann", label)

    assert rows(made, database) == [{"query_id": "q1", "rater": "ann", **row}]
    (tmp_path / "out.jsonl").write_bytes(b"".join(export_lines(made, database, ExportChoice())))
    (read,) = read_ratings(tmp_path / "out.jsonl")
    assert (read.rater, read.value) == ("ann", row["value"])
    assert read.time


def test_own_statements_and_several_options(tmp_path: Path) -> None:
    """A statement that a person wrote is a part; several options are one text."""
    made, database = project(tmp_path, "nuggets", AnnotationItem("q1", QUERY, (), (A,), ("old",)))
    own = ("q1", "nugget", "", ["new", "newer"])
    give(database, "ann", own, ("q1", "importance", "part:2", "okay"))
    found = rows(made, database)
    assert [(one["property"], one["part"], one["value"]) for one in found] == [
        ("nugget", "new", "yes"),
        ("nugget", "newer", "yes"),
        ("importance", "newer", "okay"),
    ]

    types = "mtrag-question-types"
    made, database = project(tmp_path / "t", "labels", AnnotationItem("q1", QUERY), scheme=types)
    give(database, "ann", ("q1", types, "", ["factoid", "opinion"]))
    assert [one["value"] for one in rows(made, database)] == ["factoid;opinion"]


def test_items_that_are_equal_as_ratings_have_their_ids(tmp_path: Path) -> None:
    """Two items of one query differ in the export, so that it can be read."""
    items = [AnnotationItem(one, QUERY) for one in ("i1", "i2")]
    made, database = project(tmp_path, "labels", *items, scheme="findings")
    give(database, "ann", ("i1", "fault", "", "yes"), ("i2", "fault", "", "no"))

    assert [one["part"] for one in rows(made, database)] == ["i1", "i2"]


def test_further_labels_are_included_by_name(tmp_path: Path) -> None:
    """Qualification, repeats and models are left out unless they are wanted."""
    known = AnnotationItem("k", QUERY, (PASSAGE,), known={"support": "no"})
    item = AnnotationItem("q1", QUERY, (Passage("p2", "x"),), suggested={"support": "no"})
    made, database = project(tmp_path, "support", known, item)
    give(
        database,
        "ann",
        *(("k", "support", "", "yes"), ("q1", "support", "", "yes")),
        (f"q1{AGAIN}", "support", "", "partly"),
    )
    give(database, "ann", ("gone", "support", "", "yes"), ("q1", "other", "", "yes"))

    def raters(*include: str) -> list[tuple[str, str]]:
        found = rows(made, database, include=frozenset(include))
        return [(one["rater"], one["value"]) for one in found]

    assert raters() == [("ann", "yes")]
    assert raters("repeats") == [("ann", "yes"), ("ann (again)", "partly")]
    assert raters("suggestions") == [("ann", "yes"), ("model", "no")]
    assert raters("known") == [("ann", "yes"), ("known", "no"), ("ann", "yes")]


def test_withdrawn_items_and_skips_are_left_out(tmp_path: Path) -> None:
    """What counts nowhere is in no export."""
    items = [AnnotationItem(one, QUERY, (Passage(one, "x"),)) for one in ("i1", "i2", "i3")]
    made, database = project(tmp_path, "support", *items)
    give(database, "ann", ("i1", "support", "", "yes"), ("i2", "support", "", "yes"))
    database.append("ann", [Event("s", "skip", "i3", value="too long")])
    database.append("owner", [Event("w", "withdraw", "i1", value="wrong")])

    assert [one["passage_id"] for one in rows(made, database)] == ["i2"]


def test_equal_labels_give_equal_bytes_and_names_can_stay_at_home(tmp_path: Path) -> None:
    """Neither the order of events nor that of names shows; numbers stay with more labels."""
    items = [AnnotationItem(f"i{n}", QUERY, (Passage(f"i{n}", "x"),)) for n in range(4)]
    made, database = project(tmp_path, "support", *items)
    people = ["zoe", "ann", "ben"]
    for person in people:
        give(database, person, ("i3", "support", "", "yes"), ("i0", "support", "", "no"))

    first = b"".join(export_lines(made, database, ExportChoice()))
    assert first == b"".join(export_lines(made, database, ExportChoice()))
    assert [(one["passage_id"], one["rater"]) for one in rows(made, database)] == [
        (item, name) for item in ("i0", "i3") for name in sorted(people)
    ]
    hidden = b"".join(export_lines(made, database, ExportChoice(names=False)))
    assert not any(one.encode() in hidden for one in (*people, "time"))
    assert {json.loads(one)["rater"] for one in hidden.splitlines()} == {
        "person 1",
        "person 2",
        "person 3",
    }
    give(database, "zoe", ("i1", "support", "", "yes"))
    after = b"".join(export_lines(made, database, ExportChoice(names=False)))
    assert set(hidden.splitlines()) < set(after.splitlines())


def test_every_place_of_a_label_is_one_rating(tmp_path: Path) -> None:
    """The places of all questions are different ratings."""
    item = AnnotationItem("q1", QUERY, (PASSAGE,), (A, B))
    made, _ = project(tmp_path, "ratings", item)
    found = [tuple(sorted(row.items())) for row, _ in rating_places(made.items, made.scheme)]

    assert len(found) == len(set(found)) == 8


def test_the_server_gives_the_same_bytes(tmp_path: Path) -> None:
    """`GET /export.jsonl` is the export of the command."""
    made, database = project(tmp_path, "ratings", AnnotationItem("q1", QUERY, (PASSAGE,), (A, B)))
    give(database, "ann", ("q1", "faithfulness", "b · gold", 4))

    assert list(rating_lines(Site(made, database))) == list(
        export_lines(made, database, ExportChoice())
    )
