"""Whether a model answers rightly: with a passage, and without context."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.match import Match
from ragstone.protocols import Generator, Services
from ragstone.types import Context, ContextPassage, Passage, Query, Task


def reading_task(query: Query, *passages: Passage) -> Task:
    """Return the task to answer a query with some passages, or without context."""
    shown = tuple(ContextPassage(p.passage_id, p.full_text, "gold") for p in passages)
    return Task(query, Context(query.query_id, "gold" if shown else "none", shown))


def right_answers(
    tasks: Sequence[Task], reader: Generator, services: Services
) -> list[bool | None]:
    """Return per task whether the reader's answer contains a gold answer; None without an answer.

    The queries have gold answers. "Contains" is the metric Match.
    """
    predictions = [outcome.value for outcome in reader.generate(tasks, services)]
    answers = [prediction.answer if prediction else None for prediction in predictions]
    queries = [task.query for task in tasks]
    batch = AnswerBatch(
        [answer or "" for answer in answers],
        [query.gold_answers for query in queries],
        [query.text for query in queries],
        [task.context for task in tasks],
        [str(query.labels.get("language") or "") for query in queries],
    )
    values = Match().values(batch).tolist()
    return [None if a is None else value > 0 for a, value in zip(answers, values, strict=True)]
