"""Parquet files are written and read in blocks."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest
from arro3.core import Table

from ragstone.core.parquet_blocks import (
    FailedBlock,
    raised_as_it_is,
    read_blocks,
    read_schema,
    write_blocks,
    write_table,
)
from ragstone.core.schemas import SEARCHES, columns, to_table


def block(start: int, rows: int) -> Table:
    """Return some rows."""
    texts = [str(n) for n in range(start, start + rows)]
    return to_table(SEARCHES, {"query_id": texts, "text": texts})


def test_blocks_are_one_table(tmp_path: Path) -> None:
    """They are made one by one, and are read in blocks of another size."""
    path, made = tmp_path / "t.parquet", list[int]()

    def blocks() -> Iterator[Table]:
        for start in range(0, 50, 10):
            made.append(start)
            yield block(start, 10)

    assert write_blocks(blocks(), path) == 50
    assert made == [0, 10, 20, 30, 40]
    assert read_schema(path) == SEARCHES
    found = [columns(one)["query_id"] for one in read_blocks(path, 20)]
    assert [len(ids) for ids in found] == [20, 20, 10]
    assert [one for ids in found for one in ids] == [str(n) for n in range(50)]


def test_an_exception_of_a_block_is_raised_as_it_is(tmp_path: Path) -> None:
    """Not as an error of the file, which it would name for the user."""

    def blocks() -> Iterator[Table]:
        yield block(0, 1)
        raise ConnectionError("the server is gone")

    with pytest.raises(FailedBlock):
        write_blocks(blocks(), tmp_path / "t.parquet")
    with pytest.raises(ConnectionError, match="the server is gone"), raised_as_it_is():
        write_blocks(blocks(), tmp_path / "t.parquet")


def test_a_full_disk_is_an_error_of_the_system(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The Rust writer would panic, and print so."""
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_table(block(0, 20_000), Path("/dev/full"))
    assert raised.value.errno == errno.ENOSPC
    assert "panicked" not in "".join(capfd.readouterr())


def test_blocks_end_after_a_full_disk() -> None:
    """What cannot be written is not computed either."""
    made: list[int] = []

    def blocks() -> Iterator[Table]:
        for start in range(0, 200_000, 10_000):
            made.append(start)
            yield block(start, 10_000)

    with pytest.raises(OSError, match="No space left on device"):
        write_blocks(blocks(), Path("/dev/full"))
    assert len(made) < 5
