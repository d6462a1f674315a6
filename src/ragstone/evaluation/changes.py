"""The causes of the changes between two systems or runs, per query and counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

from ragstone.causes.changes import (
    CHANGES,
    ChangeCause,
    Outcome,
    Side,
    cause_of_change,
    cause_of_ranking_change,
)
from ragstone.components.metrics.base import RankingMetric
from ragstone.components.metrics.parse import parse_metric
from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError
from ragstone.evaluation.answered import Answered
from ragstone.statistics.flipped import FlippedQueries
from ragstone.types import Score

Tables = Mapping[str, Mapping[str, Mapping[str, Score]]]
"""System -> metric -> query id -> score."""


@dataclass(frozen=True, slots=True)
class QueryChange:
    """A query on which the second of two systems is better or worse, and why."""

    query_id: str
    metric: str
    a: str
    b: str
    outcome: Outcome
    """The outcome of the second system."""
    cause: ChangeCause
    evidence: str

    @property
    def is_decided(self) -> bool:
        """Whether the cause is known."""
        return self.cause != "undecided"

    def to_dict(self) -> dict[str, Any]:
        """Return plain data without the query id."""
        return {key: value for key, value in asdict(self).items() if key != "query_id"}


@dataclass(frozen=True, slots=True)
class ChangeCount:
    """The queries of one pair and metric whose change has one cause."""

    metric: str
    a: str
    b: str
    cause: ChangeCause
    better: tuple[str, ...]
    """Ids of the queries on which the second system is better."""
    worse: tuple[str, ...]


def query_changes(
    metric: str,
    pair: tuple[str, str],
    flipped: FlippedQueries,
    scores: Tables,
    answered: Mapping[str, Answered],
) -> Iterator[QueryChange]:
    """Yield the change of each flipped query, in turns from both directions, with its cause."""
    ranks = _is_ranking(metric)
    for turn in zip_longest(flipped.worse, flipped.better):
        outcomes: tuple[Outcome, Outcome] = ("worse", "better")
        for query_id, outcome in zip(turn, outcomes, strict=True):
            if query_id is None:
                continue
            a, b = (_side(answered[n], scores[n][metric][query_id], ranks=ranks) for n in pair)
            found = cause_of_ranking_change(a, b) if ranks else cause_of_change(a, b, outcome)
            yield QueryChange(query_id, metric, *pair, outcome, found.cause, found.evidence)


def change_counts(changes: Iterable[QueryChange]) -> list[ChangeCount]:
    """Return the changes of each metric and pair by cause, in the order of the rules."""
    held: dict[tuple[str, str, str], list[QueryChange]] = {}
    for one in changes:
        held.setdefault((one.metric, one.a, one.b), []).append(one)
    return [
        ChangeCount(
            *key,
            cause,
            tuple(c.query_id for c in of if c.cause == cause and c.outcome == "better"),
            tuple(c.query_id for c in of if c.cause == cause and c.outcome == "worse"),
        )
        for key, of in held.items()
        for cause in CHANGES
        if any(c.cause == cause for c in of)
    ]


def changes_tables(
    counts: Sequence[ChangeCount], answered: Mapping[str, Answered], metric: str = ""
) -> Iterator[TextTable]:
    """Yield a table per pair with the causes of its changes, of one metric or of all."""
    chosen = [one for one in counts if metric in ("", one.metric)]
    for name, a, b in dict.fromkeys((one.metric, one.a, one.b) for one in chosen):
        of = [one for one in chosen if (one.metric, one.a, one.b) == (name, a, b)]
        rows = [[c.cause, len(c.better), len(c.worse), CHANGES[c.cause]] for c in of]
        title = f"Causes of changes: {name}, {b} against {a}"
        below = [f"  {line}" for line in unknown_sides({n: answered[n] for n in (a, b)})]
        yield TextTable(["cause", "better", "worse", "meaning"], rows, title, below)


def unknown_sides(answered: Mapping[str, Answered]) -> Iterator[str]:
    """Yield a line for each system whose scores do not contain its generator's context."""
    for name, one in answered.items():
        if not (one.contexts or one.evidence.contexts or one.evidence.rankings):
            shown = any(p.passage_ids for p in one.predictions.values())
            if not shown:
                yield f"{name}: its scores do not say what was shown, so causes are not decided"


def _is_ranking(metric: str) -> bool:
    with contextlib.suppress(ConfigError):
        return isinstance(parse_metric(metric), RankingMetric)
    return False


def _side(of: Answered, score: Score, *, ranks: bool) -> Side:
    """Return the known facts of one query in one system."""
    query_id, known = score.query_id, of.evidence
    query, given = of.queries.get(query_id), of.predictions.get(query_id)
    failure = (score.reason or "it failed") if score.status == "failed" else ""
    context, ranking = known.contexts.get(query_id), known.rankings.get(query_id)
    candidates = None if ranking is None else tuple(ranking.passage_ids)
    if ranks and candidates is None:
        candidates = of.passage_ids(query_id)
    return Side(
        query=query.text if query else "",
        gold_answers=query.gold_answers if query else None,
        gold=_gold(known.qrels.get(query_id)),
        labelled=_gold(known.labelled.get(query_id)),
        failure=failure,
        answer=given.answer if given else None,
        values=known.repeats.get(score.metric, {}).get(query_id, ()),
        candidates=candidates,
        shown=of.passage_ids(query_id) if context is None else context.passage_ids,
        texts=None if context is None else tuple(p.text for p in context.passages),
        prompt=known.prompt,
        generator=known.generator,
    )


def _gold(grades: Mapping[str, int] | None) -> frozenset[str] | None:
    return None if grades is None else frozenset(p for p, grade in grades.items() if grade > 0)
