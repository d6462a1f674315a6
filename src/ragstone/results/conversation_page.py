"""Conversations as dialogues: what was asked, answered and shown by turn, and what went wrong.

A turn went wrong for a trial where the system gave no answer, where it declined although it could
have answered or the other way round (`answerability` is 0), or where the metric that says what is
right gives 0. Conversations stand in the order of how much went wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from ragstone.components.metrics.refusal import refusal
from ragstone.core import limits
from ragstone.types import Conversation

if TYPE_CHECKING:
    from ragstone.results.reader import StoredResults, TrialResults
    from ragstone.types import ContextPassage, Label, Query, Score

_HIDDEN: Final = frozenset({"conversation", "turn", "collection", "conversation_file"})


@dataclass(frozen=True)
class Reply:
    """What one trial did at one turn."""

    system: str
    setting: str
    answer: str | None
    reason: str
    refused: bool
    dropped: str
    scores: Mapping[str, Score]
    passages: tuple[tuple[ContextPassage, bool], ...]
    """Each with whether the qrels call it relevant."""
    wrong: str
    """What went wrong; empty where nothing did."""


@dataclass(frozen=True)
class DialogueTurn:
    """One turn of a conversation."""

    number: int
    query: Query
    labels: Mapping[str, Label]
    replies: tuple[Reply, ...]


@dataclass(frozen=True)
class Dialogue:
    """One conversation."""

    conversation: str
    about: Mapping[str, Label]
    """Labels that all its turns share."""
    turns: tuple[DialogueTurn, ...]
    wrong: Mapping[tuple[str, str], tuple[int, ...]]
    """(system, setting) -> numbers of the turns that went wrong, in order."""

    @property
    def wrongs(self) -> int:
        """How often something went wrong, over turns and trials."""
        return sum(map(len, self.wrong.values()))


def dialogues(results: StoredResults) -> list[Dialogue]:
    """Return the conversations among the answered queries, the worst first."""
    found = [_dialogue(results, one) for one in Conversation.of(results.queries.values())]
    return sorted(found, key=lambda dialogue: -dialogue.wrongs)[: limits.REPORT_CONVERSATIONS]


def _dialogue(results: StoredResults, conversation: Conversation) -> Dialogue:
    about = {n: v for n, v in conversation.labels.items() if _worth(n, v)}
    turns = tuple(
        DialogueTurn(
            query.turn or 0,
            query,
            {n: v for n, v in query.labels.items() if _worth(n, v) and n not in about},
            tuple(_reply(results, trial, query) for trial in results.trials),
        )
        for query in conversation.turns
    )
    wrong: dict[tuple[str, str], tuple[int, ...]] = {}
    for trial in results.trials:
        key = (trial.system, trial.setting)
        wrong[key] = tuple(
            turn.number
            for turn in turns
            for reply in turn.replies
            if (reply.system, reply.setting) == key and reply.wrong
        )
    return Dialogue(conversation.conversation_id, about, turns, wrong)


def _worth(name: str, value: Label) -> bool:
    return name not in _HIDDEN and not (
        isinstance(value, str) and len(value) > limits.MAX_LABEL_CHARACTERS
    )


def _reply(results: StoredResults, trial: TrialResults, query: Query) -> Reply:
    query_id = query.query_id
    prediction, context = trial.predictions.get(query_id), trial.contexts.get(query_id)
    scores = {m: held[query_id] for m, held in trial.scores.items() if query_id in held}
    grades = results.qrels.get(query_id, {})
    answer = prediction.answer if prediction else None
    return Reply(
        trial.system,
        trial.setting,
        answer,
        prediction.reason if prediction else "no prediction",
        bool(refusal(answer or "")),
        prediction.dropped or "" if prediction else "",
        scores,
        tuple(
            (passage, grades.get(passage.passage_id, 0) > 0)
            for passage in (context.passages if context else ())
        ),
        _wrong(answer, scores, results.record.correctness_metric),
    )


def _wrong(answer: str | None, scores: Mapping[str, Score], correct: str) -> str:
    if answer is None:
        return "no answer"
    if "answerability" in scores and scores["answerability"].value == 0:
        declined = bool(refusal(answer))
        return "declined what can be answered" if declined else "answered what cannot be answered"
    if correct in scores and scores[correct].value == 0:
        return f"{correct} 0"
    return ""
