"""Reviewing conversations: the rights of reviewers, and the conversations that wait.

A reviewer changes answers, relevance and labels, never the queries or the passages found, and never
reviews their own conversation. A rejected conversation goes back to its writer with the reasons.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from ragstone.annotation.conversation import (
    REVIEW_FIELDS,
    TURN_LABELS,
    ConversationState,
    WrittenConversation,
    WrittenTurn,
    conversation,
    state_of,
)
from ragstone.annotation.database import Database, Person
from ragstone.annotation.events import Event, GivenLabel
from ragstone.annotation.goals import UNANSWERABLE
from ragstone.errors import did_you_mean

DECISIONS: Final = ("accept", "repair", "reject")
VERDICTS: Final = ("accepted", "rejected")
MARKS: Final = ("yes", "no")
_REVIEWERS: Final = ("reviewer", "owner")
_HARMLESS: Final = ("open", "skip", "comment", "withdraw")


@dataclass(frozen=True, slots=True)
class SubmittedConversation:
    """A conversation that its writer sent to review."""

    item_id: str
    writer: str
    submitted: str
    """UTC."""
    state: ConversationState
    reviewer: str = ""
    """Who gave the last verdict."""


Checks: TypeAlias = list[tuple[bool, str]]
"""Whether a requirement is met, and the requirement."""


def submitted_conversations(database: Database) -> list[SubmittedConversation]:
    """Return the conversations that were sent to review, the one that waits longest first."""
    sent = [one for one in database.labels(field="submitted") if one.value and not one.part]
    writers = {one.item_id: one.person for one in sent}
    verdicts: dict[str, GivenLabel] = {}
    for label in sorted(database.labels(field="verdict"), key=lambda one: one.sequence):
        if label.person != writers.get(label.item_id) and not label.part:
            verdicts[label.item_id] = label
    return [
        SubmittedConversation(
            one.item_id,
            one.person,
            one.received,
            state_of(one, verdicts.get(one.item_id)),
            verdicts[one.item_id].person if one.item_id in verdicts else "",
        )
        for one in sorted(sent, key=lambda one: one.sequence)
    ]


def refusal(
    database: Database, person: Person, event: Event, questions: Collection[str] = ()
) -> str:
    """Return why an event about a conversation can never be kept; "" if it can.

    Args:
        database: the events until now.
        person: the sender.
        event: the event.
        questions: names of the scheme's questions, which reviewers may answer too.
    """
    changed = _undone(database, person, event) if event.kind == "undo" else event
    if changed is None or changed.kind in _HARMLESS:
        return ""
    state = conversation(database, event.item_id)
    is_writer = person.name == state.writer or not state.writer
    reason = _of_writer(state, changed) if is_writer else _of_reviewer(state, person, changed)
    if not reason and event.kind == "label" and event.field != "submitted":
        reason = _of_value(state, changed, (*TURN_LABELS, *questions))
    return "" if reason and _is_known(database, event) else reason


def refusal_of_post(
    database: Database, person: Person, event: Event, questions: Collection[str] = ()
) -> str:
    """Return why an event that a browser posts can never be kept; "" if it can.

    A turn and the end of a conversation have calls of their own, which check the goals.
    """
    reason = refusal(database, person, event, questions)
    changed = _undone(database, person, event) if event.kind == "undo" else event
    if reason or changed is None:
        return reason
    if changed.kind == "ask":
        return "A turn is asked by /ask, and taken back by /undo-turn."
    is_end = changed.field == "submitted" and changed.kind == "label"
    return "A conversation is sent to review, and taken back, by /submit." if is_end else ""


def _is_known(database: Database, event: Event) -> bool:
    """Return whether an event is a second copy, which is confirmed as the first one."""
    return database.event(event.client_id) is not None


def _undone(database: Database, person: Person, undo: Event) -> Event | None:
    """Return the event that an undo is about."""
    kept = database.event(str(undo.value))
    mine = kept is not None and (kept.person, kept.event.item_id) == (person.name, undo.item_id)
    return kept.event if kept is not None and mine else None


def _of_writer(state: WrittenConversation, event: Event) -> str:
    if event.field in REVIEW_FIELDS:
        is_own = "Nobody reviews their own conversation."
        return is_own if state.writer else "Nobody has written the conversation yet."
    if not state.writer and event.kind != "ask":
        return "Nobody has written the conversation yet."
    if state.state == "accepted":
        return "The conversation was accepted. It can be changed if a reviewer rejects it."
    if state.state == "submitted" and event.field != "submitted":
        return "The conversation waits for a reviewer. Take it back to change it."
    return ""


def _of_reviewer(state: WrittenConversation, person: Person, event: Event) -> str:
    if person.role not in _REVIEWERS:
        return f"The conversation is {state.writer}'s. Reviewers and owners can review it."
    if event.kind == "ask" or event.field in ("query", "search", "submitted"):
        return "A reviewer changes answers, relevance and labels, never queries or passages found."
    if state.state == "writing":
        return f"The conversation is not submitted: {state.writer} works on it."
    if state.state != "submitted" and (event.part or event.field not in REVIEW_FIELDS):
        return f"The conversation is {state.state}. Take the verdict back to change a turn."
    return ""


def _of_value(state: WrittenConversation, event: Event, labels: Collection[str]) -> str:
    """Return the fault in the field, the part or the value of a reviewer's label."""
    if event.field == "verdict":
        return _of_choice(event, VERDICTS) or _of_verdict(state, event.value)
    if event.field == "reason" and not event.part:
        return _of_text(event)
    number, _, passage_id = event.part.partition("/")
    turn = state.turn(number)
    if turn is None:
        return f"The conversation has no turn {number!r}."
    return _of_turn(turn, event, passage_id, {*labels, *turn.labels})


def _of_turn(turn: WrittenTurn, event: Event, passage_id: str, labels: Collection[str]) -> str:
    """Return the fault in a reviewer's label of a turn."""
    if event.field == "relevance":
        known = passage_id in {one.passage_id for one in turn.passages}
        no = f"Turn {turn.number} has no passage {passage_id!r}: reviewers add none."
        return _of_choice(event, MARKS) if known else no
    if event.field == "decision":
        is_bare = event.value == "reject" and not turn.decision_reason
        return _of_choice(event, DECISIONS) or ("State the reason first." if is_bare else "")
    if event.field in ("answer", "reason"):
        return _of_text(event)
    near = did_you_mean(event.field, labels)
    return "" if event.field in labels else f"There is no label {event.field!r}{near}"


def _of_verdict(state: WrittenConversation, verdict: Any) -> str:
    if verdict == "rejected":
        return "" if state.verdict_reason else "State the reason first."
    if verdict is None:
        return ""
    left = [str(one.number) for one in state.turns if not one.decision]
    if left:
        return f"No decision yet on turn {', '.join(left)}."
    empty = [o.number for o in state.turns if not o.final_answer and o.decision != "reject"]
    return f"Turn {empty[0]} has no answer: write one, or reject the turn." if empty else ""


def _of_choice(event: Event, allowed: Collection[str]) -> str:
    if event.value is None or event.value in allowed:
        return ""
    return f"The {event.field} must be {' or '.join(allowed)}, found {event.value!r}."


def _of_text(event: Event) -> str:
    is_text = event.value is None or isinstance(event.value, str)
    return "" if is_text else f"The {event.field} must be a text."


def checks(state: WrittenConversation) -> Checks:
    """Return the first checks of a reviewer: marks, labels and answers exist and agree."""
    unmarked = [t for t in state.turns if t.unmarked]
    bare = [t for t in state.turns if _is_answerable(t) and not t.relevant]
    odd = [t for t in state.turns if t.labels.get("answerability") == UNANSWERABLE and t.relevant]
    empty = [t for t in state.turns if not t.final_answer]
    return [
        (not unmarked, f"Every passage has a mark{_named(unmarked)}."),
        (not bare, f"Every answerable turn has a relevant passage{_named(bare)}."),
        (not odd, f"No unanswerable turn has a relevant passage{_named(odd)}."),
        (not empty, f"Every turn has an answer{_named(empty)}."),
    ]


def _named(turns: list[WrittenTurn]) -> str:
    numbers = ", ".join(str(one.number) for one in turns)
    return f": not so in turn {numbers}" if numbers else ""


def _is_answerable(turn: WrittenTurn) -> bool:
    return turn.labels.get("answerability") in ("answerable", "partial")


def last_event(database: Database, item_id: str, person: str) -> str:
    """Return the client id of the last label of a person on an item, which an undo would take."""
    mine = database.events(item_id=item_id, person=person, kinds=("label",), counted=True)
    return next((one.event.client_id for one in reversed(list(mine))), "")
