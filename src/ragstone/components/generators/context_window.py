"""Cutting the history and the passages of a task to a budget of tokens.

A token counts as four bytes of text, the average of English with current tokenizers. The cut is
therefore the same for every model; set the budget somewhat below the model's own limit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from ragstone.types import Message, Task

_BYTES_PER_TOKEN: Final = 4


def count_tokens(texts: Iterable[str]) -> int:
    """Return the approximate number of tokens of some texts.

    >>> count_tokens(["A dozen words take sixteen tokens or thereabouts, as English goes here."])
    18
    """
    return sum(math.ceil(len(text.encode("utf-8", "replace")) / _BYTES_PER_TOKEN) for text in texts)


def _tokens(task: Task) -> int:
    history = (message.text for message in task.query.history)
    return count_tokens(history) + count_tokens(passage.text for passage in task.context.passages)


def fit(
    task: Task, budget: int | None, tokens: Callable[[Task], int] = _tokens
) -> tuple[Task, str]:
    """Return the task cut to the budget, and the names of the parts dropped ("" for none).

    History and passages share the budget; the query is never cut. The oldest turns are dropped
    first, then the last passages, and the turn before the query last.

    Args:
        task: a query with its passages.
        budget: the maximum; None keeps everything.
        tokens: counts what the budget limits; by default history and passages, approximately.

    >>> from ragstone.types import Context, Query
    >>> history = (Message("user", "a" * 400), Message("agent", "b"), Message("user", "c"))
    >>> short, dropped = fit(Task(Query("q", "?", history=history), Context("q", "none")), 50)
    >>> [message.text for message in short.query.history], dropped
    (['c'], 'turn 1')
    """
    if budget is None or tokens(task) <= budget:
        return task, ""
    turns = _turns(task.query.history)
    total, dropped = len(turns), 0
    while len(turns) > 1 and tokens(task) > budget:
        turns, dropped = turns[1:], dropped + 1
        task = _with_history(task, turns)
    passages, kept = task.context.passages, len(task.context.passages)
    while kept and tokens(task) > budget:
        kept -= 1
        task = replace(task, context=replace(task.context, passages=passages[:kept]))
    if turns and tokens(task) > budget:
        task, dropped = _with_history(task, []), total
    named = ["turn 1" if dropped == 1 else f"turns 1-{dropped}"] if dropped else []
    listed = ", ".join(f"passage {passage.passage_id}" for passage in passages[kept:])
    return task, "; ".join([*named, listed] if listed else named)


def _turns(history: tuple[Message, ...]) -> list[list[Message]]:
    """Return the messages of each turn; a turn begins with a message of the user."""
    turns: list[list[Message]] = []
    for message in history:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _with_history(task: Task, turns: list[list[Message]]) -> Task:
    history = tuple(message for turn in turns for message in turn)
    return replace(task, query=replace(task.query, history=history))
