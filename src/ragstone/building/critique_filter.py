"""Filtering queries by critique ratings from 1 to 5: below a threshold, a query is rejected.

An unreadable rating rejects nothing, because it depends on the critic alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ragstone.components.judges.critiques import CRITIQUES, Critiques
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.core.schemas import queries_to_table
from ragstone.data.table_builder import judgements
from ragstone.errors import ConfigError, did_you_mean
from ragstone.protocols import Services

if TYPE_CHECKING:
    from ragstone.data.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Rated:
    """The ratings of one query of a data set."""

    query_id: str
    label: str
    """The label that groups the means; empty if the query has none."""
    ratings: Mapping[str, float]
    reason: str
    """Why the query is rejected; empty if it is kept."""
    notes: str
    """The unreadable ratings, with reasons."""

    def row(self) -> dict[str, Any]:
        """Return the query's line in the file of ratings."""
        return {
            "query_id": self.query_id,
            "kept": not self.reason,
            "reason": self.reason,
            "ratings": self.ratings,
            "notes": self.notes,
        }


def ratings_of(verdict: Verdict) -> dict[str, float]:
    """Return critique -> rating from a verdict of `Critiques`.

    >>> ratings_of(Verdict("q", 0.5, parts={"critique:stand_alone": 0.5}))
    {'stand_alone': 3.0}
    """
    return {name.partition(":")[2] or name: 1 + 4 * v for name, v in verdict.parts.items()}


def below(ratings: Mapping[str, float], thresholds: Mapping[str, float]) -> str:
    """Return a text about the ratings below their thresholds, or "".

    >>> below({"stand_alone": 2.0}, {"stand_alone": 3, "findable": 3})
    'critique: stand_alone 2 below 3'
    """
    low = [
        f"{name} {ratings[name]:g} below {least:g}"
        for name, least in thresholds.items()
        if ratings.get(name, least) < least
    ]
    return f"critique: {', '.join(low)}" if low else ""


def check_thresholds(thresholds: Mapping[str, float]) -> None:
    """Raise `ConfigError` if a threshold is for an unknown critique."""
    for name in thresholds:
        if name not in CRITIQUES:
            raise ConfigError(f"unknown critique {name!r}{did_you_mean(name, CRITIQUES)}")


def rate(
    items: Sequence[Item],
    critics: Critiques,
    services: Services,
    *,
    thresholds: Mapping[str, float],
    label: str,
) -> list[Rated]:
    """Return each query with its ratings, in order.

    Args:
        items: queries with gold answers and passages; each gets the critiques that apply to it.
        critics: the judge that rates.
        services: the services that make the model calls.
        thresholds: critique -> minimum rating of a query that is kept.
        label: name of the queries' label that groups the means.
    """
    found = []
    for item, verdict in zip(items, critics.verdicts(items, services), strict=True):
        ratings = ratings_of(verdict)
        group = str(item.query.labels.get(label) or "")
        reason = below(ratings, thresholds)
        found.append(Rated(item.item_id, group, ratings, reason, verdict.reason))
    return found


def kept_dataset(dataset: Dataset, rated: Sequence[Rated]) -> Dataset:
    """Return the data set of the queries that are kept, with their judgements."""
    ids = {one.query_id for one in rated if not one.reason}
    queries = [query for query in dataset.queries if query.query_id in ids]
    judged = {(q, p): n for q, held in dataset.qrels.items() if q in ids for p, n in held.items()}
    table = queries_to_table(queries)
    return replace(dataset, query_table=table, qrel_table=judgements(judged))


def profile(
    rated: Sequence[tuple[str, Mapping[str, float]]],
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    """Return label -> critique -> mean rating, and the same of counts, from (label, ratings) pairs.

    >>> profile([("summary", {"findable": 2.0}), ("summary", {"findable": 4.0})])
    ({'summary': {'findable': 3.0}}, {'summary': {'findable': 2}})
    """
    sums: dict[str, Counter[str]] = {}
    counts: dict[str, Counter[str]] = {}
    for label, ratings in rated:
        if ratings:
            sums.setdefault(label, Counter()).update(ratings)
            counts.setdefault(label, Counter()).update(ratings.keys())
    means = {
        label: {name: total / counts[label][name] for name, total in totals.items()}
        for label, totals in sums.items()
    }
    return means, {label: dict(count) for label, count in counts.items()}
