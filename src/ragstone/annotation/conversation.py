"""The state of a conversation with the live agent, derived from its events.

| event | part | value |
| --- | --- | --- |
| ask, field `query` | `3`, the turn | `{"text": ...}` |
| reply, field `query` | `3` | `{"ask", "answer", "reason", "passages", "search"}`; by `agent` |
| ask, field `search` | `3` | `{"text": ...}`, another search for the passages of the turn |
| reply, field `search` | `3` | `{"ask", "passages"}` or `{"ask", "reason"}` |
| label `answer` | `3` | the repaired answer |
| label `answerability`, `question_type`, `multi_turn`, `standalone` | `3` | a value |
| label `relevance` | `3/PASSAGE_ID` | `yes` or `no` |
| label `submitted` | | true: it is ready for review |
| label `decision`, `reason` | `3` | of the reviewer: accept, repair or reject; why |
| label `verdict` | | of the reviewer: accepted or rejected |

`ask` in a reply is the client id of its ask; a reply to an ask that was taken back or replaced does
not count. A reviewer's labels of a turn are kept beside the writer's: the same fields, another
person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from ragstone.annotation.database import Database
from ragstone.annotation.events import GivenLabel, KeptEvent
from ragstone.types import Passage

AGENT: Final = "agent"
"""The person of the events that the agent causes."""
TURN_LABELS: Final = ("answerability", "question_type", "multi_turn", "standalone")
"""The labels of a turn in the task's own scheme; other schemes may have further ones."""
_TURN: Final = re.compile("[1-9][0-9]{0,4}")
_OTHER: Final = ("answer", "relevance", "decision", "reason")
"""Fields of a turn that are no labels."""


@dataclass(frozen=True, slots=True)
class Marks:
    """What one person stated about a turn."""

    answer: str | None = None
    """The repaired answer; None if it was not changed."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    relevance: Mapping[str, str] = field(default_factory=dict)
    """Passage id -> yes or no."""


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    """A turn: the query, what the agent found and answered, and what people made of it."""

    number: int
    query: str
    ask_id: str = ""
    """The client id of the question, which a retry repeats."""
    answer: str | None = None
    """The agent's text; None if there is none yet or the agent failed."""
    reason: str = ""
    """Why the agent gave no answer; empty while it works."""
    search: str = ""
    passages: tuple[Passage, ...] = ()
    """The passages that the agent saw, then those of further searches."""
    seen: int = 0
    """How many of the passages the agent saw."""
    written: Marks = field(default_factory=Marks)
    reviewed: Marks = field(default_factory=Marks)
    decision: str = ""
    decision_reason: str = ""

    @property
    def final_answer(self) -> str | None:
        """The reviewed text, else the writer's, else the agent's."""
        given = (self.reviewed.answer, self.written.answer)
        return next((one for one in given if one is not None), self.answer)

    @property
    def labels(self) -> dict[str, Any]:
        """The labels of the turn; a reviewer's count more than the writer's."""
        return {**self.written.labels, **self.reviewed.labels}

    @property
    def relevance(self) -> dict[str, str]:
        """Passage id -> yes or no; a reviewer's marks count more than the writer's."""
        return {**self.written.relevance, **self.reviewed.relevance}


@dataclass(frozen=True, slots=True)
class WrittenConversation:
    """A conversation as far as it is written and reviewed."""

    item_id: str
    writer: str = ""
    reviewer: str = ""
    turns: tuple[WrittenTurn, ...] = ()
    submitted: bool = False
    verdict: str = ""
    verdict_reason: str = ""


def conversation(database: Database, item_id: str) -> WrittenConversation:
    """Return the state of a conversation."""
    undone = database.undone(item_id)
    events = database.events(item_id=item_id, kinds=("ask", "reply"))
    kept = [one for one in events if one.event.client_id not in undone]
    return conversation_of(item_id, kept, database.labels(item_id=item_id))


def conversation_of(
    item_id: str, events: Iterable[KeptEvent], labels: Iterable[GivenLabel]
) -> WrittenConversation:
    """Return the state that follows from the events of a conversation that count.

    The writer is the person of the first query, the reviewer the last other person with a label.
    """
    writer, turns = "", dict[int, WrittenTurn]()
    asked: dict[str, str] = {}
    """Ask -> the ask of its turn's query at that time."""
    for kept in filter(_is_sound, events):
        event, number = kept.event, int(kept.event.part)
        is_query = event.kind == "ask" and event.field == "query"
        writer = writer or (kept.person if is_query else "")
        turn = turns.get(number)
        if kept.person not in (writer, AGENT) or not (turn or is_query):
            continue
        if event.kind == "ask":
            asked[event.client_id] = event.client_id if is_query or not turn else turn.ask_id
        elif turn and asked.get(event.value.get("ask", turn.ask_id)) != turn.ask_id:
            continue
        turns[number] = _after(turn or WrittenTurn(number, ""), kept)
    given = list(labels)
    others = [one for one in given if one.person not in (writer, AGENT)]
    reviewer = max(others, key=lambda one: one.sequence).person if others else ""
    whole = {(one.person, one.field): one.value for one in given if not one.part}
    return WrittenConversation(
        item_id,
        writer,
        reviewer,
        tuple(_marked(turns[n], given, writer, reviewer) for n in sorted(turns)),
        bool(whole.get((writer, "submitted"))),
        str(whole.get((reviewer, "verdict"), "")),
        str(whole.get((reviewer, "reason"), "")),
    )


def _is_sound(kept: KeptEvent) -> bool:
    """Return whether an event has a turn and its fields: any client may send an ask."""
    event = kept.event
    has_fields = isinstance(event.value, dict) and (
        event.kind != "ask" or isinstance(event.value.get("text"), str)
    )
    return bool(_TURN.fullmatch(event.part)) and has_fields


def _after(turn: WrittenTurn, kept: KeptEvent) -> WrittenTurn:
    """Return a turn after one more event."""
    value = kept.event.value
    match kept.event.kind, kept.event.field:
        case "ask", "query":
            return WrittenTurn(turn.number, value["text"], kept.event.client_id)
        case "reply", "query":
            passages = _passages(value)
            return replace(
                turn,
                answer=value.get("answer"),
                reason=value.get("reason", ""),
                search=value.get("search", ""),
                passages=passages,
                seen=len(passages),
            )
        case "reply", "search":
            known = {one.passage_id for one in turn.passages}
            found = [one for one in _passages(value) if one.passage_id not in known]
            return replace(turn, passages=(*turn.passages, *found))
    return turn


def _passages(value: Mapping[str, Any]) -> tuple[Passage, ...]:
    listed = value.get("passages") or ()
    return tuple(Passage(one["passage_id"], one["text"], one.get("title", "")) for one in listed)


def _marked(
    turn: WrittenTurn, labels: Iterable[GivenLabel], writer: str, reviewer: str
) -> WrittenTurn:
    """Return a turn with the labels of its writer and its reviewer."""
    number = str(turn.number)
    mine = [one for one in labels if one.part.partition("/")[0] == number]
    review = {one.field: one.value for one in mine if one.person == reviewer}
    return replace(
        turn,
        written=_marks(one for one in mine if one.person == writer),
        reviewed=_marks(one for one in mine if reviewer and one.person == reviewer),
        decision=str(review.get("decision", "")),
        decision_reason=str(review.get("reason", "")),
    )


def _marks(labels: Iterable[GivenLabel]) -> Marks:
    given = list(labels)
    return Marks(
        next((one.value for one in given if one.field == "answer"), None),
        {one.field: one.value for one in given if one.field not in _OTHER},
        {one.part.partition("/")[2]: one.value for one in given if one.field == "relevance"},
    )
