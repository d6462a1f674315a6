"""Labels as columns: what counts, parts that people wrote, and a model's labels."""

from __future__ import annotations

from pathlib import Path

from tests.annotation.test_agreement import check_equal, reported
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.agreement import agreements
from ragstone.annotation.items import AnnotationItem
from ragstone.annotation.label_columns import decided, label_columns, suggestion
from ragstone.annotation.schemes import Question
from ragstone.annotation.tasks import own_scheme
from ragstone.types import Query


def test_parts_that_people_wrote_are_compared_by_their_text(tmp_path: Path) -> None:
    """As in the export: the number of a nugget differs between people, its text does not."""
    lists = {"ann": ["It sails.", "At six."], "ben": ["At six.", "It is red."]}
    values = {"It sails.": "okay", "At six.": "vital", "It is red.": "okay"}
    with made_site(tmp_path / "p", 3, task="nuggets") as (site, give):
        for item_id in ("q0", "q1"):
            for person, texts in lists.items():
                give(person, item_id, texts, "nugget")
                for number, text in enumerate(texts, 1):
                    value = "okay" if (person, item_id) == ("ben", "q1") else values[text]
                    give(person, item_id, value, "importance", f"part:{number}")
        columns = label_columns(site)
        found = {one.question: one for one in agreements(columns)}
        wanted = reported(site, tmp_path / "labels.jsonl")
    check_equal(found["importance"], wanted["importance"])
    assert (found["importance"].agreement.n, found["importance"].two) == (6, 2)
    assert found["importance"].agreement.equal_pairs.mean == 0.5
    assert [one.done for one in columns.work.values()] == [True] * 4


def test_suggestions_of_an_item_and_of_its_parts() -> None:
    """One value, or a value per part; None without one."""
    question = own_scheme("support").questions[0]
    query = Query("q", "When?")
    whole = AnnotationItem("q", query, suggested={"support": "yes"})
    parts = AnnotationItem("q", query, suggested={"support": {"p1": "no"}})
    assert suggestion(question, whole, "") == "yes"
    assert (suggestion(question, parts, "p1"), suggestion(question, parts, "p2")) == ("no", None)
    assert suggestion(question, AnnotationItem("q", query), "") is None


def test_texts_have_no_value_that_can_be_compared() -> None:
    """Repaired queries and lists of nuggets."""
    assert decided(Question("query", kind="text"), "When?") is None
    assert decided(Question("nugget", kind="parts"), ["It sails."]) is None


def test_people_are_numbered_once(tmp_path: Path) -> None:
    """Their work is per item; days are those of the server."""
    with made_site(tmp_path / "p", plain_items(2)) as (site, give):
        for item_id in ("q0", "q1"):
            for person in ("ben", "ann"):
                give(person, item_id, "yes")
        columns = label_columns(site)
    assert columns.people == {"ann": 0, "ben": 1}
    assert len(columns.work) == 4
    assert columns.days.total() == 4
