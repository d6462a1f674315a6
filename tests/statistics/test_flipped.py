"""Queries that flipped: both ways, in the order of their size, failed ones as the scale counts."""

from __future__ import annotations

from ragstone.statistics.failures import Scale
from ragstone.statistics.flipped import FlippedQueries, flipped_queries
from ragstone.types import Score


def column(**values: float | None) -> dict[str, Score]:
    """Return query id -> score; None is a failed query."""
    return {q: Score(q, "F1", v, "failed" if v is None else "scored") for q, v in values.items()}


def test_the_largest_change_is_first() -> None:
    """Equal values and queries of one side are in neither list."""
    a, b = column(a=0.1, b=0.9, c=0.5, d=1.0, e=0.0), column(a=0.2, b=0.0, c=0.5, d=0.5, f=1.0)

    assert flipped_queries(a, b, Scale()) == FlippedQueries(("a",), ("b", "d"))
    assert flipped_queries(a, b, Scale(direction="lower")) == FlippedQueries(("b", "d"), ("a",))


def test_a_failed_query_is_the_worst() -> None:
    """If failed queries are left out, they are in neither list."""
    a, b = column(a=0.5, b=None), column(a=None, b=0.1)

    assert flipped_queries(a, b, Scale()) == FlippedQueries(("b",), ("a",))
    assert flipped_queries(a, b, Scale(failures="exclude")) == FlippedQueries((), ())
