"""The page of labels: which item, its state, and what a browser does not get."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.labelled_project import made_site, plain_items

from ragstone.annotation.database import Person
from ragstone.annotation.events import Event
from ragstone.annotation.pages.label import LABEL, LABEL_ITEM
from ragstone.annotation.site import Site, Visit
from ragstone.web.answers import json_bytes
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery

SECRET = {
    "answers": [
        {"system": "bm25-secret", "answer": "At six."},
        {"system": "dense-secret", "answer": None, "reason": "dense-secret timed out"},
    ],
    "known": {"faithfulness": "known-secret"},
    "suggested": {"faithfulness": "suggested-secret"},
}


def document(site: Site, page: Any = LABEL, person: str = "ann", **values: str) -> Any:
    """Return the plain data of a page."""
    query = PageQuery(page.path, {}, values)
    return page.make(site, Visit(Person(person, "annotator"), query))


def test_items_in_hand_are_left_out(tmp_path: Path) -> None:
    """A browser gets the next item that it does not have."""
    with made_site(tmp_path, 3, order="file") as (site, give):
        assert document(site)["item"].item_id == "q0"
        assert document(site, LABEL_ITEM, held="q0\nq1")["item"].item_id == "q2"
        assert document(site, LABEL_ITEM, held="q0\nq1\nq2")["item"] is None
        give("ann", "q0", "yes")
        found = document(site)
        assert (found["item"].item_id, found["place"]["done"], found["place"]["total"]) == (
            "q1", 1, 3
        )  # fmt: skip
        assert document(site, item="q0")["item"].asked[0].given == "yes"


def test_states_instead_of_an_item(tmp_path: Path) -> None:
    """Nothing is left, there are no items, the item was withdrawn or does not exist."""
    with made_site(tmp_path / "empty", 0) as (site, _):
        assert document(site)["state"].said == "This project has no items."
    with made_site(tmp_path, 1) as (site, give):
        give("ann", "q0", "yes")
        assert document(site)["state"].said == "Nothing is left for you. Thank you."
        site.database.append("owner", [Event("w", "withdraw", "q0", value="a duplicate")])
        state = document(site, item="q0")["state"]
        assert (state.said, state.then) == ("The item 'q0' was withdrawn.", "a duplicate")
        with pytest.raises(PageError, match="There is no item 'q7'"):
            document(site, item="q7")


def test_a_browser_gets_neither_systems_nor_known_labels_nor_suggestions(tmp_path: Path) -> None:
    """Nor the reason of a failure, which may name a system."""
    with made_site(tmp_path, [{**plain_items(1)[0], **SECRET}], task="ratings") as (site, _):
        found = document(site)
        assert found["item"].answers[0].part.startswith("~")
        assert b"secret" not in json_bytes(found)


def test_a_quick_item_is_stored_by_its_last_key(tmp_path: Path) -> None:
    """An item with a text or an optional question is stored by Enter."""
    with made_site(tmp_path / "a", 1) as (site, _):
        assert document(site)["item"].is_quick
    with made_site(tmp_path / "b", 1, task="validation") as (site, _):
        assert not document(site)["item"].is_quick
