"""The page on which reviewers accept, repair or reject the turns of a conversation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict
from typing import Any, Final

from ragstone.annotation.conversation import WrittenConversation, WrittenTurn, conversation
from ragstone.annotation.database import Person
from ragstone.annotation.edit_score import changed_words, edit_score, edit_scores, mean_edit_score
from ragstone.annotation.pages.conversation import turn_questions
from ragstone.annotation.review import (
    SubmittedConversation,
    checks,
    last_event,
    submitted_conversations,
)
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.web import limits
from ragstone.web.errors import PageError, StateText

_PATH: Final = "/review"
_STATES: Final = ("submitted", "returned", "accepted")


def _make(site: Site, visit: Visit) -> Document:
    item_id = visit.query.text("item")
    return _conversation(site, visit, item_id) if item_id else _list(site, visit)


def _known(site: Site) -> list[SubmittedConversation]:
    """Return the submitted conversations whose items are in the project."""
    found = [
        one for one in submitted_conversations(site.database) if one.item_id in site.project.items
    ]
    named = {one.event.item_id for one in site.database.events(kinds=("withdraw",))}
    gone = site.database.withdrawn(sorted(named))
    return [one for one in found if one.item_id not in gone]


def _list(site: Site, visit: Visit) -> Document:
    """Return the conversations of one state, those that a person may review first."""
    known, name = _known(site), visit.person.name
    shown = visit.query.choice("show", _STATES, _STATES[0])
    start = visit.query.number("from", 0)
    some = [one for one in known if one.state == shown]
    rows = [one for one in some if shown != _STATES[0] or one.writer != name]
    return {
        "item": None,
        "show": shown,
        "counts": {state: sum(one.state == state for one in known) for state in _STATES},
        "own": sum(one.writer == name and one.state == _STATES[0] for one in known),
        "total": len(rows),
        "start": start,
        "rows": [_line(site, one) for one in rows[start : start + limits.VIEW_ROWS]],
        "scores": _scores(site, some) if visit.query.text("scores") else None,
    }


def _line(site: Site, one: SubmittedConversation) -> dict[str, Any]:
    return {**asdict(one), "query": site.project.items[one.item_id].query.text}


def _scores(site: Site, accepted: list[SubmittedConversation]) -> dict[str, Any] | None:
    """Return the mean edit score of the repaired answers of accepted conversations."""
    pairs, names, answers = [], [], 0
    for one in accepted:
        for turn in conversation(site.database, one.item_id).turns:
            answers += turn.final_answer is not None
            if _is_edited(turn):
                pairs.append((turn.answer or "", turn.final_answer or ""))
                names.append(one.item_id)
    if not pairs:
        return None
    found = mean_edit_score(edit_scores(pairs), names)
    return {"mean": found.mean, "interval": found.interval, "n": found.n, "answers": answers}


def _is_edited(turn: WrittenTurn) -> bool:
    return turn.answer is not None and turn.final_answer not in (None, turn.answer)


def _conversation(site: Site, visit: Visit, item_id: str) -> Document:
    person = visit.person
    if item_id not in site.project.items:
        raise _problem(404, f"There is no item {item_id!r}.")
    gone = site.database.withdrawn([item_id])
    if gone:
        raise _problem(409, f"The conversation was withdrawn: {gone[item_id]}")
    state = conversation(site.database, item_id)
    if person.name == state.writer:
        raise _problem(403, "Nobody reviews their own conversation.")
    if state.state == "writing":
        who = f"{state.writer} works on it." if state.writer else "Nobody has begun it."
        raise _problem(409, f"The conversation is not submitted: {who}")
    return _document(site, visit, state)


def _problem(status: int, said: str) -> PageError:
    state = StateText(said, link=_PATH, link_text="Conversations that wait for review")
    return PageError(status, state)


def _document(site: Site, visit: Visit, state: WrittenConversation) -> Document:
    person = visit.person
    names = {one.name for one in site.project.scheme.questions}
    turns = [_turn(one, names) for one in state.turns]
    first = next((n for n, one in enumerate(state.turns, 1) if not one.decision), 1)
    shown = visit.query.number("turn", first, least=1, most=max(len(turns), 1))
    scores = [one["edit_score"] for one in turns if one["edit_score"]]
    waiting = [o.item_id for o in _known(site) if _waits(o, person) and o.item_id != state.item_id]
    return {
        "item": state.item_id,
        "writer": state.writer,
        "others": [one for one in state.reviewers if one != person.name],
        "mine": state.reviewer == person.name,
        "state": state.state,
        "verdict": state.verdict,
        "verdict_reason": state.verdict_reason,
        "is_mended": state.is_mended,
        "open": state.state == "submitted",
        "turns": turns,
        "now": _now(state, state.turns[shown - 1], turns[shown - 1]) if turns else None,
        "decided": sum(bool(one.decision) for one in state.turns),
        "relevant": len({one for turn in state.turns for one in turn.relevant}),
        "edited": len(scores),
        "mean_edit_score": sum(scores) / len(scores) if scores else None,
        "checks": [{"met": met, "text": text} for met, text in checks(state)],
        "questions": turn_questions(site.project.scheme.questions),
        "last": last_event(site.database, state.item_id, person.name),
        "following": waiting[0] if waiting else "",
        "waiting": len(waiting),
    }


def _waits(one: SubmittedConversation, person: Person) -> bool:
    return one.state == "submitted" and one.writer != person.name


def _turn(turn: WrittenTurn, questions: Collection[str]) -> dict[str, Any]:
    """Return a turn as the list of turns shows it, with the labels that the scheme asks for."""
    return {
        "number": turn.number,
        "query": turn.query,
        "answer": turn.final_answer,
        "decision": turn.decision,
        "decision_reason": turn.decision_reason,
        "labels": {k: _plain(v) for k, v in turn.labels.items() if k in questions},
        "passages": len(turn.passages),
        "relevant": len(turn.relevant),
        "unmarked": turn.unmarked,
        "edit_score": _score(turn.answer, turn.final_answer),
    }


def _plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _score(before: str | None, after: str | None) -> float | None:
    return None if before is None or after is None else edit_score(before, after)


def _now(state: WrittenConversation, turn: WrittenTurn, shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return the turn that is open, with all its texts and passages."""
    return {
        **shown,
        "agent_answer": turn.answer,
        "written_answer": turn.written_answer,
        "reviewed_answer": turn.reviewed.answer,
        "reason": turn.reason,
        "changes": [
            one
            for one in (
                _change(state.writer, turn.answer, turn.written.answer),
                _change(state.reviewer, turn.written_answer, turn.reviewed.answer),
            )
            if one
        ],
        "given": dict(turn.labels),
        "shown": [
            {
                **{name: getattr(one, name) for name in ("passage_id", "title", "text")},
                "mark": turn.relevance.get(one.passage_id, ""),
                "written": turn.written.relevance.get(one.passage_id, ""),
                "searched": number > turn.seen,
            }
            for number, one in enumerate(turn.passages, 1)
        ],
    }


def _change(who: str, before: str | None, after: str | None) -> dict[str, Any] | None:
    """Return how a person changed a text; None if they did not."""
    if after is None or after == before:
        return None
    parts, score = changed_words(before or "", after), edit_score(before or "", after)
    return {"who": who, "before": before, "after": after, "parts": parts, "edit_score": score}


REVIEW_PAGE: Final = SitePage(
    _PATH,
    "Review",
    "review.html",
    _make,
    "Review",
    roles=("reviewer", "owner"),
    tasks=("conversation",),
)
