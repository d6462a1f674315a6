"""The review page as plain data: the queue, a conversation, and what a person may not see."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.review_project import accept, label, opened, review_project
from tests.fakes.served_app import served_app

from ragstone.annotation.app import make_app
from ragstone.annotation.events import Event
from ragstone.annotation.pages.review import REVIEW_PAGE
from ragstone.annotation.people import Person
from ragstone.annotation.sessions import cookie_name
from ragstone.annotation.site import Site, Visit
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery

ITEM = "night-boats"
BOB = Person("bob", "reviewer")


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """Yield a project of two conversations that wait for review."""
    with opened(review_project(tmp_path)) as (project, database):
        yield Site(project, database)


def page(site: Site, person: Person = BOB, **values: str) -> Any:
    """Return the plain data of the page."""
    return REVIEW_PAGE.make(site, Visit(person, PageQuery("/review", {}, values)))


def test_the_queue_leaves_out_own_and_withdrawn_conversations(site: Site) -> None:
    """It counts them by state; the accepted ones have their mean edit score."""
    assert [row["item_id"] for row in page(site)["rows"]] == [ITEM, "day-boats"]
    mine = page(site, Person("import", "owner"))
    assert (mine["rows"], mine["own"]) == ([], 2)

    accept(site.database, "bob", ITEM, 3)
    assert page(site)["counts"] == {"submitted": 1, "returned": 0, "accepted": 1}
    assert page(site, show="accepted")["scores"] is None
    scores = page(site, show="accepted", scores="yes")["scores"]
    assert (scores["n"], scores["answers"]) == (2, 3)
    assert scores["mean"] == pytest.approx((300 / 7 + 100) / 2)

    site.database.append("owner", [Event("w", "withdraw", "day-boats", value="too short")])
    assert page(site)["rows"] == []
    with pytest.raises(PageError, match="withdrawn: too short"):
        page(site, item="day-boats")


def test_a_turn_has_all_its_texts_marks_and_changes(site: Site) -> None:
    """The agent's, the writer's and the reviewer's; the marks of both."""
    changed = [label(ITEM, "answer", "1", "At 1."), label(ITEM, "relevance", "1/boats-2", "yes")]
    site.database.append("bob", changed)
    found = page(site, item=ITEM, turn="1")

    now = found["now"]
    assert now["agent_answer"] == "It sails at 2 sharp, and pets are welcome."
    assert (now["written_answer"], now["reviewed_answer"]) == ("It sails at 1 sharp.", "At 1.")
    assert [one["who"] for one in now["changes"]] == ["import", "bob"]
    assert [(p["mark"], p["written"]) for p in now["shown"]] == [("yes", "yes"), ("yes", "no")]
    assert (found["waiting"], found["following"]) == (1, "day-boats")
    assert found["last"] == changed[-1].client_id
    assert now["labels"] == {"answerability": "answerable", "question_type": "factoid"}


def test_the_first_turn_without_a_decision_is_open(site: Site) -> None:
    """After the last decision it is the first turn."""
    site.database.append("bob", [label(ITEM, "decision", "1", "accept")])
    assert page(site, item=ITEM)["now"]["number"] == 2
    accept(site.database, "bob", ITEM, 3, "none")
    assert page(site, item=ITEM)["now"]["number"] == 1


@pytest.mark.parametrize(
    ("person", "item", "status", "said"),
    [
        (BOB, "nothing", 404, "no item 'nothing'"),
        (Person("import", "owner"), ITEM, 403, "Nobody reviews their own conversation"),
        (BOB, "day-boats", 409, "not submitted: import works on it"),
    ],
)
def test_a_conversation_that_cannot_be_reviewed_says_why(
    site: Site, person: Person, item: str, status: int, said: str
) -> None:
    """Unknown, of the reviewer, or taken back."""
    site.database.append("import", [label("day-boats", "submitted", "", None)])

    with pytest.raises(PageError, match=said) as raised:
        page(site, person, item=item)
    assert raised.value.status == status


def test_only_reviewers_and_owners_have_the_page() -> None:
    """Annotators write."""
    assert REVIEW_PAGE.roles == ("reviewer", "owner")
    assert REVIEW_PAGE.tasks == ("conversation",)


def post(address: str, cookie: str, body: Any) -> Any:
    """Return the answer to posted events."""
    connection = HTTPConnection(address.removeprefix("http://"), timeout=10)
    headers = {"Content-Type": "application/json", "Cookie": cookie}
    connection.request("POST", "/events", json.dumps(body), headers)
    found = json.load(connection.getresponse())
    connection.close()
    return found


def test_the_server_refuses_a_reviewers_query(site: Site) -> None:
    """The others of the same request are kept; a second copy is confirmed."""
    token = site.database.add_person("bob", "reviewer")
    assert token
    session = site.database.open_session("bob")
    query = {"client_id": "q", "kind": "ask", "item_id": ITEM, "field": "query", "part": "1"}
    events = [
        {**query, "value": {"text": "Who?"}},
        {**query, "client_id": "l", "kind": "label", "value": "Who?"},
        {**query, "client_id": "d", "kind": "label", "field": "decision", "value": "accept"},
    ]
    with served_app(make_app(site)) as address:
        for _ in range(2):
            said = post(address, f"{cookie_name(site)}={session}", {"events": events})
            assert [one["client_id"] for one in said["confirmed"]] == ["d"]
            assert [one["client_id"] for one in said["refused"]] == ["q", "l"]
            assert "never queries or passages found" in said["refused"][0]["reason"]
