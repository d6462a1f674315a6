"""The output of systems in MTRAGEval's files: rankings, contexts and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.data.readers.mtrag_files import document_rows
from ragstone.data.readers.rows import FieldError, Row, reading, show
from ragstone.data.writers.mtrag import Submission
from ragstone.errors import DatasetError
from ragstone.types import Context, ContextPassage, Origin, Prediction, Ranking


def read_submission(path: Path) -> Submission:
    """Return a system's output for the tasks of a file, by query id.

    A task has a ranking if every passage has a score, and a context if every passage has a text.
    Raises `DatasetError` with the line if a row is malformed.
    """
    rankings: dict[str, Ranking] = {}
    contexts: dict[str, Context] = {}
    predictions: dict[str, Prediction] = {}
    for place, row in document_rows(path):
        with reading(path, place):
            query_id = row.take_text("task_id")
            if query_id in predictions or query_id in contexts or query_id in rankings:
                raise FieldError(f"the task {show(query_id)} occurs twice; keep one of the two")
            shown = [Row.of(context) for context in row.get("contexts") or ()]
            found = _ranking(shown)
            if found:
                rankings[query_id] = found
            if shown and all(isinstance(context.get("text"), str) for context in shown):
                contexts[query_id] = context_of(query_id, shown)
            if row.get("predictions"):
                predictions[query_id] = _prediction(query_id, row["predictions"])
    if not (rankings or contexts or predictions):
        raise DatasetError(f"{path} contains neither contexts nor predictions")
    return Submission(rankings, contexts, predictions)


def _ranking(shown: Sequence[Mapping[str, Any]]) -> Ranking | None:
    scores = [context.get("score") for context in shown]
    if not shown or not all(isinstance(score, int | float) for score in scores):
        return None
    ids = [Row(context).take_text("document_id") for context in shown]
    pairs = [(float(score or 0), passage_id) for score, passage_id in zip(scores, ids, strict=True)]
    if len({passage_id for _, passage_id in pairs}) < len(pairs):
        raise FieldError("the field 'contexts' names a document_id twice")
    # Places with equal scores keep the order of the file.
    ordered = sorted(pairs, key=lambda pair: -pair[0])
    return Ranking([passage_id for _, passage_id in ordered], [score for score, _ in ordered])


def context_of(
    query_id: str, shown: Sequence[Mapping[str, Any]], setting: str = "recorded"
) -> Context:
    """Return the passages shown for a query."""
    passages = [
        ContextPassage(Row(c).take_text("document_id"), c["text"], _origin(c)) for c in shown
    ]
    return Context(query_id, setting, tuple(passages))


def _origin(context: Mapping[str, Any]) -> Origin:
    found = context.get("origin")
    return found if found in ("gold", "noise") else "retrieved"


def _prediction(query_id: str, listed: Any) -> Prediction:
    if type(listed) is not list or len(listed) != 1:
        raise FieldError(f"the field 'predictions' must list one answer, found {show(listed)}")
    given = Row.of(listed[0])
    failed = given.get("failed")
    if isinstance(failed, str):
        return Prediction(query_id, None, failed)
    return Prediction(query_id, given.take_text("text"))
