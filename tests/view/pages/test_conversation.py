"""The page of one conversation, for a query per turn and for one query per conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
from tests.fakes.asked_store import answer, asked_experiment

from ragstone.testing import FakeModelServer
from ragstone.view.pages.conversation import CONVERSATION
from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError
from ragstone.web.page_query import PageQuery


@pytest.fixture
def view(tmp_path: Path) -> StoreView:
    """Return a store with an experiment on conversations."""
    with FakeModelServer(answer) as server:
        asked_experiment(tmp_path, server.url).run()
    return StoreView(tmp_path / "store")


def page(view: StoreView, name: str, **values: str) -> dict[str, Any]:
    """Return the plain data of the page."""
    path, parts = f"/conversation/{name}", {"conversation_id": name}
    return CONVERSATION.make(view, PageQuery(path, parts, values))


def test_turns_have_replies_and_the_messages_between(view: StoreView) -> None:
    """A turn that was not asked is shown as a message of the history, once."""
    found = page(view, "k", experiment="asked")
    assert [turn["number"] for turn in found["turns"]] == [1, 3]
    first, third = found["turns"]
    assert first["before"] == []
    assert third["before"] == [
        ["agent", "It melted."],
        ["user", "What of snow?"],
        ["agent", "It melted."],
    ]
    (reply,) = third["replies"]
    assert (reply["setting"], reply["right"], reply["answer"]) == (
        "retrieved(2)",
        False,
        "in autumn",
    )
    assert unquote_plus(reply["link"]) == (
        "/query/t3?system=s&setting=retrieved(2)&experiment=asked"
    )
    assert found["errors"] == [{"system": "s", "setting": "retrieved(2)", "turns": [3]}]
    assert {score["metric"] for score in reply["scores"]} == {"Match"}


def test_a_setting_is_chosen(view: StoreView) -> None:
    """The replies are those of the setting."""
    replies = [turn["replies"] for turn in page(view, "k", setting="gold")["turns"]]
    assert [[one["setting"] for one in of] for of in replies] == [["gold"], ["gold"]]
    with pytest.raises(PageError, match="no setting 'god'"):
        page(view, "k", setting="god")


def test_one_query_per_conversation(view: StoreView) -> None:
    """The whole history is shown before the query; a turn's id leads to its conversation."""
    (turn,) = page(view, "task")["turns"]
    assert turn["before"] == [["user", "What of snow?"], ["agent", "It melted."]]
    assert page(view, "t3")["conversation"] == "k"


def test_a_conversation_that_does_not_exist(view: StoreView) -> None:
    """The nearest id is named."""
    with pytest.raises(PageError, match=r"no conversation 'tesk'.*task"):
        page(view, "tesk")
