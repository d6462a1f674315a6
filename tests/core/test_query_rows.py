"""Tables are read side by side in blocks of queries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from arro3.core import Table

from ragstone.core.query_rows import blocks_by_query, rows_of
from ragstone.core.schemas import SEARCHES, columns, rankings_to_table, to_table
from ragstone.core.store import Store
from ragstone.core.stored_table import SelectedTable, StoredTable
from ragstone.types import Ranking

IDS = [f"q{n}" for n in range(7)]


def searches(ids: list[str]) -> StoredTable:
    """Return one row per query."""
    return StoredTable("", memory=to_table(SEARCHES, {"query_id": ids, "text": ids}))


def run(ids: list[str]) -> StoredTable:
    """Return three rows per query; q2 has none."""
    found = [
        Ranking(["a", "b", "c"] if q != "q2" else [], [3.0, 2.0, 1.0][: 3 * (q != "q2")])
        for q in ids
    ]
    return StoredTable("", memory=rankings_to_table(ids, found))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize("stored", [False, True])
def test_rows_of_a_query_stay_together(size: int, stored: bool, tmp_path: Path) -> None:
    """Each block has the rows of its queries, and all blocks together have all rows."""
    table = run(IDS)
    if stored:
        table = Store(tmp_path).keep("run", table.table)
    blocks = blocks_by_query({"searches": searches(IDS), "run": table}, size)

    assert blocks is not None
    seen: list[str] = []
    for block in blocks:
        ids = columns(block["searches"])["query_id"]
        ranked = columns(block["run"])["query_id"]
        assert ranked == [q for q in ids if q != "q2" for _ in range(3)]
        seen += ids
    assert seen == IDS


def test_queries_that_are_not_asked_do_no_harm() -> None:
    """A run of all queries is read beside the searches of some."""
    some = ["q1", "q2", "q5"]
    blocks = blocks_by_query({"searches": searches(some), "run": run(IDS)}, 2)

    assert blocks is not None
    found = [set(columns(block["run"])["query_id"]) for block in blocks]
    assert {"q1"} <= found[0]
    assert {"q5"} <= found[1]


def test_another_order_is_not_cut() -> None:
    """Blocks would miss rows, so there are none."""
    assert blocks_by_query({"searches": searches(IDS), "run": run(IDS[::-1])}, 2) is None


def test_without_rows_there_is_one_column_of_each() -> None:
    """An empty run beside some searches has no rows in any block."""
    blocks = blocks_by_query({"searches": searches(IDS), "run": run([])}, 3)

    assert blocks is not None
    assert [block["run"].num_rows for block in blocks] == [0, 0, 0]


def test_the_rows_of_some_queries_are_found_in_any_block(tmp_path: Path) -> None:
    """A query without rows is not an error."""
    kept = Store(tmp_path).keep("run", run(IDS).table)
    found = [q for block in rows_of(kept, ["q6", "q2", "q0"]) for q in columns(block)["query_id"]]

    assert found == ["q0"] * 3 + ["q6"] * 3


def test_a_query_with_two_rows_has_no_place() -> None:
    """Blocks need one row per query in the first table; another order is refused too."""
    assert blocks_by_query({"searches": searches(["q1", "q1"]), "run": run(["q1"])}, 2) is None
    assert blocks_by_query({"searches": searches(IDS), "run": run(IDS[::-1])}, 2) is None


@pytest.mark.parametrize("places", [[0, 3, 4, 6], [], [2]])
def test_selected_rows_are_those_of_a_copy(places: list[int]) -> None:
    """Rows of a table of several pieces: whole, in blocks, and without a column."""
    pieces = [searches(IDS[:2]).table, searches(IDS[2:]).table]
    whole = Table.from_batches([b for piece in pieces for b in piece.to_batches()])
    found = SelectedTable(whole, np.array(places, np.int64))
    copy = StoredTable.in_memory(searches([IDS[place] for place in places]).table)

    assert found.digest == copy.digest
    assert found.num_rows == copy.num_rows
    assert columns(found.table) == columns(copy.table)
    ids = [one for block in found.blocks(2) for one in columns(block)["query_id"]]
    assert ids == [IDS[place] for place in places]
    text = frozenset({"text"})
    assert found.without(text).digest == copy.without(text).digest
