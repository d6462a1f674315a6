"""A result has one digest, in memory and in a file, whatever its blocks were."""

from __future__ import annotations

from pathlib import Path

import pytest
from arro3.core import Table

from ragstone.core import limits
from ragstone.core.fingerprint import digest_table
from ragstone.core.parquet_blocks import write_blocks
from ragstone.core.result_digest import digest_result, digest_result_file
from ragstone.core.schemas import CONTEXTS, SCORES, to_table


def scores(rows: int) -> Table:
    """Return scores of which every third is missing."""
    return to_table(
        SCORES,
        {
            "query_id": [f"q{n}" for n in range(rows)],
            "metric": ["EM"] * rows,
            "value": [None if n % 3 == 0 else n / 7 for n in range(rows)],
            "status": ["scored"] * rows,
            "reason": [""] * rows,
        },
    )


def contexts(rows: int) -> Table:
    """Return contexts of no, one and two passages; one row has no list."""
    texts = [None if n == 5 else ["ä", "b" * 40][: n % 3] for n in range(rows)]
    ids = [f"q{n}" for n in range(rows)]
    columns = {"passage_ids": texts, "texts": texts, "origins": texts}
    return to_table(CONTEXTS, {"query_id": ids, "setting": ["gold"] * rows, **columns})


@pytest.mark.parametrize("table", [scores(9000), contexts(9000), scores(0), scores(1)])
@pytest.mark.parametrize(("rows", "characters"), [(8000, 2**24), (2**17, 10_000), (2**17, 2**24)])
def test_a_file_and_a_table_have_one_digest(
    table: Table,
    rows: int,
    characters: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also if the rows were written in blocks, and if they are read as long ones are."""
    monkeypatch.setattr(limits, "WHOLE_DIGEST_ROWS", rows)
    monkeypatch.setattr(limits, "WHOLE_DIGEST_CHARACTERS", characters)
    path = tmp_path / "t.parquet"
    for block in (1000, 4096, 20_000):
        starts = range(0, max(1, table.num_rows), block)
        write_blocks((table.slice(s, min(block, table.num_rows - s)) for s in starts), path)
        assert digest_result_file(path) == digest_result(table)
    is_short = table.num_rows < 2 or (rows, characters) == (2**17, 2**24)
    assert (digest_result(table) == digest_table(table)) == is_short


def test_a_result_of_exactly_the_limit_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is hashed as a whole; one of a row more is not."""
    for limit in (8999, 9000):
        monkeypatch.setattr(limits, "WHOLE_DIGEST_ROWS", limit)
        assert (digest_result(scores(9000)) == digest_table(scores(9000))) == (limit == 9000)


def test_the_limits_of_short_results_decide_digests() -> None:
    """Other numbers would give stored results other digests."""
    assert (limits.WHOLE_DIGEST_ROWS, limits.WHOLE_DIGEST_CHARACTERS) == (2**17, 2**24)
    assert digest_result(scores(140_000)).startswith("b52c56e1db3d8f86")
