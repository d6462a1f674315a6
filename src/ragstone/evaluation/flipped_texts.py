"""The queries that two systems answer differently well, with the texts of both side by side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from ragstone.core import limits
from ragstone.core.screen_text import columns, head
from ragstone.core.tables import TextTable
from ragstone.evaluation.answered import NO_ANSWERS, Answered
from ragstone.evaluation.changes import QueryChange, query_changes
from ragstone.types import Query, Score

if TYPE_CHECKING:
    from ragstone.evaluation.metric_comparison import MetricComparison

_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]+")
"""Characters that move the cursor or turn the direction of a terminal's text."""


@dataclass(frozen=True, slots=True)
class FlippedQuery:
    """A query on which some system is better than another, and each system's output for it."""

    query: Query
    """Its text is empty if it is not known."""
    changes: tuple[QueryChange, ...]
    """One per metric and pair of systems with different values."""
    scores: Mapping[str, Mapping[str, Score]]
    """System -> metric -> score."""
    answered: Mapping[str, Answered]
    """System -> the texts behind its scores."""

    def to_dict(self) -> dict[str, Any]:
        """Return the texts and values as plain data."""
        query_id = self.query.query_id
        return {
            "query": self.query.text,
            "gold_answers": self.query.gold_answers,
            "changes": [change.to_dict() for change in self.changes],
            "systems": {
                name: {
                    **self.answered[name].document(query_id),
                    "values": {metric: score.value for metric, score in held.items()},
                }
                for name, held in self.scores.items()
            },
        }

    @property
    def known(self) -> bool:
        """Whether any text or passage of the query is known."""
        query_id = self.query.query_id
        return bool(self.query.text) or any(one.texts(query_id) for one in self.answered.values())

    def lines(self, metric: str, systems: Sequence[str]) -> Iterator[str]:
        """Yield the texts under one metric, each on a line of limited length."""
        if self.query.text:
            yield f"      query: {short(self.query.text)}"
        if self.query.gold_answers:
            yield f"      gold: {self._gold()}"
        for one in self.changes:
            if one.metric == metric and {one.a, one.b} == set(systems) and one.is_decided:
                yield f"      cause of the change: {one.cause} ({short(one.evidence)})"
        for name in systems:
            yield f"      {name} ({self._value(name, metric)}): {self._answer(name)}"
            if passages := self._passages(name):
                yield f"        passages: {passages}"

    def cells(self, metric: str, systems: Sequence[str]) -> list[str]:
        """Return the id, the query, the gold answers and a cell per system, each cut if long."""
        sides = []
        for name in systems:
            passages = self._passages(name)
            of = f" (passages: {passages})" if passages else ""
            sides.append(f"{self._value(name, metric)}: {self._answer(name)}{of}")
        return [short(self.query.query_id), short(self.query.text), self._gold(), *sides]

    def _gold(self) -> str:
        return short(" | ".join(self.query.gold_answers))

    def _value(self, name: str, metric: str) -> str:
        score = self.scores[name][metric]
        return score.status if score.value is None else f"{score.value:.4g}"

    def _passages(self, name: str) -> str:
        return short(", ".join(self.answered[name].passage_ids(self.query.query_id) or ()))

    def _answer(self, name: str) -> str:
        found = self.answered[name].predictions.get(self.query.query_id)
        if found is None:
            return f"answer not known: {NO_ANSWERS}"
        return short(f"no answer: {found.reason}" if found.answer is None else found.answer)


def flipped_texts(
    metrics: Sequence[MetricComparison],
    scores: Mapping[str, Mapping[str, Mapping[str, Score]]],
    answered: Mapping[str, Answered],
) -> dict[str, FlippedQuery]:
    """Return query id -> texts of every query that flipped, in the order of metrics and changes.

    `scores` maps systems to metrics to queries; `answered` has the texts of each system.
    """
    changes: dict[str, list[QueryChange]] = {}
    for one in metrics:
        for pair, flipped in one.flipped.items():
            for change in query_changes(one.metric, pair, flipped, scores, answered):
                changes.setdefault(change.query_id, []).append(change)
    return {
        query_id: FlippedQuery(
            _query(query_id, answered),
            tuple(found),
            {
                name: {metric: held[query_id] for metric, held in of.items() if query_id in held}
                for name, of in scores.items()
            },
            answered,
        )
        for query_id, found in changes.items()
    }


@dataclass(frozen=True, slots=True)
class ShownFlips:
    """The largest changes of one pair of systems in one direction."""

    title: str
    systems: tuple[str, str]
    queries: tuple[FlippedQuery, ...]


def shown_flips(one: MetricComparison, texts: Mapping[str, FlippedQuery]) -> Iterator[ShownFlips]:
    """Yield the largest changes with known texts, for the first few pairs in both directions."""
    for (a, b), flipped in list(one.flipped.items())[: limits.SHOWN_FLIPPED_PAIRS]:
        for outcome in ("worse", "better"):
            ids = getattr(flipped, outcome)
            known = [texts[query_id] for query_id in ids if texts[query_id].known]
            shown = tuple(known[: limits.SHOWN_FLIPPED_QUERIES])
            if shown:
                title = f"{b} is {outcome} than {a} on {len(ids):,} queries by {one.metric}"
                yield ShownFlips(f"{title}, {len(shown)} shown", (a, b), shown)


def flips_text(flips: ShownFlips, metric: str) -> str:
    """Return the texts of some flipped queries, for a terminal."""
    lines = [flips.title]
    for query in flips.queries:
        lines += [f"    {short(query.query.query_id)}", *query.lines(metric, flips.systems)]
    return "\n".join(lines)


def flips_table(flips: ShownFlips, metric: str) -> TextTable:
    """Return the texts of some flipped queries side by side."""
    rows = [query.cells(metric, flips.systems) for query in flips.queries]
    return TextTable(["id", "query", "gold", *flips.systems], rows, flips.title)


def _query(query_id: str, answered: Mapping[str, Answered]) -> Query:
    """Return the query of the first system that has it."""
    known = (one.queries[query_id] for one in answered.values() if query_id in one.queries)
    return next(known, Query(query_id, ""))


def short(text: str) -> str:
    r"""Return a text on one line, without control characters, cut if it is long.

    >>> short("Lima,\x1b[2J  \n Peru")
    'Lima, [2J Peru'
    """
    whole, most = " ".join(_CONTROLS.sub(" ", text).split()), limits.SHOWN_TEXT_CHARACTERS
    if columns(whole) <= most:
        return whole
    shown = head(whole, most)
    return f"{shown}... ({len(whole) - len(shown):,} more characters)"
