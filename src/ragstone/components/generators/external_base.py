"""What your own systems have in common: how a task is handed over, how an answer is read.

A system sees the query, what was said before it, and, where it takes a context, the passages of the
setting. It never sees gold answers, qrels or labels: they are not in what is handed over.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Reply, Request, Sampling
from ragstone.components.generators.llm_base import predicted
from ragstone.errors import ConfigError
from ragstone.types import Context, ContextPassage, Message, Prediction, Query, Task

PLAIN: Final = Sampling(temperature=None, max_tokens=None)
"""A system of one's own decides for itself how it draws a reply."""


def hand_over(task: Task) -> dict[str, Any]:
    """Return a task as a system of one's own is given it, as plain data."""
    return {
        "query_id": task.query.query_id,
        "query": task.query.text,
        "history": [{"role": m.role, "text": m.text} for m in task.query.history],
        "passages": [{"passage_id": p.passage_id, "text": p.text} for p in task.context.passages],
    }


def as_request(task: Task) -> Request:
    """Return the request that hands a task over."""
    return Request((("task", orjson.dumps(hand_over(task)).decode()),), PLAIN)


def as_task(request: Request) -> Task:
    """Return the task that `as_request` handed over: without gold answers and labels."""
    given = orjson.loads(request.messages[0][1])
    history = tuple(Message(m["role"], m["text"]) for m in given["history"])
    passages = tuple(
        ContextPassage(p["passage_id"], p["text"], "retrieved") for p in given["passages"]
    )
    query = Query(given["query_id"], given["query"], history=history)
    return Task(query, Context(query.query_id, "", passages))


def ask_own(
    tasks: Sequence[Task], requests: Sequence[Request], endpoint: Endpoint, calls: Calls
) -> Iterator[Prediction]:
    """Yield one prediction per task, in order."""
    outcomes = calls.ask(endpoint, requests, title=f"answers of {endpoint.model}")
    for task, outcome in zip(tasks, outcomes, strict=True):
        yield predicted(task.query.query_id, outcome, calls.cost(endpoint, outcome))


def check_takes_context(tasks: Sequence[Task], name: str, way: str, *, takes: bool) -> None:
    """Raise `ConfigError` where a setting shows passages to a system that takes none."""
    shown = next((task.context for task in tasks if task.context.passages), None)
    if shown is not None and not takes:
        raise ConfigError(
            f"the setting {shown.setting!r} shows passages, but {name} takes none, so its answers "
            f"would count for a context it never saw; use the setting 'none', or {way}"
        )


def read_answer(value: object, name: str) -> Reply:
    """Return what a system of one's own returned as a reply; `ValueError` says what is wrong.

    A text, a `Prediction`, or a mapping with `answer` and, where known, `passage_ids` (or
    `passages`, a list of objects with `passage_id`), `tokens_in` and `tokens_out`.

    >>> read_answer({"answer": "1912", "passage_ids": ["p7"]}, "mine").passage_ids
    ('p7',)
    """
    if isinstance(value, str):
        return Reply(value)
    if isinstance(value, Prediction):
        if value.answer is None:
            raise ValueError(f"{name} failed: {value.reason or 'no reason given'}")
        ids, used = value.passage_ids, (value.tokens_in, value.tokens_out)
        return Reply(value.answer, tokens_in=used[0], tokens_out=used[1], passage_ids=ids)
    if not isinstance(value, Mapping):
        kind = type(value).__name__
        raise _unusable(f"{name} returned {kind}; expected a text, or a mapping with 'answer'")
    answer = value.get("answer")
    if not isinstance(answer, str):
        held = ", ".join(sorted(map(str, value))) or "nothing"
        raise _unusable(f"{name} returned no text under 'answer'; it returned: {held}")
    return Reply(
        answer,
        tokens_in=_count(value.get("tokens_in")),
        tokens_out=_count(value.get("tokens_out")),
        passage_ids=_passage_ids(value.get("passage_ids", value.get("passages")), name),
    )


def _unusable(reason: str) -> ValueError:
    return ValueError(reason)


def _passage_ids(listed: object, name: str) -> tuple[str, ...] | None:
    if listed is None:
        return None
    if isinstance(listed, list | tuple):
        ids = [i.get("passage_id") if isinstance(i, Mapping) else i for i in listed]
        texts = tuple(item for item in ids if isinstance(item, str))
        if len(texts) == len(ids):
            return texts
    raise ValueError(
        f"{name} returned passages of an unexpected shape: {str(listed)[:80]}; expected a list of "
        "ids, or of objects with 'passage_id'"
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
