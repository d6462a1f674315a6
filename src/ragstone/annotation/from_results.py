"""Items from the answers of an experiment, without its secret queries."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from ragstone.annotation.from_data import sampled
from ragstone.annotation.items import AnnotationItem, ShownAnswer
from ragstone.annotation.schemes import TaskName
from ragstone.data.readers.ratings import Inclusion
from ragstone.errors import ConfigError, did_you_mean
from ragstone.results.causes.found import causes_of
from ragstone.results.reader import StoredResults
from ragstone.results.scored_rows import TrialResults
from ragstone.types import Passage, Query

AnswerKey: TypeAlias = tuple[str, str, str]
"""Query id, system and setting."""


@dataclass(frozen=True)
class AnswerChoice:
    """Which answers of an experiment people get."""

    systems: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    answers: Mapping[AnswerKey, Inclusion | None] | None = None
    """Only these answers, with how they were drawn."""
    queries: frozenset[str] | None = None
    """Only these queries."""
    limit: int | None = None
    """Maximum number of queries, a random sample; of pairs, for the task `pairwise`."""
    seed: int = 0


def result_items(
    results: StoredResults, task: TaskName, choice: AnswerChoice
) -> list[AnnotationItem]:
    """Return the items of an experiment for a task, in the order of its queries.

    Raises `ConfigError` for an unknown system or setting, and for a task that needs a data set.
    """
    if task not in _MAKERS:
        raise ConfigError(
            f"the task {task} has no items in an experiment; give --data with its data set",
            key="experiment",
        )
    for kind, chosen, known in (
        ("system", choice.systems, results.systems),
        ("setting", choice.settings, results.settings),
    ):
        for name in chosen:
            if name not in known:
                problem = f"{results.name!r} has no {kind} {name!r}{did_you_mean(name, known)}"
                raise ConfigError(problem, key=f"{kind}s", value=name)
    return list(_MAKERS[task](_Chosen(results, choice)))


class _Chosen:
    """The chosen answers of an experiment."""

    def __init__(self, results: StoredResults, choice: AnswerChoice) -> None:
        self.results, self.choice = results, choice

    @cached_property
    def trials(self) -> list[TrialResults]:
        systems, settings = self.choice.systems, self.choice.settings
        return [
            one
            for one in self.results.trials
            if (not systems or one.system in systems) and (not settings or one.setting in settings)
        ]

    @cached_property
    def every_query(self) -> list[Query]:
        """The queries that the filters leave, before a sample is drawn."""
        only, answers = self.choice.queries, self.choice.answers
        drawn = None if answers is None else {query_id for query_id, *_ in answers}
        return [
            query
            for query_id, query in self.results.queries.items()
            if (only is None or query_id in only) and (drawn is None or query_id in drawn)
        ]

    @property
    def queries(self) -> list[Query]:
        """The queries of the sample."""
        return sampled(self.every_query, self.choice.limit, self.choice.seed)

    def answers(self, query_id: str) -> Iterator[tuple[TrialResults, ShownAnswer]]:
        """Yield the answers to a query that exist; a failed call has nothing to be rated."""
        for trial in self.trials:
            key = (query_id, trial.system, trial.setting)
            if self.choice.answers is not None and key not in self.choice.answers:
                continue
            prediction = trial.predictions.get(query_id)
            if prediction is None:
                continue
            context = trial.contexts.get(query_id)
            reason = "" if prediction.answer is not None else prediction.reason or prediction.status
            yield (
                trial,
                ShownAnswer(
                    trial.system,
                    trial.setting,
                    prediction.answer,
                    reason,
                    context.passage_ids if context else (),
                    (self.choice.answers or {}).get(key),
                ),
            )

    def passages(self, query_id: str, *trials: TrialResults) -> tuple[Passage, ...]:
        """Return the passages that were shown to one of some systems, each once."""
        found: dict[str, Passage] = {}
        for trial in trials:
            context = trial.contexts.get(query_id)
            for one in context.passages if context else ():
                found.setdefault(one.passage_id, Passage(one.passage_id, one.text))
        return tuple(found.values())


def _ratings(chosen: _Chosen) -> Iterator[AnnotationItem]:
    """Yield each query with the answers of all systems."""
    for query in chosen.queries:
        found = [(t, a) for t, a in chosen.answers(query.query_id) if a.text is not None]
        if found:
            trials = [trial for trial, _ in found]
            passages = chosen.passages(query.query_id, *trials)
            yield AnnotationItem(query.query_id, query, passages, tuple(a for _, a in found))


def _pairwise(chosen: _Chosen) -> Iterator[AnnotationItem]:
    """Yield pairs of systems under one setting, each pair of systems equally often.

    Every query gets one pair; a larger limit draws further pairs.
    """
    draw = random.Random(chosen.choice.seed)  # noqa: S311 - no secret
    rounds: dict[int, list[AnnotationItem]] = {}
    for turn, query in enumerate(draw.sample(chosen.every_query, len(chosen.every_query))):
        pairs = _pairs(chosen, query)
        for number in range(len(pairs)):
            pair = pairs[(number + turn) % len(pairs)]
            rounds.setdefault(number, []).append(_pair(chosen, query, pair, draw))
    limit = chosen.choice.limit or len(rounds.get(0, ()))
    places = {query.query_id: n for n, query in enumerate(chosen.every_query)}
    taken = list(itertools.chain.from_iterable(rounds.values()))[:limit]
    yield from sorted(taken, key=lambda one: places[one.query.query_id])


_Pair: TypeAlias = tuple[tuple[TrialResults, ShownAnswer], tuple[TrialResults, ShownAnswer]]


def _pairs(chosen: _Chosen, query: Query) -> list[_Pair]:
    found = [(t, a) for t, a in chosen.answers(query.query_id) if a.text is not None]
    both = itertools.combinations(found, 2)
    return [pair for pair in both if pair[0][0].setting == pair[1][0].setting]


def _pair(chosen: _Chosen, query: Query, pair: _Pair, draw: random.Random) -> AnnotationItem:
    (first, a), (second, b) = draw.sample(pair, 2)
    item_id = f"{query.query_id} · {first.setting} · {a.system} · {b.system}"
    passages = chosen.passages(query.query_id, first, second)
    return AnnotationItem(item_id, query, passages, (a, b))


def _each_answer(chosen: _Chosen) -> Iterator[AnnotationItem]:
    """Yield each answer as an item."""
    for query in chosen.queries:
        for trial, answer in chosen.answers(query.query_id):
            if answer.text is not None:
                yield _of_answer(chosen, query, trial, answer)


def _of_answer(
    chosen: _Chosen, query: Query, trial: TrialResults, answer: ShownAnswer, **suggested: str
) -> AnnotationItem:
    passages = chosen.passages(query.query_id, trial)
    item_id = f"{query.query_id} · {answer.part}"
    return AnnotationItem(item_id, query, passages, (answer,), suggested=suggested)


def _causes(chosen: _Chosen) -> Iterator[AnnotationItem]:
    """Yield each wrong answer, failed ones too, with the cause that was found."""
    found = {(c.query_id, c.system, c.setting): c for c in causes_of(chosen.results).queries}
    for query in chosen.queries:
        for trial, answer in chosen.answers(query.query_id):
            cause = found.get((query.query_id, trial.system, trial.setting))
            if cause is not None:
                yield _of_answer(chosen, query, trial, answer, cause=cause.cause)


def _support(chosen: _Chosen) -> Iterator[AnnotationItem]:
    """Yield each query with each passage that a system was shown for it."""
    for query in chosen.queries:
        trials = [trial for trial, _ in chosen.answers(query.query_id)]
        for passage in chosen.passages(query.query_id, *trials):
            yield AnnotationItem(f"{query.query_id} {passage.passage_id}", query, (passage,))


def _seeds(chosen: _Chosen) -> Iterator[AnnotationItem]:
    """Yield each query, with which a conversation may start."""
    for query in chosen.queries:
        yield AnnotationItem(query.query_id, query)


_MAKERS: Final[dict[str, Callable[[_Chosen], Iterator[AnnotationItem]]]] = {
    "ratings": _ratings,
    "pairwise": _pairwise,
    "nuggets": _each_answer,
    "causes": _causes,
    "support": _support,
    "labels": _support,
    "conversation": _seeds,
}
