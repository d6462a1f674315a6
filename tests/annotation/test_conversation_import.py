"""Existing conversations as items and events."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import SharedData
from tests.fakes.review_project import CONVERSATIONS, opened, review_project, told, user

from ragstone.annotation.conversation import conversation
from ragstone.annotation.conversation_import import conversation_items, keep_conversations
from ragstone.annotation.database import Database
from ragstone.data.load import load_dataset
from ragstone.errors import DatasetError

REAL = "conversations/mtrag_human_conversations.jsonl.gz"


def test_the_state_of_an_imported_conversation_is_that_of_the_file(tmp_path: Path) -> None:
    """Queries, both texts, marks of both voters, labels, and what a person searched for."""
    with opened(review_project(tmp_path)) as (_, database):
        found = conversation(database, "night-boats")

    assert (found.state, found.writer, found.reviewers) == ("submitted", "import", ("import 2",))
    first, second, third = found.turns
    assert first.answer == "It sails at 2 sharp, and pets are welcome."
    assert first.final_answer == "It sails at 1 sharp."
    assert first.labels == {"answerability": "answerable", "question_type": ["factoid"]}
    assert first.passages[0].text == "The boat 1 sails at 1 sharp."
    assert second.written.answer is None
    assert second.written.relevance == {"boats-1": "yes", "boats-3": "yes"}
    assert second.relevance == {"boats-1": "no", "boats-3": "yes"}
    assert (second.seen, len(second.passages)) == (1, 2)
    assert third.labels["answerability"] == "unanswerable"


def test_a_second_import_changes_nothing_and_a_changed_file_does(tmp_path: Path) -> None:
    """Client ids follow from what the events state."""
    folder = review_project(tmp_path)
    with opened(folder) as (_, database):
        events = database.count()
        keep_conversations(database, conversation_items(folder / "conversations.json"))
        assert database.count() == events

        changed = json.loads(json.dumps(CONVERSATIONS))
        changed[0]["messages"][1]["text"] = "At 1."
        (folder / "conversations.json").write_text(json.dumps(changed))
        keep_conversations(database, conversation_items(folder / "conversations.json"))

        assert database.count() == events + 1
        assert conversation(database, "night-boats").turns[0].final_answer == "At 1."


def test_a_data_set_of_conversations_is_imported(tmp_path: Path) -> None:
    """The sample: several gold answers, rewrites and judged passages of each turn."""
    found = conversation_items("sample")
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "sample")
    keep_conversations(database, found)
    dataset = load_dataset("sample")

    for told_of, item in zip(dataset.conversations, found.items, strict=True):
        state = conversation(database, item.item_id)
        assert [one.query for one in state.turns] == [one.text for one in told_of.turns]
        for turn, query in zip(state.turns, told_of.turns, strict=True):
            judged = dataset.qrels.get(query.query_id, {})
            assert turn.relevance == {i: "yes" if g else "no" for i, g in judged.items()}
            assert turn.labels["rewrite"] == query.rewrite
    database.close()


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "contains no|no conversations"),
        ([told("a", user("Who?")), told("a", user("Who?"))], "'a' occurs twice"),
        ([told("a", user("Who?"), user("When?"))], "the user speaks twice in a row"),
        ([{"query": "Who?"}], "no"),
    ],
)
def test_what_is_wrong_with_a_source_is_named(
    tmp_path: Path, rows: list[Any], problem: str
) -> None:
    """The conversation, the turn, and what is expected."""
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(rows))

    with pytest.raises(DatasetError, match=problem):
        conversation_items(path)


def test_all_of_mtrag_is_imported(shared_data: SharedData) -> None:
    """110 conversations, 842 turns, 797 repaired answers, 3,338 votes."""
    found = conversation_items(shared_data("mtrag") / REAL)
    fields = [event.field for _, event in found.events if event.kind == "label"]

    assert len(found.items) == 110
    assert sum(e.kind == "ask" and e.field == "query" for _, e in found.events) == 842
    assert fields.count("answer") == 797
    assert fields.count("relevance") == 3338
    assert len({event.client_id for _, event in found.events}) == len(found.events)
