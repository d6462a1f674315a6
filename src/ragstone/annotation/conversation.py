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

`ask` in a reply is the client id of the ask: a reply to an ask that was taken back, or that another
one of the same turn has replaced, does not count. A reviewer's labels of a turn are kept beside the
writer's: the same fields, another person. Of two values the later one counts. A decision on a turn
counts until its writer changes the turn, a verdict until the conversation is submitted again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias

from ragstone.annotation.database import SKIPPED, Database
from ragstone.annotation.events import Event, GivenLabel, KeptEvent
from ragstone.types import Passage

AGENT: Final = "agent"
"""The person of the events that the agent causes."""
TURN_LABELS: Final = ("answerability", "question_type", "multi_turn", "standalone")
REVIEW_FIELDS: Final = ("decision", "reason", "verdict")
"""The fields of a reviewer alone."""
NO_TURN_LABELS: Final = frozenset({"answer", "relevance", "submitted", SKIPPED, *REVIEW_FIELDS})
"""Fields of a turn that are not its labels."""
_TURN_DIGITS: Final = 6
_CHANGES: Final = ("ask", "reply", "label", "undo")

ConversationState: TypeAlias = Literal["writing", "submitted", "returned", "accepted"]
"""submitted: it waits for a reviewer; returned: a reviewer rejected it, its writer can mend it."""


@dataclass(frozen=True, slots=True)
class Marks:
    """A repaired answer, labels and marks of relevance for a turn."""

    answer: str | None = None
    """The repaired answer; None if it was not changed."""
    labels: Mapping[str, Any] = field(default_factory=dict)
    """`TURN_LABELS`, and others that an imported turn has."""
    relevance: Mapping[str, str] = field(default_factory=dict)
    """Passage id -> yes or no."""


@dataclass(frozen=True, slots=True)
class WrittenTurn:
    """A turn: the query, the agent's passages and answer, and the marks by people."""

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
    """The marks by reviewers."""
    latest: Marks = field(default_factory=Marks)
    """The last marks of both."""
    decision: str = ""
    """The reviewer's decision, if the writer did not change the turn since."""
    decision_reason: str = ""

    @property
    def final_answer(self) -> str | None:
        """The text that a person gave last, else the agent's."""
        return self.answer if self.latest.answer is None else self.latest.answer

    @property
    def labels(self) -> Mapping[str, Any]:
        """The labels of the turn that count."""
        return self.latest.labels

    @property
    def written_answer(self) -> str | None:
        """The text that the writer gave, else the agent's."""
        return self.answer if self.written.answer is None else self.written.answer

    @property
    def unmarked(self) -> int:
        """How many passages have no mark."""
        return sum(one.passage_id not in self.relevance for one in self.passages)

    @property
    def relevant(self) -> list[str]:
        """The ids of the passages that are marked as relevant."""
        return [passage_id for passage_id, mark in self.relevance.items() if mark == "yes"]

    @property
    def relevance(self) -> Mapping[str, str]:
        """Passage id -> yes or no, the marks that count."""
        return self.latest.relevance


@dataclass(frozen=True, slots=True)
class WrittenConversation:
    """A conversation as far as it is written and reviewed."""

    item_id: str
    writer: str = ""
    reviewer: str = ""
    """The reviewer with the last label."""
    turns: tuple[WrittenTurn, ...] = ()
    submitted: bool = False
    verdict: str = ""
    """The last one, also of a conversation that was submitted again."""
    verdict_reason: str = ""
    state: ConversationState = "writing"
    reviewers: tuple[str, ...] = ()
    """All reviewers, the one with the last label last."""

    @property
    def is_mended(self) -> bool:
        """Whether a reviewer returned it once, and its writer has it or submitted it again."""
        return self.state in ("writing", "submitted") and self.verdict == "rejected"

    def turn(self, number: str) -> WrittenTurn | None:
        """Return a turn by its number as text, as the part of an event names it."""
        return next((one for one in self.turns if str(one.number) == number), None)


def conversation(database: Database, item_id: str) -> WrittenConversation:
    """Return the state of a conversation."""
    events = list(database.events(item_id=item_id, kinds=_CHANGES))
    return conversation_of(
        item_id, events, database.labels(item_id=item_id), database.undone(item_id)
    )


def conversation_of(
    item_id: str,
    events: Iterable[KeptEvent],
    labels: Iterable[GivenLabel],
    undone: Collection[str] = (),
) -> WrittenConversation:
    """Return the state that follows from the events of a conversation and the labels that count.

    The writer is the person of the first query; other people with labels are its reviewers.
    """
    known = list(events)
    counted = [one for one in known if one.event.client_id not in undone]
    writer = next((one.person for one in counted if _begins(one.event)), "")
    turns = _turns(one for one in counted if one.person in (writer, AGENT))
    given = sorted(labels, key=lambda one: one.sequence)
    others = [one for one in given if one.person not in (writer, AGENT) and one.field != SKIPPED]
    mine = [one for one in given if one.person == writer]
    whole = {one.field: one for one in others if not one.part}
    reviewers = tuple(reversed(dict.fromkeys(one.person for one in reversed(others))))
    changed = _changes(known, writer)
    sent = next((one for one in mine if one.field == "submitted" and not one.part), None)
    verdict = whole.get("verdict")
    return WrittenConversation(
        item_id,
        writer,
        reviewers[-1] if reviewers else "",
        tuple(_marked(turns[n], mine, others, changed.get(n, 0)) for n in sorted(turns)),
        bool(sent and sent.value),
        _text(verdict),
        _text(whole.get("reason")),
        state_of(sent, verdict),
        reviewers,
    )


def turn_number(part: str) -> int | None:
    """Return the turn that a part names, as in `3` and `3/PASSAGE_ID`; None if there is none.

    >>> turn_number("3/p1"), turn_number(""), turn_number("x")
    (3, None, None)
    """
    number = part.partition("/")[0]
    is_number = number.isascii() and number.isdigit() and len(number) <= _TURN_DIGITS
    return int(number) if is_number else None


def _begins(event: Event) -> bool:
    return _is_ask(event) and event.field == "query"


def _is_ask(event: Event) -> bool:
    """Return whether an ask, which any client may send, has a turn and a text."""
    value = event.value
    has_text = isinstance(value, dict) and isinstance(value.get("text"), str)
    return event.kind == "ask" and has_text and turn_number(event.part) is not None


def _turns(events: Iterable[KeptEvent]) -> dict[int, WrittenTurn]:
    """Return the turns by number, from the events of the writer and the agent."""
    turns: dict[int, WrittenTurn] = {}
    asked: dict[str, str] = {}
    """Ask -> the ask of its turn's query at that time."""
    for kept in events:
        event, number = kept.event, turn_number(kept.event.part)
        is_query = event.field == "query"
        known = turns.get(number or 0)
        if _is_ask(event) and (known or is_query):
            asked[event.client_id] = event.client_id if is_query or not known else known.ask_id
        elif event.kind != "reply" or known is None or not _answers(event, asked, known):
            continue
        turns[number or 0] = _after(known or WrittenTurn(number or 0, ""), kept)
    return turns


def _answers(reply: Event, asked: Mapping[str, str], turn: WrittenTurn) -> bool:
    """Return whether a reply is to the query that a turn has now."""
    return asked.get(reply.value.get("ask", turn.ask_id)) == turn.ask_id


def _changes(events: Sequence[KeptEvent], writer: str) -> dict[int, int]:
    """Return turn -> the sequence number of the last change by its writer or by the agent."""
    places = {one.event.client_id: one.event.part for one in events}
    found: dict[int, int] = {}
    for kept in events:
        event = kept.event
        part = places.get(str(event.value), "") if event.kind == "undo" else event.part
        number = turn_number(part)
        if number is not None and kept.person in (writer, AGENT) and event.kind in _CHANGES:
            found[number] = kept.sequence
    return found


def state_of(sent: GivenLabel | None, verdict: GivenLabel | None) -> ConversationState:
    """Return the state that follows from the writer's and the reviewer's last word."""
    if sent is None or not sent.value:
        return "writing"
    if verdict is None or verdict.sequence < sent.sequence:
        return "submitted"
    return "accepted" if verdict.value == "accepted" else "returned"


def _text(label: GivenLabel | None) -> str:
    return "" if label is None else str(label.value)


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
    return tuple(
        Passage(one["passage_id"], one["text"], one.get("title", ""), labels=one.get("labels", {}))
        for one in listed
    )


def _marked(
    turn: WrittenTurn, mine: Iterable[GivenLabel], others: Iterable[GivenLabel], changed: int
) -> WrittenTurn:
    """Return a turn with the labels of its writer and its reviewers.

    Args:
        turn: the turn without them.
        mine: the writer's labels, the last one last.
        others: the reviewers' labels, the last one last.
        changed: the sequence number of the last change by the writer.
    """
    written, reviewed = (
        [one for one in given if turn_number(one.part) == turn.number] for given in (mine, others)
    )
    review = {one.field: one for one in reviewed if one.field in REVIEW_FIELDS}
    decision = review.get("decision")
    stands = decision is not None and decision.sequence > changed
    return replace(
        turn,
        written=_marks(written),
        reviewed=_marks(reviewed),
        latest=_marks(sorted([*written, *reviewed], key=lambda one: one.sequence)),
        decision=_text(decision) if stands else "",
        decision_reason=_text(review.get("reason")),
    )


def _marks(labels: Sequence[GivenLabel]) -> Marks:
    """Return the marks of labels, which are in order: the last one of a place counts."""
    answers = [one.value for one in labels if one.field == "answer" and isinstance(one.value, str)]
    return Marks(
        answers[-1] if answers else None,
        {one.field: one.value for one in labels if one.field not in NO_TURN_LABELS},
        {one.part.partition("/")[2]: one.value for one in labels if one.field == "relevance"},
    )
