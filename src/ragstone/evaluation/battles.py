"""Battles of systems in pairs: which pairs fight on which queries, and who wins.

A judge that compares two answers sees both in either order, and no names. People's ratings of pairs
are battles too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from ragstone.components.judges.pairwise import ORDER_DEPENDENT, VALUES, Pairwise
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.data.readers.ratings import HumanRating
from ragstone.errors import DatasetError
from ragstone.protocols import Services
from ragstone.statistics.bradley_terry import Battle
from ragstone.types import Prediction, Query


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two answers to a query that are compared."""

    query: Query
    a: str
    """The system of the first answer."""
    b: str
    answer_a: str
    """"" if the system failed."""
    answer_b: str

    @property
    def settled(self) -> float | None:
        """The outcome without a judge: equal answers tie, and an absent answer loses."""
        if self.answer_a.strip() == self.answer_b.strip():
            return VALUES["tie"]
        if self.answer_a.strip() and self.answer_b.strip():
            return None
        return VALUES["win" if self.answer_a.strip() else "loss"]


@dataclass(frozen=True)
class Outcomes:
    """The battles of some pairings."""

    battles: tuple[Battle, ...]
    settled: int
    """Battles without a call: equal answers, or one is absent."""
    order_dependent: int
    """Battles that are ties because the two orders disagree."""
    first: float | None
    """Share of the replies that prefer the first place, ties as halves; None without a reply."""
    unscored: Mapping[str, int]
    """Reason -> pairings without a verdict; they are not battles."""


def pairings(
    queries: Sequence[Query],
    answers: Mapping[str, Mapping[str, Prediction]],
    per_query: int | None = None,
    seed: int = 0,
) -> list[Pairing]:
    """Return the pairs of answers to compare, in random order within each pair.

    Args:
        queries: the queries.
        answers: system -> query id -> answer. A query that a system was not asked has no pair with
            it, and two absent answers are not a pair.
        per_query: maximum number of pairs per query, drawn at random; None for all.
        seed: seed of the draw; it depends on the query's id and not on the other queries.

    Raises:
        DatasetError: fewer than two systems, or no query that two of them answered.
    """
    found = []
    for query in queries:
        given = {
            name: own[query.query_id] for name, own in answers.items() if query.query_id in own
        }
        pairs = [
            (a, b)
            for a, b in combinations(given, 2)
            if (given[a].answer or "").strip() or (given[b].answer or "").strip()
        ]
        chosen = random.Random(f"{seed}:{query.query_id}")  # noqa: S311 - no secret
        if per_query is not None and per_query < len(pairs):
            pairs = [pairs[n] for n in sorted(chosen.sample(range(len(pairs)), per_query))]
        for pair in pairs:
            a, b = chosen.sample(pair, 2)
            found.append(Pairing(query, a, b, given[a].answer or "", given[b].answer or ""))
    if not found:
        raise DatasetError(
            f"no query has answers of two systems to compare; the systems are "
            f"{', '.join(answers) or 'none'}"
        )
    return found


def fight(found: Sequence[Pairing], judge: Pairwise, services: Services) -> Outcomes:
    """Return the battles of some pairings by a judge, which sees both orders and no names."""
    values = [one.settled for one in found]
    asked = [one for one, value in zip(found, values, strict=True) if value is None]
    items = [Item(one.query, one.answer_a, other=one.answer_b) for one in asked]
    verdicts = judge.verdicts(items, services) if items else []
    replies = iter(verdicts)
    battles = []
    for one, value in zip(found, values, strict=True):
        outcome = next(replies).value if value is None else value
        if outcome is not None:
            battles.append(Battle(one.query.query_id, one.a, one.b, _rounded(outcome)))
    places = [v.parts["pairwise:first"] for v in verdicts if "pairwise:first" in v.parts]
    return Outcomes(
        tuple(battles),
        len(found) - len(asked),
        sum(ORDER_DEPENDENT in verdict.reason for verdict in verdicts),
        sum(places) / len(places) if places else None,
        _unscored(verdicts),
    )


def _rounded(value: float) -> float:
    """Return win, tie or loss: several models of a judge may have a value between them."""
    return VALUES["tie"] if value == VALUES["tie"] else VALUES["win" if value > 0.5 else "loss"]  # noqa: PLR2004


def _unscored(verdicts: Sequence[Verdict]) -> dict[str, int]:
    found: dict[str, int] = {}
    for verdict in verdicts:
        if verdict.value is None:
            found[verdict.reason] = found.get(verdict.reason, 0) + 1
    return found


def rated_battles(ratings: Sequence[HumanRating]) -> dict[str, list[Battle]]:
    """Return property -> battles of people's ratings of pairs, one per rating.

    The value `a` is a win of the rating's `system`, and `b` one of its `against`. A rating of one
    answer alone is left out.
    """
    values = {"a": VALUES["win"], "b": VALUES["loss"], "tie": VALUES["tie"]}
    found: dict[str, list[Battle]] = {}
    for one in _of_pairs(ratings):
        item = one.item
        battle = Battle(item.query_id, item.system, item.against, values[str(one.value)])
        found.setdefault(one.property, []).append(battle)
    return found


def _of_pairs(ratings: Sequence[HumanRating]) -> Iterator[HumanRating]:
    yield from (one for one in ratings if one.item.against)
