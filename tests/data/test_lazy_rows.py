"""Queries and judgements that are made when they are asked for."""

from __future__ import annotations

import random

import pytest

from ragstone.core.schemas import QRELS, queries_to_table, to_table
from ragstone.data.lazy_rows import JudgementRows, QueryRows
from ragstone.types import Query

COUNT = 5_000
"""More rows than a block has."""


@pytest.fixture(name="queries", scope="module")
def _queries() -> list[Query]:
    return [
        Query(f"q{place}", f"Which river {place}?", (f"Tagus {place}",), labels={"turn": place})
        for place in range(COUNT)
    ]


def test_queries_are_those_of_the_table(queries: list[Query]) -> None:
    """All queries, single ones and slices are as in a list."""
    rows = QueryRows(queries_to_table(queries))

    assert rows == queries
    assert queries == rows
    assert list(rows) == queries
    assert len(rows) == COUNT
    for place in (0, 2_047, 2_048, COUNT - 1, -1, -COUNT):
        assert rows[place] == queries[place]
    for part in (slice(0, 3), slice(4_999, 9_000), slice(5, 2), slice(None, None, 1_000)):
        assert rows[part] == queries[part]
    with pytest.raises(IndexError):
        rows[COUNT]


def test_other_queries_are_not_equal(queries: list[Query]) -> None:
    """A list with another query or another length differs."""
    rows = QueryRows(queries_to_table(queries[:3]))

    assert rows != queries[:2]
    assert rows != [*queries[:2], queries[4]]
    assert repr(rows) == repr(queries[:3])


@pytest.mark.parametrize("order", ["as written", "shuffled"])
def test_judgements_are_those_of_the_table(order: str) -> None:
    """Also if the rows of a query are apart, and in whatever order they are asked for."""
    draw = random.Random(1)  # noqa: S311
    written = [(f"q{n % COUNT}", f"p{n}", n % 3) for n in range(COUNT + 500)]
    if order == "shuffled":
        draw.shuffle(written)
    expected: dict[str, dict[str, int]] = {}
    for query_id, passage_id, grade in written:
        expected.setdefault(query_id, {})[passage_id] = grade
    columns = dict(zip(QRELS.names, map(list, zip(*written, strict=True)), strict=True))
    found = JudgementRows(to_table(QRELS, columns))

    assert found == expected
    assert list(found) == list(expected)
    asked = draw.sample(list(expected), 200)
    assert [found[one] for one in asked] == [expected[one] for one in asked]
    assert found.get("other", {}) == {}
    assert bool(found)


def test_no_judgement_is_false() -> None:
    """A table without rows has no judged query."""
    assert not JudgementRows(to_table(QRELS, {name: [] for name in QRELS.names}))
