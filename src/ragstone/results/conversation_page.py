"""Conversations as dialogues: queries, answers and contexts by turn, with the errors.

A reply is an error if there is no answer, if it declines an answerable query or answers an
unanswerable one (`answerability` is 0), or if it is wrong by the rule for correct answers.
Conversations with the most errors come first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ragstone.components.metrics.refusal import refusal
from ragstone.core import limits
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.statistics.correctness import Correctness
from ragstone.types import ContextPassage, Conversation, Label, Prediction, Query, Score

_HIDDEN: Final = frozenset({"conversation", "turn", "collection", "conversation_file"})


@dataclass(frozen=True)
class TurnReply:
    """The output of one system under one setting at one turn."""

    system: str
    setting: str
    prediction: Prediction
    refused: bool
    scores: Mapping[str, Score]
    passages: tuple[tuple[ContextPassage, bool], ...]
    """Each passage of the context, and whether it is relevant."""
    error: str
    """Description of the error, or ""."""


@dataclass(frozen=True)
class DialogueTurn:
    """One turn of a conversation."""

    query: Query
    labels: Mapping[str, Label]
    replies: tuple[TurnReply, ...]


@dataclass(frozen=True)
class Dialogue:
    """One conversation."""

    conversation: str
    labels: Mapping[str, Label]
    """Labels that all its turns share."""
    turns: tuple[DialogueTurn, ...]
    errors: Mapping[tuple[str, str], tuple[int, ...]]
    """(system, setting) -> numbers of the turns with an error, in order."""

    @property
    def error_count(self) -> int:
        """Number of replies with an error."""
        return sum(map(len, self.errors.values()))


def dialogues(results: StoredResults) -> list[Dialogue]:
    """Return the conversations among the answered queries; most errors first."""
    found = [dialogue(results, one) for one in Conversation.of(results.queries.values())]
    return sorted(found, key=lambda one: -one.error_count)[: limits.REPORT_CONVERSATIONS]


def dialogue(results: StoredResults, conversation: Conversation) -> Dialogue:
    """Return a conversation with the replies of every system under every setting."""
    shared = {n: v for n, v in conversation.labels.items() if _is_shown(n, v)}
    turns = tuple(
        DialogueTurn(
            query,
            {n: v for n, v in query.labels.items() if _is_shown(n, v) and n not in shared},
            tuple(_reply(results, trial.first, query) for trial in results.trials),
        )
        for query in conversation.turns
    )
    errors = {
        (trial.system, trial.setting): tuple(
            turn.query.turn or 0 for turn in turns if turn.replies[place].error
        )
        for place, trial in enumerate(results.trials)
    }
    return Dialogue(conversation.conversation_id, shared, turns, errors)


def _is_shown(name: str, value: Label) -> bool:
    too_long = isinstance(value, str) and len(value) > limits.MAX_LABEL_CHARACTERS
    return name not in _HIDDEN and not too_long


def _reply(results: StoredResults, trial: TrialResults, query: Query) -> TurnReply:
    query_id = query.query_id
    absent = trial.not_applicable.get(query_id, "")
    missing = Prediction(query_id, None, absent or "no prediction")
    prediction, context = trial.predictions.get(query_id, missing), trial.contexts.get(query_id)
    scores = trial.scores_of(query_id)
    grades = results.grades(query_id)
    passages = context.passages if context else ()
    return TurnReply(
        trial.system,
        trial.setting,
        prediction,
        bool(refusal(prediction.answer or "")),
        scores,
        tuple((passage, grades.get(passage.passage_id, 0) > 0) for passage in passages),
        "" if absent else _error(prediction.answer, scores, results.correctness),
    )


def _error(answer: str | None, scores: Mapping[str, Score], rule: Correctness | None) -> str:
    if answer is None:
        return "no answer"
    if "answerability" in scores and scores["answerability"].value == 0:
        declined = bool(refusal(answer))
        return "declined an answerable query" if declined else "answered an unanswerable query"
    if rule is None or rule.metric not in scores or rule.label(scores[rule.metric].value) != 0:
        return ""
    return f"{rule.metric} 0" if rule.threshold is None else f"not {rule}"
