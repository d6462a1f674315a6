"""Ids found by their hashes, against a dictionary."""

from __future__ import annotations

import random

import numpy as np
import pytest
from arro3.core import Array, DataType, Table

from ragstone.core.hashed_ids import HashedIds, hashes_of, numbered


def table(ids: list[str]) -> Table:
    """Return a table of query ids."""
    return Table.from_pydict({"query_id": Array(ids, type=DataType.string())})


@pytest.mark.parametrize("count", [0, 1, 7, 500])
def test_places_are_those_of_a_dictionary(count: int) -> None:
    """Places are by first appearance, in any blocks; other names have none."""
    drawn = random.Random(count)  # noqa: S311 - not for secrets
    rows = [f"q{drawn.randrange(count)}" for _ in range(count * 3)]
    places: dict[str, int] = {}
    expected = [places.setdefault(name, len(places)) for name in rows]
    cut = len(rows) // 3
    found, of_rows = HashedIds.of([table(rows[:cut]), table(rows[cut:])])
    assert of_rows.tolist() == expected
    assert {name: found.find(name) for name in rows} == places
    assert found.find("another") is None
    assert found.find(3) is None


def test_known_ids_have_their_positions_and_places() -> None:
    """Unknown ids are left out."""
    found, _ = HashedIds.of([table(["c", "a", "b"])])
    at, places = found.known(hashes_of(table(["b", "x", "c"])))
    assert at.tolist() == [0, 2]
    assert places.tolist() == [2, 0]


def test_numbers_are_by_first_appearance() -> None:
    """Numbers of the different values and of the rows agree."""
    values = np.array([5, -2, 5, 9, -2])
    different, numbers, of_rows = numbered(values)
    assert different[np.argsort(numbers)].tolist() == [5, -2, 9]
    assert of_rows.tolist() == [0, 1, 0, 2, 1]
