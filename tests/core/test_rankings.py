"""Rankings that are cut out of a RUN table."""

from __future__ import annotations

from collections.abc import Sequence

from arro3.core import Table

from ragstone.core.rankings import Rankings
from ragstone.core.schemas import RUN, joined, rankings_to_table, table_to_rankings
from ragstone.types import Ranking


def made(count: int = 50) -> tuple[list[str], list[Ranking]]:
    """Return queries with rankings of 0 to 4 passages."""
    ids = [f"q{place}" for place in range(count)]
    rankings = [
        Ranking([f"p{place}-{n}" for n in range(place % 5)], [9.0 - n for n in range(place % 5)])
        for place in range(count)
    ]
    return ids, rankings


def expected(ids: Sequence[str], rankings: Sequence[Ranking]) -> dict[str, Ranking]:
    """Return the rankings that are not empty."""
    return {q: one for q, one in zip(ids, rankings, strict=True) if len(one)}


def test_rankings_are_those_of_the_table() -> None:
    """Each ranking has its ids and scores; a query without a passage has none."""
    ids, rankings = made()
    found = table_to_rankings(rankings_to_table(ids, rankings))

    assert found == expected(ids, rankings)
    assert list(found) == list(expected(ids, rankings))
    assert found["q3"].passage_ids == ["p3-0", "p3-1", "p3-2"]
    assert "q0" not in found
    assert found.get("q0") is None


def test_a_table_in_pieces_is_the_same() -> None:
    """Pieces may begin in the middle of a ranking."""
    ids, rankings = made()
    table = rankings_to_table(ids, rankings)
    pieces = [table.slice(start, min(7, table.num_rows - start)) for start in range(0, 100, 7)]

    assert Rankings(joined(pieces, RUN)) == expected(ids, rankings)


def test_a_table_without_rows_has_no_ranking() -> None:
    """No query has a passage."""
    assert dict(Rankings(rankings_to_table(["q"], [Ranking()]))) == {}


def test_a_table_is_read_at_the_first_use() -> None:
    """A function is called once, and not before a ranking is asked for."""
    calls: list[Table] = []

    def read() -> Table:
        calls.append(rankings_to_table(["q"], [Ranking(["p"], [1.0])]))
        return calls[-1]

    found = Rankings(read)
    assert not calls
    assert len(found) == 1
    assert found["q"].scores == [1.0]
    assert len(calls) == 1


def test_the_first_passages_are_those_of_each_ranking() -> None:
    """A depth cuts rankings, also one whose rows are in two places, and changes no other."""
    ids, rankings = made()
    table = rankings_to_table(ids, rankings)
    whole = table_to_rankings(joined([table, table], RUN))
    for depth in (1, 2, 3, 9):
        found = whole.first(depth)
        assert list(found) == list(whole)
        for query_id, ranking in found.items():
            assert ranking.passage_ids == whole[query_id].passage_ids[:depth]
            assert ranking.scores == whole[query_id].scores[:depth]
