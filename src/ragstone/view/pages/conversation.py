"""The page of one conversation: every turn with the answers and verdicts of all systems.

A data set may have a query per turn, with the labels `conversation` and `turn`, or one query per
conversation, with the earlier turns as its history. Both are shown whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from ragstone.errors import nearest_name
from ragstone.results.answer_language import answer_language
from ragstone.results.conversation_page import Dialogue, DialogueTurn, TurnReply, dialogue
from ragstone.results.results import Results
from ragstone.types import Conversation, Message
from ragstone.view.page import Document, ViewPage
from ragstone.view.store_view import StoreView
from ragstone.web.errors import PageError, StateText
from ragstone.web.page_query import PageQuery, page_address


def conversation_document(view: StoreView, query: PageQuery) -> Document:
    """Return a conversation; its id is that of the label `conversation`, or of a query."""
    name = query.text("experiment")
    if not name:
        name = next((one.name for one in view.experiments() if not one.problem), "")
    results = view.results(name)
    found = dialogue(results, _conversation(results, query.part("conversation_id")))
    systems = list(dict.fromkeys(one.system for one in results.trials))
    settings = results.settings
    last = settings[-1] if settings else ""
    chosen = query.choice("system", systems), query.choice("setting", settings, last)
    return {
        "experiment": results.name,
        "conversation": found.conversation,
        "labels": dict(found.labels),
        "systems": systems,
        "settings": settings,
        "system": chosen[0],
        "setting": chosen[1],
        "errors": [
            {"system": system, "setting": setting, "turns": list(turns)}
            for (system, setting), turns in found.errors.items()
            if chosen[0] in ("", system) and chosen[1] in ("", setting)
        ],
        "turns": list(_turns(results, found, *chosen)),
    }


def _conversation(results: Results, wanted: str) -> Conversation:
    """Return a conversation of the answered queries, or the query with its history."""
    every = {one.conversation_id: one for one in Conversation.of(results.queries.values())}
    if wanted in every:
        return every[wanted]
    if wanted in results.queries:
        one = results.queries[wanted]
        own = str(one.labels.get("conversation", ""))
        return every.get(own) or Conversation(wanted, (one,), one.labels)
    near = nearest_name(wanted, [*every, *results.queries]) or "."
    state = StateText(
        f"{results.name!r} has no conversation {wanted!r}{near}",
        link=page_address(f"/experiment/{results.name}"),
        link_text="The experiment",
    )
    raise PageError(404, state)


def _turns(results: Results, found: Dialogue, system: str, setting: str) -> Iterator[Document]:
    """Yield the turns; the messages before each one that no earlier turn has shown are with it."""
    shown: tuple[Message, ...] = ()
    for number, turn in enumerate(found.turns, start=1):
        history = turn.query.history
        known = history[: len(shown)] == shown
        before = history[len(shown) :] if known else history
        shown = (*history, Message("user", turn.query.text))
        yield {
            "number": turn.query.turn or number,
            "query_id": turn.query.query_id,
            "text": turn.query.text,
            "before": [[message.role, message.text] for message in before],
            "gold_answers": list(turn.query.gold_answers),
            "labels": dict(turn.labels),
            "replies": [
                _reply(results, turn, reply)
                for reply in turn.replies
                if system in ("", reply.system) and setting in ("", reply.setting)
            ],
        }


def _reply(results: Results, turn: DialogueTurn, reply: TurnReply) -> dict[str, Any]:
    rule, scores = results.correctness, reply.scores
    label = None
    if rule and rule.metric in scores:
        label = results.labels({rule.metric: {turn.query.query_id: scores[rule.metric]}})
    right = label[turn.query.query_id] if label else None
    place = {"system": reply.system, "setting": reply.setting, "experiment": results.name}
    return {
        "system": reply.system,
        "setting": reply.setting,
        "answer": reply.prediction.answer,
        "language": answer_language(results, reply.prediction.answer),
        "reason": "" if reply.prediction.answer is not None else reply.prediction.reason,
        "refused": reply.refused,
        "right": None if right is None else right == 1,
        "error": reply.error,
        "scores": [
            {"metric": one.metric, "value": one.value}
            for one in scores.values()
            if one.value is not None
        ],
        "passages": [[p.passage_id, p.text, relevant] for p, relevant in reply.passages],
        "link": page_address(f"/query/{turn.query.query_id}", place),
    }


CONVERSATION: Final = ViewPage(
    "/conversation/{conversation_id:.+}",
    "Conversation",
    "conversation.html",
    conversation_document,
    marks="/queries",
)
