"""The data of the page of a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.annotation.test_conversation_calls import ANN, BEN, CABINS, asked, complete
from tests.fakes.conversation_project import conversation_project, open_site

from ragstone.annotation.pages.conversation import CONVERSATION_CALLS, CONVERSATION_PAGE
from ragstone.annotation.people import Person
from ragstone.annotation.site import Document, Site, Visit
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery

OWNER, REVIEWER = Person("owner", "owner"), Person("rev", "reviewer")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Yield a project with its agent."""
    with open_site(conversation_project(tmp_path / "p")) as found:
        yield found


def page(site: Site, person: Person = ANN, **values: str) -> Document:
    """Return the plain data of the page."""
    return CONVERSATION_PAGE.make(site, Visit(person, PageQuery("/conversation", {}, values)))


def test_a_new_conversation_has_its_seed(site: Site) -> None:
    """A seed is a query, or a document as well."""
    found = page(site)
    assert found["item"] == {"item_id": "c1", "query": CABINS, "passages": []}
    assert (found["now"], found["next"], found["problems"]) == (
        None,
        1,
        [
            "2 more turns needed.",
            "No turn has the question type factoid.",
            "1 more relevant passage needed.",
        ],
    )
    assert page(site, item="c2")["item"]["passages"][0]["title"] == "Pets"


def test_each_person_gets_a_conversation_of_their_own(site: Site) -> None:
    """One that was begun comes first; one that another person writes never."""
    asked(site, CABINS)
    assert page(site)["item"]["item_id"] == "c1"
    assert page(site, BEN)["item"]["item_id"] == "c2"
    with pytest.raises(PageError, match="Another person"):
        page(site, BEN, item="c1")
    seen = page(site, REVIEWER, item="c1")
    assert seen["closed"] == "Another person writes this conversation."
    with pytest.raises(PageError, match="no item 'c9'"):
        page(site, item="c9")


def test_a_turn_has_its_marks_labels_and_score(site: Site) -> None:
    """The shown turn is the last one or that of the address."""
    asked(site, CABINS)
    complete(site, 1)
    asked(site, "Which lines carry bicycles?", 2)
    found = page(site)
    first, second = found["turns"]
    assert (found["now"]["number"], page(site, turn="1")["now"]["number"]) == (2, 1)
    assert (first["lacks"], first["relevant"], first["unmarked"]) == ([], 2, 0)
    assert (second["unmarked"], second["edit_score"], second["versions"]) == (2, 0.0, 1)
    assert second["parts"] == [("span", second["answer"])]
    with pytest.raises(PageError, match="turn is '9'"):
        page(site, turn="9")


def test_only_the_owner_sees_the_name_of_the_agent(site: Site) -> None:
    """No text of the page has it for others."""
    assert page(site, OWNER)["agent"]["name"] == "my_rag.py:answer"
    assert "my_rag" not in repr(page(site))


def test_every_option_has_a_key(site: Site) -> None:
    """Keys differ, and none is that of a command of the page."""
    questions = page(site)["questions"]
    single = [o["key"] for q in questions if not q["group"] for o in q["options"]]
    groups = [q["group"] for q in questions if q["group"]]
    assert "".join(single) == "qwrtfcnsd"
    assert groups == ["o"]
    assert not set("eayxuv/?jk") & {*single, *groups}


def test_the_score_of_a_text_that_is_written(site: Site) -> None:
    """It is the one that is exported."""
    call = next(one for one in CONVERSATION_CALLS if one.path == "/changes")
    found = call.run(site, ANN, {"before": "It sails at six.", "after": "It sails at noon."})
    assert round(found["edit_score"], 1) == 25.0
    assert found["parts"][1:3] == [("del", "six"), ("ins", "noon")]
    assert call.run(site, ANN, {})["edit_score"] == 0


def test_no_conversation_is_left(site: Site) -> None:
    """The page says so."""
    for number, item_id in enumerate(site.project.items):
        asked(site, CABINS, item_id=item_id, client_id=f"x{number}")
    assert page(site, BEN)["item"] is None
