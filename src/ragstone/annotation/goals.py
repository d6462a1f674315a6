"""The goals of a conversation, its numbers so far, and the missing parts of a turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from ragstone.annotation.conversation import WrittenConversation, WrittenTurn
    from ragstone.annotation.project import Goal, Goals
    from ragstone.annotation.schemes import Scheme

UNANSWERABLE: Final = "unanswerable"
_FROM_TURN_2: Final = ("multi_turn",)
"""Labels that the first turn does not have."""


@dataclass(frozen=True, slots=True)
class GoalStand:
    """A goal, and the number that the conversation has."""

    name: str
    count: int
    words: str
    """The noun of the number, such as `turns`."""
    note: str
    """The requirement, in words."""
    least: int | None = None
    most: int | None = None
    scale: int = 1
    """The number at the right end of the drawn line."""
    lacks: str = ""
    """Why the conversation cannot be sent to review; empty if it can."""


def goal_stands(
    goals: Goals, state: WrittenConversation, share: tuple[int, int] = (0, 0)
) -> list[GoalStand]:
    """Return the goals of a project with the numbers of a conversation.

    Args:
        goals: the goals; the number of turns is always shown.
        state: the conversation.
        share: the labelled and the unanswerable turns of the whole project.
    """
    labels = [turn.labels for turn in state.turns]
    unanswerable = sum(one.get("answerability") == UNANSWERABLE for one in labels)
    passages = {one for turn in state.turns for one in turn.relevant}
    answered = sum(turn.final_answer is not None for turn in state.turns)
    stands = [_bounded("turns", answered, "turn", goals.turns)]
    if _has_bound(goals.unanswerable):
        noun = "unanswerable turn"
        stands.append(_bounded("unanswerable", unanswerable, noun, goals.unanswerable))
    if goals.unanswerable_share is not None:
        stands.append(_shared(goals.unanswerable_share, *share))
    if goals.question_types:
        given = {str(value) for one in labels for value in listed(one.get("question_type"))}
        stands.append(_typed(goals.question_types, given))
    if _has_bound(goals.relevant_passages):
        noun = "relevant passage"
        stands.append(_bounded("relevant_passages", len(passages), noun, goals.relevant_passages))
    return stands


def listed(value: object) -> list[object]:
    """Return the values of a label, which may have one, several or none."""
    return list(value) if isinstance(value, list | tuple) else [value] if value else []


def turn_lacks(scheme: Scheme, turn: WrittenTurn) -> list[str]:
    """Return the missing parts of a turn before the next one: an answer, marks, labels."""
    if turn.final_answer is None:
        return ["an answer"]
    found = []
    if turn.unmarked:
        found.append(f"marks of {turn.unmarked} {_noun('passage', turn.unmarked)}")
    for question in scheme.questions:
        needed = question.of == "turn" and not question.optional
        first = turn.number == 1 and question.name in _FROM_TURN_2
        if needed and not first and not listed(turn.labels.get(question.name)):
            found.append(question.name.replace("_", " "))
    return found


def problems(
    scheme: Scheme, stands: Iterable[GoalStand], state: WrittenConversation
) -> Iterator[str]:
    """Yield why a conversation cannot be sent to review."""
    yield from (one.lacks for one in stands if one.lacks)
    for turn in state.turns:
        if turn_lacks(scheme, turn):
            yield f"Turn {turn.number} is not complete."


def _has_bound(goal: Goal) -> bool:
    return goal.least is not None or goal.most is not None


def _noun(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _bounded(name: str, count: int, noun: str, goal: Goal) -> GoalStand:
    least, most = goal.least or 0, goal.most
    lacks = ""
    if count < least:
        needed = least - count
        note = f"{needed} more needed"
        lacks = f"{needed} more {_noun(noun, needed)} needed."
    elif most is not None and count > most:
        note = f"{count - most} too many"
        lacks = f"{count - most} {_noun(noun, count - most)} too many."
    elif most is None:
        note = f"at least {least} needed"
    else:
        note = f"{least} to {most} allowed"
    scale = max(1, count, least, most or 0) + 1
    return GoalStand(name, count, _noun(noun, count), note, goal.least, most, scale, lacks)


def _typed(wanted: tuple[str, ...], given: set[str]) -> GoalStand:
    missing = [one for one in wanted if one not in given]
    note = f"not yet: {', '.join(missing)}" if missing else "each of them occurs"
    lacks = f"No turn has the question type {missing[0]}." if missing else ""
    count, words = len(wanted) - len(missing), f"of {len(wanted)} question types"
    return GoalStand("question_types", count, words, note, len(wanted), None, len(wanted), lacks)


def _shared(wanted: float, labelled: int, unanswerable: int) -> GoalStand:
    """Return the share of the project, which no single conversation must have."""
    has = round(100 * unanswerable / labelled) if labelled else 0
    goal = round(100 * wanted)
    note = f"wanted of all conversations: {goal} %"
    return GoalStand("unanswerable_share", has, "% unanswerable", note, goal, None, 100)
