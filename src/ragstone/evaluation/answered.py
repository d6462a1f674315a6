"""The queries, contexts and answers of a system, beside its scores."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from ragstone.evaluation.usage import usage_of
from ragstone.types import Context, Prediction, Query, Ranking, one_line

NO_ANSWERS: Final = "its scores carry no answers"


@dataclass(frozen=True, slots=True)
class AnswerEvidence:
    """The stored facts of the way to each answer; empty for scores of other origin."""

    qrels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Query id -> passage id -> relevance, within the system's datastore if it has one."""
    labelled: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """The same of the data set, whatever the datastore."""
    rankings: Mapping[str, Ranking] = field(default_factory=dict)
    contexts: Mapping[str, Context] = field(default_factory=dict)
    """Query id -> the context of the generator."""
    repeats: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)
    """Metric -> query id -> its values, if answers were repeated."""
    prompt: str | None = None
    """The identity of the prompt; "" for a system without one, None if it is not known."""
    generator: str | None = None

    __repr__ = one_line


@dataclass(frozen=True, slots=True)
class Answered:
    """The texts behind the scores of one system, as far as they are known."""

    queries: Mapping[str, Query] = field(default_factory=dict)
    predictions: Mapping[str, Prediction] = field(default_factory=dict)
    contexts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Query id -> ids of the passages of the context, or of the first ranks without answers."""
    evidence: AnswerEvidence = field(default_factory=AnswerEvidence)

    __repr__ = one_line

    @classmethod
    def of(
        cls,
        queries: Iterable[Query],
        predictions: Iterable[Prediction],
        contexts: Mapping[str, Context],
    ) -> Self:
        """Return the texts of some queries, answers and contexts by query id."""
        return cls(
            {query.query_id: query for query in queries},
            {one.query_id: one for one in predictions},
            {query_id: context.passage_ids for query_id, context in contexts.items()},
        )

    def passage_ids(self, query_id: str) -> tuple[str, ...] | None:
        """Return the ids of the passages behind an answer; None if they are not known."""
        given = self.predictions.get(query_id)
        own = None if given is None else given.passage_ids
        return self.contexts.get(query_id, own)

    def among(self, query_ids: Collection[str]) -> list[Prediction]:
        """Return the known answers to some queries."""
        return [self.predictions[q] for q in query_ids if q in self.predictions]

    def texts(self, query_id: str) -> dict[str, Any]:
        """Return the fields of a file of scores that a comparison shows, as far as known."""
        query, given = self.queries.get(query_id), self.predictions.get(query_id)
        known = {
            "query": query.text if query else "",
            "gold_answers": query.gold_answers if query else (),
            "passage_ids": self.passage_ids(query_id) or (),
        }
        answer = {"answer": given.answer} if given else {}
        return answer | {name: value for name, value in known.items() if value}

    def document(self, query_id: str) -> dict[str, Any]:
        """Return answer, reason, passages, time and cost as plain data; null if not known."""
        found = self.predictions.get(query_id)
        return {
            "answer": found.answer if found else None,
            "reason": found.reason if found else NO_ANSWERS,
            "passage_ids": self.passage_ids(query_id),
            "seconds": found.seconds if found else None,
            "cost": found.cost if found else None,
        }


def not_known(answers: Collection[Prediction]) -> dict[str, str]:
    """Return unreported usage of answers (seconds, tokens or cost) -> why, or for how many.

    >>> not_known([Prediction("a", "Lima", seconds=2.0, tokens_in=9, tokens_out=1)])
    {'cost': '1 of 1 answers report none'}
    >>> not_known([])["seconds"]
    'its scores carry no answers'
    """
    given = [one for one in answers if one.answer is not None]
    lacking = {
        "seconds": sum(one.seconds is None for one in given),
        "tokens": sum(None in (one.tokens_in, one.tokens_out) for one in given),
        "cost": sum(one.cost is None for one in given),
    }
    if not answers:
        return dict.fromkeys(lacking, NO_ANSWERS)
    found = {
        name: f"{count:,} of {len(given):,} answers report none"
        for name, count in lacking.items()
        if count
    }
    reason = usage_of(answers).not_measurable
    return {"seconds": reason, **found} if reason else found
