"""Reviewing: who may change what, states of a conversation, and which ones wait."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.review_project import accept, label, opened, review_project

from ragstone.annotation.conversation import conversation
from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event
from ragstone.annotation.review import (
    checks,
    last_event,
    refusal,
    refusal_of_post,
    submitted_conversations,
)

ITEM = "night-boats"
BOB, EVE = Person("bob", "reviewer"), Person("eve", "owner")
WRITER, ANN = Person("import", "owner"), Person("ann", "annotator")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    """Yield the events of two conversations that wait for review."""
    with opened(review_project(tmp_path)) as (_, found):
        yield found


def given(database: Database, person: Person, *values: tuple[str, str, Any]) -> list[str]:
    """Keep labels that are not refused, one by one; return the refusals."""
    refused = []
    for number, (field, part, value) in enumerate(values, database.count()):
        event = label(ITEM, field, part, value, number)
        reason = refusal(database, person, event)
        refused += [reason] if reason else []
        if not reason:
            database.append(person.name, [event])
    return refused


@pytest.mark.parametrize(
    ("person", "event", "reason"),
    [
        (BOB, label(ITEM, "query", "1", "Who?"), "never queries or passages found"),
        (BOB, Event("a", "ask", ITEM, "query", "1", {"text": "Who?"}), "never queries or passages"),
        (BOB, Event("a", "ask", ITEM, "search", "1", {"text": "x"}), "never queries or passages"),
        (BOB, label(ITEM, "submitted", "", None), "never queries or passages found"),
        (BOB, label(ITEM, "relevance", "1/boats-9", "yes"), "Turn 1 has no passage 'boats-9'"),
        (BOB, label(ITEM, "relevance", "1/boats-1", "maybe"), "must be yes or no, found 'maybe'"),
        (BOB, label(ITEM, "answer", "9", "x"), "no turn '9'"),
        (BOB, label(ITEM, "answer", "1", 5), "answer must be a text"),
        (BOB, label(ITEM, "decision", "1", "fine"), "must be accept or repair or reject"),
        (BOB, label(ITEM, "decision", "1", "reject"), "State the reason first"),
        (BOB, label(ITEM, "answerabilty", "1", "x"), "no label 'answerabilty'; did you mean"),
        (BOB, label(ITEM, "verdict", "", "accepted"), "No decision yet on turn 1, 2, 3"),
        (BOB, label(ITEM, "verdict", "", "rejected"), "State the reason first"),
        (BOB, label(ITEM, "verdict", "", "good"), "must be accepted or rejected"),
        (ANN, label(ITEM, "answer", "1", "x"), "Reviewers and owners can review it"),
        (WRITER, label(ITEM, "decision", "1", "accept"), "Nobody reviews their own conversation"),
        (WRITER, label(ITEM, "verdict", "", "accepted"), "Nobody reviews their own conversation"),
        (WRITER, label(ITEM, "answer", "1", "x"), "waits for a reviewer. Take it back"),
        (WRITER, label(ITEM, "submitted", "", None), ""),
        (BOB, label(ITEM, "answer", "1", "At 1."), ""),
        (BOB, label(ITEM, "relevance", "1/boats-2", "yes"), ""),
        (BOB, label(ITEM, "relevance", "1/boats-2", None), ""),
        (BOB, label(ITEM, "answerability", "1", "partial"), ""),
        (EVE, label(ITEM, "decision", "1", "repair"), ""),
        (ANN, Event("a", "open", ITEM), ""),
        (BOB, Event("a", "undo", ITEM, value="nothing"), ""),
    ],
)
def test_what_a_person_may_not_change_is_refused(
    database: Database, person: Person, event: Event, reason: str
) -> None:
    """Each refusal states the rule."""
    found = refusal(database, person, event)

    assert reason in found
    assert bool(found) == bool(reason)


def test_the_labels_of_the_scheme_are_reviewed_too(database: Database) -> None:
    """A project may have further questions about a turn."""
    event = label(ITEM, "politeness", "1", "rude")

    assert "no label" in refusal(database, BOB, event)
    assert refusal(database, BOB, event, ["politeness"]) == ""


def test_a_rejected_conversation_goes_back_and_is_reviewed_again(database: Database) -> None:
    """Decisions on turns that the writer did not change stay; everything is kept."""
    accept(database, "bob", ITEM, 3, "none")
    assert given(database, BOB, ("reason", "", "turn 2"), ("verdict", "", "rejected")) == []
    assert conversation(database, ITEM).state == "returned"
    assert "returned" in given(database, BOB, ("answer", "1", "x"))[0]

    assert given(database, WRITER, ("answer", "2", "Line 3 does."), ("submitted", "", True)) == []
    state = conversation(database, ITEM)
    assert (state.state, state.is_mended, state.verdict_reason) == ("submitted", True, "turn 2")
    assert [one.decision for one in state.turns] == ["accept", "", "accept"]
    assert "turn 2" in given(database, BOB, ("verdict", "", "accepted"))[0]

    given(database, BOB, ("decision", "2", "accept"), ("verdict", "", "accepted"))
    assert conversation(database, ITEM).state == "accepted"
    assert "was accepted" in given(database, WRITER, ("submitted", "", None))[0]
    fields = [
        one.event.value for one in database.events(item_id=ITEM) if one.event.field == "verdict"
    ]
    assert fields == ["none", "rejected", "accepted"]


def test_of_a_writer_and_a_reviewer_the_later_text_counts(database: Database) -> None:
    """All three texts are kept; without the reviewer's, the writer's is back."""
    given(database, BOB, ("answer", "1", "At one."))
    turn = conversation(database, ITEM).turns[0]
    assert turn.answer == "It sails at 2 sharp, and pets are welcome."
    assert (turn.written.answer, turn.reviewed.answer) == ("It sails at 1 sharp.", "At one.")
    assert turn.final_answer == "At one."

    given(database, WRITER, ("submitted", "", None), ("answer", "1", "At 1."))
    assert conversation(database, ITEM).turns[0].final_answer == "At 1."
    last = last_event(database, ITEM, "import")
    database.append("import", [Event("u", "undo", ITEM, value=last)])
    assert conversation(database, ITEM).turns[0].final_answer == "At one."


def test_an_undone_repair_of_the_writer_needs_a_new_decision(database: Database) -> None:
    """A decision is about the turn as it was."""
    given(database, WRITER, ("submitted", "", None), ("answer", "2", "x"), ("submitted", "", True))
    given(database, BOB, ("decision", "2", "accept"))
    assert conversation(database, ITEM).turns[1].decision == "accept"

    given(database, WRITER, ("submitted", "", None))
    event = next(one.event for one in database.events(item_id=ITEM) if one.event.value == "x")
    database.append("import", [Event("u", "undo", ITEM, value=event.client_id)])

    assert conversation(database, ITEM).turns[1].decision == ""


def test_two_reviewers_at_once_and_a_conversation_that_is_taken_back(database: Database) -> None:
    """The later mark counts; after it was taken back, marks are refused with the reason."""
    given(database, BOB, ("decision", "1", "accept"), ("answer", "2", "Bob's."))
    given(database, EVE, ("answer", "2", "Eve's."), ("decision", "2", "repair"))
    state = conversation(database, ITEM)
    assert state.reviewers == ("import 2", "bob", "eve")
    assert [one.decision for one in state.turns] == ["accept", "repair", ""]
    assert state.turns[1].final_answer == "Eve's."

    given(database, WRITER, ("submitted", "", None))
    assert (
        "not submitted: import works on it" in given(database, BOB, ("decision", "3", "accept"))[0]
    )
    assert refusal(database, BOB, label(ITEM, "decision", "1", "accept", 1_000)) != ""


def test_a_second_copy_is_confirmed_whatever_happened_since(database: Database) -> None:
    """A browser that lost the answer sends an event again."""
    event = label(ITEM, "decision", "1", "accept")
    database.append("bob", [event])
    given(database, WRITER, ("submitted", "", None))

    assert refusal(database, BOB, event) == ""


def test_a_verdict_can_be_undone_before_a_turn_is_changed(database: Database) -> None:
    """The undo of the verdict is allowed, that of a turn is not before it."""
    accept(database, "bob", ITEM, 3)
    turn = next(one.event for one in database.events(person="bob"))
    verdict = last_event(database, ITEM, "bob")
    refused = refusal(database, BOB, Event("u1", "undo", ITEM, value=turn.client_id))
    assert "Take the verdict back" in refused

    undo = Event("u2", "undo", ITEM, value=verdict)
    assert refusal(database, BOB, undo) == ""
    database.append("bob", [undo])
    assert conversation(database, ITEM).state == "submitted"


def test_the_queue_has_the_states_of_submitted_conversations(database: Database) -> None:
    """The one that waits longest comes first; one that was taken back is not there."""
    accept(database, "bob", "day-boats", 2)
    found = submitted_conversations(database)
    assert [(one.item_id, one.writer, one.state, one.reviewer) for one in found] == [
        (ITEM, "import", "submitted", ""),
        ("day-boats", "import", "accepted", "bob"),
    ]

    given(database, WRITER, ("submitted", "", None))
    assert [one.item_id for one in submitted_conversations(database)] == ["day-boats"]


def test_a_turn_without_an_answer_is_not_accepted(tmp_path: Path) -> None:
    """The reviewer writes an answer, or rejects the turn."""
    database = Database.open(f"sqlite:///{tmp_path / 'a.db'}", "one")
    database.append("ann", [Event("q", "ask", ITEM, "query", "1", {"text": "Who?"})])
    assert "Nobody has written" in refusal(database, BOB, label("other", "verdict", "", "accepted"))
    assert "not submitted" in refusal(database, BOB, label(ITEM, "decision", "1", "accept"))
    database.append("ann", [label(ITEM, "submitted", "", True)])
    database.append("bob", [label(ITEM, "decision", "1", "accept")])

    assert "Turn 1 has no answer" in refusal(database, BOB, label(ITEM, "verdict", "", "accepted"))
    database.close()


def test_checks_name_the_turns_that_are_not_as_they_should_be(database: Database) -> None:
    """Marks, labels and answers."""
    assert [met for met, _ in checks(conversation(database, ITEM))] == [True, True, True, True]
    given(database, BOB, ("relevance", "1/boats-1", "no"), ("answerability", "2", "unanswerable"))

    found = {text: met for met, text in checks(conversation(database, ITEM))}
    assert [text for text, met in found.items() if not met] == [
        "Every answerable turn has a relevant passage: not so in turn 1.",
        "No unanswerable turn has a relevant passage: not so in turn 2.",
    ]


@pytest.mark.parametrize(
    "event",
    [
        label("other", "answer", "1", "Mine."),
        label("other", "relevance", "1/p", "yes"),
        label("other", "submitted", "", True),
    ],
)
def test_nobody_labels_a_conversation_that_nobody_began(database: Database, event: Event) -> None:
    """Else the label would count as a reviewer's once another person writes it."""
    assert refusal(database, ANN, event) == "Nobody has written the conversation yet."


def test_a_writer_marks_the_passages_that_were_found(database: Database) -> None:
    """Others would count for the goal of relevant passages, and no corpus has them."""
    given(database, WRITER, ("submitted", "", None))

    event = label(ITEM, "relevance", "1/boats-9", "yes")
    assert "no passage 'boats-9'" in refusal(database, WRITER, event)
    assert refusal(database, WRITER, label(ITEM, "relevance", "1/boats-1", "yes")) == ""


def test_turns_and_the_end_of_a_conversation_are_not_posted_as_events(database: Database) -> None:
    """Their calls check the goals, and that no reviewer has begun."""
    taken = label(ITEM, "submitted", "", None)
    assert refusal_of_post(database, WRITER, taken).endswith("taken back, by /submit.")
    database.append("import", [taken])
    ask = Event("a", "ask", ITEM, "query", "9", {"text": "And then?"})
    back = Event("b", "undo", ITEM, value=taken.client_id)
    assert refusal_of_post(database, WRITER, ask).startswith("A turn is asked by /ask")
    assert refusal_of_post(database, WRITER, back).endswith("taken back, by /submit.")
    assert refusal_of_post(database, WRITER, label(ITEM, "answer", "1", "At 1.")) == ""
    assert refusal_of_post(database, WRITER, Event("c", "open", ITEM)) == ""
