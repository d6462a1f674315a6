"""What of a long conversation and of many passages fits into a prompt, and what was dropped.

Tokens are counted as four bytes of text each, which is what English takes with the tokenizers in
use, so that the same is dropped whatever the model; leave some room below the model's own limit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ragstone.types import Message, Task

_BYTES: Final = 4


def count_tokens(texts: Iterable[str]) -> int:
    """Return about how many tokens some texts take.

    >>> count_tokens(["A dozen words take sixteen tokens or thereabouts, as English goes here."])
    18
    """
    return sum(math.ceil(len(text.encode("utf-8", "replace")) / _BYTES) for text in texts)


def fit(task: Task, budget: int | None) -> tuple[Task, str]:
    """Return the task with what fits into the budget, and what was dropped ("" for nothing).

    History and passages share the budget; the query is never cut. The oldest turns go first, then
    the last passages, and the turn just before the query goes last.

    >>> from ragstone.types import Context, Query
    >>> said = (Message("user", "a" * 400), Message("agent", "b"), Message("user", "c"))
    >>> short, dropped = fit(Task(Query("q", "?", history=said), Context("q", "none")), 50)
    >>> [message.text for message in short.query.history], dropped
    (['c'], 'turn 1')
    """
    if budget is None or _taken(task) <= budget:
        return task, ""
    turns = _turns(task.query.history)
    whole, gone = len(turns), 0
    while len(turns) > 1 and _taken(task) > budget:
        turns, gone = turns[1:], gone + 1
        task = _with_history(task, turns)
    passages, kept = task.context.passages, len(task.context.passages)
    while kept and _taken(task) > budget:
        kept -= 1
        task = replace(task, context=replace(task.context, passages=passages[:kept]))
    if turns and _taken(task) > budget:
        task, gone = _with_history(task, []), whole
    return task, "; ".join(filter(None, [_told(gone), ", ".join(_ids(passages[kept:]))]))


def _taken(task: Task) -> int:
    said = (message.text for message in task.query.history)
    return count_tokens(said) + count_tokens(passage.text for passage in task.context.passages)


def _turns(history: tuple[Message, ...]) -> list[list[Message]]:
    """Return a history turn by turn; a turn begins where the user speaks."""
    turns: list[list[Message]] = []
    for message in history:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _with_history(task: Task, turns: list[list[Message]]) -> Task:
    said = tuple(message for turn in turns for message in turn)
    return replace(task, query=replace(task.query, history=said))


def _told(gone: int) -> str:
    return "" if not gone else "turn 1" if gone == 1 else f"turns 1-{gone}"


def _ids(passages: Iterable[object]) -> list[str]:
    return [f"passage {getattr(passage, 'passage_id', '')}" for passage in passages]
