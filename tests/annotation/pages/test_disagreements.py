"""The data of the page of disagreements, and who gets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.labelled_project import Give, made_site, plain_items

from ragstone.annotation.database import Person
from ragstone.annotation.pages.disagreements import DISAGREEMENTS, disagreements_document
from ragstone.annotation.site import Site, Visit
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery

ANSWERS = [{"system": "bm25", "answer": "At six."}, {"system": "dense", "answer": "At seven."}]


def ask(site: Site, role: Any = "owner", **values: str) -> dict[str, Any]:
    """Return the data of the page for a person with a role."""
    query = PageQuery("/disagreements", {}, values)
    return disagreements_document(site, Visit(Person("rea", role), query))  # type: ignore[no-any-return]


def disputed(give: Give) -> None:
    """Let two people disagree about q1 and q2."""
    for item_id in ("q1", "q2"):
        give("ann", item_id, "yes")
        give("ben", item_id, "no")
    give("ann", "q1", "It is on the timetable.", kind="comment")


def test_the_queue_and_what_people_said(tmp_path: Path) -> None:
    """Comments are beside the labels; names are shown to the owner who asks for them."""
    with made_site(tmp_path) as (site, give):
        disputed(give)
        found = ask(site)
        assert (found["total"], found["decided"], len(found["rows"])) == (2, 0, 2)
        now = found["now"]
        said = [(one.person, one.shown, one.comments) for one in now["opinions"]]
        assert said == [
            ("Person 1", "Yes", ("It is on the timetable.",)), ("Person 2", "No", ())
        ]  # fmt: skip
        assert [(one.key, one.shown, one.people) for one in now["options"]] == [
            ("1", "Yes", 1), ("2", "Partly", 0), ("3", "No", 1), ("4", "Cannot tell", 0)
        ]  # fmt: skip
        assert (found["around"]["previous"], "item=q2" in found["around"]["next"]) == ("", True)
        named = ask(site, names="shown")["now"]["opinions"]
        assert [one.person for one in named] == ["ann", "ben"]
        hidden = ask(site, "reviewer", names="shown")["now"]["opinions"]
        assert [one.person for one in hidden] == ["Person 1", "Person 2"]


def test_a_decision_takes_an_item_out_of_the_queue(tmp_path: Path) -> None:
    """It is in the list of those that are decided."""
    with made_site(tmp_path) as (site, give):
        disputed(give)
        give("rea", "q1", "partly", "adjudicated:support")
        assert [one["query"] for one in ask(site)["rows"]] == ["When does ferry 2 sail?"]
        decided = ask(site, state="decided")
        assert [one["decided"] for one in decided["rows"]] == ["Partly"]
        assert [one.shown for one in decided["now"]["options"] if one.chosen] == ["Partly"]
        give("rea", "q2", "no", "adjudicated:support")
        assert ask(site)["empty"].said == "All disagreements are decided."


def test_the_systems_of_answers_have_no_names(tmp_path: Path) -> None:
    """Neither of a rated answer nor of a pair."""
    items = [one | {"answers": ANSWERS} for one in plain_items(1)]
    with made_site(tmp_path / "ratings", items, task="ratings") as (site, give):
        give("ann", "q0", 1, "faithfulness", "dense")
        give("ben", "q0", 4, "faithfulness", "dense")
        now = ask(site)["now"]
        assert [text for _, text in now["answers"]] == ["At seven."]
        assert now["part"].startswith("~")
        again = ask(site, item="q0", field="faithfulness", part=now["part"])
        assert again["now"]["part"] == now["part"]
        assert "dense" not in str(ask(site))
    with made_site(tmp_path / "pairs", items, task="pairwise") as (site, give):
        for person, value in (("ann", "a"), ("ben", "b"), ("cem", "tie")):
            give(person, "q0", value, "better")
        now = ask(site)["now"]
        assert [name for name, _ in now["answers"]] == ["Left", "Right"]
        assert sorted(one.shown for one in now["opinions"]) == ["Left", "Right", "Tie"]
        left = next(text for name, text in now["answers"] if name == "Left")
        first = now["opinions"][0].shown
        assert (first == "Left") == (left == "At six.")


def test_labels_without_options_are_chosen_from_those_given(tmp_path: Path) -> None:
    """A list of statements, and values that no option has."""
    with made_site(tmp_path / "nuggets", task="nuggets") as (site, give):
        give("ann", "q0", ["It sails.", "At six."], "nugget")
        give("ben", "q0", ["It sails at six."], "nugget")
        options = ask(site)["now"]["options"]
        assert [(one.key, one.shown) for one in options] == [
            ("1", "It sails. · At six."), ("2", "It sails at six.")
        ]  # fmt: skip
    with made_site(tmp_path / "hostile") as (site, give):
        give("ann", "q0", {"a": 1})
        give("ben", "q0", "yes")
        shown = [one.shown for one in ask(site)["now"]["options"]]
        assert shown == ["Yes", "Partly", "No", "Cannot tell", "{'a': 1}"]


def test_unknown_places_and_empty_lists(tmp_path: Path) -> None:
    """The page says what is the case; a scale may ask for another threshold."""
    with made_site(tmp_path, task="labels") as (site, give):
        assert ask(site)["empty"].said == "People do not disagree about any item."
        give("ann", "q0", 1, "relevance")
        give("ben", "q0", 2, "relevance")
        assert ask(site)["total"] == 0
        assert ask(site, threshold="1")["total"] == 1
        for values in ({"item": "q9"}, {"item": "q0", "field": "relevance"}, {"state": "x"}):
            with pytest.raises(PageError):
                ask(site, **values)
    assert DISAGREEMENTS.roles == ("reviewer", "owner")
