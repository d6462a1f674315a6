"""The page on which a person writes a conversation with the live agent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Final

from ragstone.annotation.assignment import next_items
from ragstone.annotation.conversation import WrittenConversation, WrittenTurn, conversation
from ragstone.annotation.conversation_calls import (
    ask,
    may_take_back,
    shown_reason,
    submit,
    take_back,
    why_not,
)
from ragstone.annotation.edit_score import changed_words, edit_score
from ragstone.annotation.goals import UNANSWERABLE, goal_stands, problems, turn_lacks
from ragstone.annotation.people import Person
from ragstone.annotation.schemes import Question
from ragstone.annotation.site import Document, Site, SiteCall, SitePage, Visit
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText

_PATH: Final = "/conversation"
_KEYS: Final = {"answerability": "qwrt", "multi_turn": "fcn", "standalone": "sd"}
"""Question -> the keys of its options."""
_GROUP_KEYS: Final = "oigbz"
"""Keys that lead to the other questions, whose options have digits."""
_DIGITS: Final = "1234567890"


def _make(site: Site, visit: Visit) -> Document:
    person = visit.person
    item_id = visit.query.text("item") or _next(site, person)
    if not item_id:
        said = "No conversation is left for you."
        return {"item": None, "state": StateText(said, "Every one is begun or sent to review.")}
    item = site.project.items.get(item_id)
    if item is None:
        raise PageError(
            404, StateText(f"There is no item {item_id!r}.", link=_PATH, link_text="Go on")
        )
    state = conversation(site.database, item_id)
    closed = why_not(site, person, state)
    if state.writer not in ("", person.name) and person.role == "annotator":
        raise PageError(403, StateText(closed, link=_PATH, link_text="Your next conversation"))
    return _document(site, visit, state, closed)


def _document(site: Site, visit: Visit, state: WrittenConversation, closed: str) -> Document:
    goals, scheme = site.project.settings.goals, site.project.scheme
    item, person = site.project.items[state.item_id], visit.person
    stands = goal_stands(goals, state, _share(site) if goals.unanswerable_share else (0, 0))
    versions = _versions(site, state)
    turns = [_turn(site, person, one, versions[str(one.number)]) for one in state.turns]
    shown = visit.query.number("turn", len(turns), most=len(turns)) or len(turns)
    most = goals.turns.most
    return {
        "item": {
            "item_id": item.item_id,
            "query": item.query.text,
            "passages": [asdict(one) for one in item.passages],
        },
        "state": state.state,
        "closed": closed,
        "verdict": state.verdict,
        "verdict_reason": state.verdict_reason,
        "may_take_back": may_take_back(person, state),
        "turns": turns,
        "now": turns[shown - 1] if turns else None,
        "next": len(turns) + 1,
        "is_full": most is not None and len(turns) >= most,
        "goals": [asdict(one) for one in stands],
        "problems": list(problems(scheme, stands, state)),
        "questions": turn_questions(scheme.questions),
        "guidelines": scheme.guidelines,
        "agent": _agent(site, person),
    }


def _next(site: Site, person: Person) -> str:
    """Return the conversation that a person has begun, else the next one that nobody has begun."""
    writers: dict[str, str] = {}
    for kept in site.database.events(kinds=("ask",)):
        if kept.event.field == "query":
            writers.setdefault(kept.event.item_id, kept.person)
    own = [item_id for item_id, writer in writers.items() if writer == person.name]
    gone = site.database.withdrawn(own)
    for item_id in (one for one in own if one in site.project.items and one not in gone):
        if conversation(site.database, item_id).state in ("writing", "returned"):
            return item_id
    # Ask for no more items than needed: each offered item is held for this person.
    for count in range(1, len(site.project.items) + 1):
        offered = next_items(site, person.name, count)
        free = [one for one in offered if one not in writers and one in site.project.items]
        if free:
            return free[0]
        if len(offered) < count:
            break
    return ""


def _share(site: Site) -> tuple[int, int]:
    """Return the labelled and the unanswerable turns of the project."""
    values = [one.value for one in site.database.labels(field="answerability")]
    return len(values), values.count(UNANSWERABLE)


def _versions(site: Site, state: WrittenConversation) -> Counter[str]:
    """Return turn -> number of kept texts of its answer, the agent's included."""
    labels = site.database.events(item_id=state.item_id, kinds=("label",))
    texts = {
        (one.event.part, one.event.value)
        for one in labels
        if one.event.field == "answer" and isinstance(one.event.value, str)
    }
    given = {(str(turn.number), turn.answer) for turn in state.turns if turn.answer is not None}
    return Counter(part for part, _ in texts | given)


def _turn(site: Site, person: Person, turn: WrittenTurn, versions: int) -> dict[str, Any]:
    final = turn.final_answer
    running = site.agent is not None and site.agent.running(turn.ask_id)
    return {
        "number": turn.number,
        "query": turn.query,
        "ask_id": turn.ask_id,
        "agent_answer": turn.answer,
        "answer": final,
        "reason": shown_reason(person, turn.reason),
        "running": running,
        "search": turn.search,
        "passages": [
            {**asdict(one), "mark": turn.relevance.get(one.passage_id, "")} for one in turn.passages
        ],
        "seen": turn.seen,
        "unmarked": turn.unmarked,
        "relevant": len(turn.relevant),
        "labels": dict(turn.labels),
        "edit_score": None if final is None else edit_score(turn.answer or "", final),
        "parts": changed_words(turn.answer or "", final or ""),
        "versions": versions,
        "lacks": turn_lacks(site.project.scheme, turn),
        "decision": turn.decision,
        "decision_reason": turn.decision_reason,
    }


def turn_questions(questions: tuple[Question, ...]) -> list[dict[str, Any]]:
    """Return the questions about a turn with their keys."""
    free, found = iter(_GROUP_KEYS), []
    for question in questions:
        if question.of != "turn":
            continue
        own = _KEYS.get(question.name, "")
        group = "" if len(own) >= len(question.options) else next(free, "")
        keys = _DIGITS if group else own
        options = [
            {"value": option.value, "words": option.words, "shown": option.shown, "key": key}
            for option, key in zip(question.options, keys, strict=False)
        ]
        found.append(
            {
                "name": question.name,
                "text": question.text,
                "several": question.kind == "choices",
                "optional": question.optional,
                "group": group,
                "options": options,
            }
        )
    return found


def _agent(site: Site, person: Person) -> dict[str, Any]:
    """Return the agent's abilities and name; its name is for the owner alone."""
    if site.agent is None:
        return {"works": False, "searches": False, "name": ""}
    name = site.agent.agent.name if person.role == "owner" else ""
    return {"works": True, "searches": site.agent.agent.searches, "name": name}


def _changes(_site: Site, _person: Person, body: Mapping[str, Any]) -> Document:
    """Return the changed words and the edit score of a text that is being written."""
    before, after = (
        str(body.get(name, ""))[: limits.EVENT_VALUE_BYTES] for name in ("before", "after")
    )
    return {"parts": changed_words(before, after), "edit_score": edit_score(before, after)}


CONVERSATION_PAGE: Final = SitePage(
    _PATH, "Conversation", "conversation.html", _make, "Conversation", tasks=("conversation",)
)
CONVERSATION_CALLS: Final = (
    SiteCall("/ask", ask),
    SiteCall("/undo-turn", take_back),
    SiteCall("/submit", submit),
    SiteCall("/changes", _changes),
)
