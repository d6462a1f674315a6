"""The calls of the page of conversations: ask the agent, take a turn back, send to review.

An ask is kept before the agent is called. The same ask posted again reports its state; it is
asked again if `again` is true or if no reply was kept, such as after the end of the server.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.conversation import AGENT, WrittenConversation, conversation, turn_number
from ragstone.annotation.events import Event, KeptEvent
from ragstone.annotation.goals import goal_stands, problems, turn_lacks
from ragstone.data.readers.rows import FieldError, Row
from ragstone.types import Label, Message, Query
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText

if TYPE_CHECKING:
    from ragstone.annotation.agents import AgentTurn, AskedAgent, LiveAgent
    from ragstone.annotation.people import Person
    from ragstone.annotation.site import Document, Site

_KINDS: Final = ("query", "search")
_TOLD: Final = ("The agent gave no answer", "The agent was busy")
"""Reasons that everybody gets."""
_CLOSED: Final = {
    "submitted": "The conversation is sent to review.",
    "accepted": "A reviewer has accepted the conversation.",
}
"""State -> why nobody changes it."""


@dataclass(frozen=True, slots=True)
class _Ask:
    """A query or a search of a person."""

    client_id: str
    item_id: str
    turn: int
    kind: str
    text: str
    again: bool

    @classmethod
    def read(cls, body: Mapping[str, Any]) -> _Ask:
        """Return the ask of a request; raise `PageError` with the field that is wrong."""
        row = Row(body)
        try:
            made = cls(
                row.take_id("client_id"),
                row.take_id("item_id"),
                row.pop("turn", 0),
                row.take_text("kind"),
                row.take_text("text").strip(),
                row.pop("again", False) is True,
            )
        except FieldError as error:
            raise _refused(400, f"The ask is not readable: {error}.") from error
        if made.kind not in _KINDS or type(made.turn) is not int or made.turn < 1:
            raise _refused(400, "The ask needs a turn from 1 on and a kind, query or search.")
        if not made.text:
            raise _refused(400, "The text is empty.")
        if len(made.client_id) > limits.EVENT_ID_CHARACTERS - 20:
            raise _refused(400, "The client_id is too long.")
        if len(made.text) > limits.ASKED_CHARACTERS:
            most = f"{limits.ASKED_CHARACTERS:,}"
            raise _refused(400, f"The text has {len(made.text):,} characters, more than {most}.")
        return made

    @property
    def event(self) -> Event:
        """The event of the ask."""
        part, value = str(self.turn), {"text": self.text}
        return Event(self.client_id, "ask", self.item_id, self.kind, part, value)


def ask(site: Site, person: Person, body: Mapping[str, Any]) -> Document:
    """Keep an ask and begin it; return its state: running, answered or failed."""
    asked = _Ask.read(body)
    agent = site.agent
    if agent is None:
        then = "The owner starts the server with --agent, or names one in project.yaml."
        raise _refused(409, "The project has no agent.", then)
    if asked.kind == "search" and not agent.agent.searches:
        raise _refused(409, "The agent has no passages to search.")
    if agent.running(asked.client_id):
        return {"state": "running", "reason": ""}
    with agent.lock:
        state = writable(site, person, asked.item_id)
        running = agent.running(asked.client_id)
        # A reply is kept before its ask ends, so it is there if the ask does not run.
        reasons = [one.event.value.get("reason", "") for one in _replies(site, asked)]
        if not running and (not reasons or (asked.again and reasons[-1])):
            _check(site, state, asked)
            site.database.append(person.name, [asked.event])
            _start(site, agent, state, asked, len(reasons) + 1)
            running = True
    if running:
        return {"state": "running", "reason": ""}
    reason = shown_reason(person, reasons[-1])
    return {"state": "failed" if reason else "answered", "reason": reason}


def shown_reason(person: Person, reason: str) -> str:
    """Return why an agent gave no answer, for a person.

    An error names the agent, so the owner alone gets it.
    """
    if person.role == "owner" or not reason or reason.startswith(_TOLD):
        return reason
    return "The agent failed. The owner of the project can see the reason."


def _replies(site: Site, asked: _Ask) -> list[KeptEvent]:
    found = site.database.events(item_id=asked.item_id, kinds=("reply",))
    return [one for one in found if one.event.value.get("ask") == asked.client_id]


def _check(site: Site, state: WrittenConversation, asked: _Ask) -> None:
    """Raise `PageError` if a turn cannot be asked, or searched for, now."""
    turns = {turn.number: turn for turn in state.turns}
    known = turns.get(asked.turn)
    if asked.kind == "search":
        if known is None:
            raise _refused(409, f"There is no turn {asked.turn}.")
        return
    if known is not None and known.ask_id == asked.client_id:
        return
    if asked.turn != len(turns) + 1:
        said = f"Turn {asked.turn} was asked before; the next turn is {len(turns) + 1}."
        raise _refused(409, said, "Reload the page. Your text stays in the field.")
    most = site.project.settings.goals.turns.most
    if most is not None and asked.turn > most:
        raise _refused(409, f"A conversation of this project has at most {most} turns.")
    if state.turns and site.project.settings.complete_turns:
        lacks = turn_lacks(site.project.scheme, state.turns[-1])
        if lacks:
            raise _refused(409, f"Turn {len(turns)} needs {', '.join(lacks)}.")
    elif state.turns and state.turns[-1].final_answer is None:
        raise _refused(409, f"Turn {len(turns)} has no answer yet.")


def _start(
    site: Site, agent: AskedAgent, state: WrittenConversation, asked: _Ask, attempt: int
) -> None:
    made = partial(_search, asked.text) if asked.kind == "search" else _answer(state, asked)

    def keep(turn: AgentTurn) -> None:
        event = Event(
            f"{asked.client_id}-r{attempt}",
            "reply",
            asked.item_id,
            asked.kind,
            str(asked.turn),
            turn.value(asked.client_id),
        )
        site.database.append(AGENT, [event])

    agent.start(asked.client_id, made, keep)


def _search(text: str, agent: LiveAgent) -> AgentTurn:
    return agent.search(text)


def _answer(state: WrittenConversation, asked: _Ask) -> Any:
    """Return the call that answers a turn, from the final texts of the earlier ones."""
    history = []
    for turn in state.turns[: asked.turn - 1]:
        history.append(Message("user", turn.query))
        history.append(Message("agent", turn.final_answer or ""))
    labels: dict[str, Label] = {"conversation": asked.item_id, "turn": asked.turn}
    name = f"{asked.item_id}-{asked.turn}"
    query = Query(name, asked.text, history=tuple(history), labels=labels)
    return lambda agent: agent.reply(query)


def take_back(site: Site, person: Person, body: Mapping[str, Any]) -> Document:
    """Take the last turn back, with its labels and marks; return the text of its query."""
    client_id, item_id = _ids(body)
    state = writable(site, person, item_id)
    if site.database.event(client_id) is not None:
        return {"text": ""}
    if not state.turns:
        raise _refused(409, "The conversation has no turn.")
    last = state.turns[-1]
    if body.get("turn") != last.number:
        said = f"Only the last turn, {last.number}, can be taken back."
        raise _refused(409, said, "Reload the page.")
    given = site.database.events(
        item_id=item_id, person=person.name, kinds=("ask", "label"), counted=True
    )
    mine = [one.event.client_id for one in given if turn_number(one.event.part) == last.number]
    undoing = [
        Event(f"{client_id}-{n}" if n else client_id, "undo", item_id, value=value)
        for n, value in enumerate(mine)
    ]
    site.database.append(person.name, undoing)
    return {"text": last.query}


def submit(site: Site, person: Person, body: Mapping[str, Any]) -> Document:
    """Send a conversation to review, or take it back while nobody has reviewed it."""
    client_id, item_id = _ids(body)
    wanted = body.get("submitted") is True
    state = writable(site, person, item_id, submitted=not wanted)
    if wanted:
        goals = site.project.settings.goals
        found = list(problems(site.project.scheme, goal_stands(goals, state), state))
        if found:
            raise _refused(409, found[0], "The conversation is not sent to review.")
    event = Event(client_id, "label", item_id, "submitted", value=wanted or None)
    site.database.append(person.name, [event])
    return {"submitted": wanted}


def writable(
    site: Site, person: Person, item_id: str, *, submitted: bool = False
) -> WrittenConversation:
    """Return a conversation that a person may change; raise `PageError` with the reason if not."""
    if item_id not in site.project.items:
        raise _refused(404, f"There is no item {item_id!r}.")
    state = conversation(site.database, item_id)
    why = why_not(site, person, state)
    if why and not (submitted and may_take_back(person, state)):
        raise _refused(409, why)
    return state


def why_not(site: Site, person: Person, state: WrittenConversation) -> str:
    """Return why a person may not change a conversation; empty if they may."""
    if state.writer not in ("", person.name):
        return "Another person writes this conversation."
    gone = site.database.withdrawn([state.item_id])
    if gone:
        return f"The owner has taken this conversation out of the project: {gone[state.item_id]}"
    return _CLOSED.get(state.state, "")


def may_take_back(person: Person, state: WrittenConversation) -> bool:
    """Return whether a person may take a conversation back from review: nobody began with it."""
    begun = any(turn.decision for turn in state.turns)
    return state.writer == person.name and state.state == "submitted" and not begun


def _ids(body: Mapping[str, Any]) -> tuple[str, str]:
    row = Row(body)
    try:
        return row.take_id("client_id"), row.take_id("item_id")
    except FieldError as error:
        raise _refused(400, f"The request is not readable: {error}.") from error


def _refused(status: int, said: str, then: str = "") -> PageError:
    return PageError(status, StateText(said, then))
