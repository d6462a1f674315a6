"""Parquet files read and written in blocks: a table of any size needs the memory of one block."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ragstone.core import limits

if TYPE_CHECKING:
    from arro3.core import RecordBatch, Schema, Table


def read_blocks(path: Path, rows: int = limits.PARQUET_BATCH_ROWS) -> Iterator[Table]:
    """Yield the rows of a Parquet file as tables of `rows` rows, the last one of fewer."""
    from arro3.core import Table
    from arro3.io import read_parquet

    reader = read_parquet(str(path), batch_size=rows)

    def block(batch: RecordBatch) -> Table:
        return Table.from_batches([batch], schema=reader.schema)

    # A loop would hold a batch while the next one is read.
    yield from map(block, reader)


def read_schema(path: Path) -> Schema:
    """Return the schema of a Parquet file."""
    from arro3.io import read_parquet

    return read_parquet(str(path)).schema


def write_blocks(blocks: Iterable[Table], path: Path) -> int:
    """Write tables of one schema as a Parquet file with a row group per table; return its rows.

    There is at least one table.

    Raises:
        FailedBlock: `blocks` raised an exception, which `raised_as_it_is` raises again.
    """
    from arro3.core import RecordBatchReader
    from arro3.io import write_parquet

    rows, errors = 0, list[BaseException]()

    def batches() -> Iterator[RecordBatch]:
        nonlocal rows
        try:
            for block in itertools.chain([first], given):
                rows += block.num_rows
                yield from block.combine_chunks().to_batches()
        except BaseException as error:  # noqa: BLE001 - the writer would raise another one
            errors.append(error)

    given = iter(blocks)
    first = next(given)
    reader = RecordBatchReader.from_batches(first.schema, batches())
    group = min(max(1, first.num_rows), limits.ROW_GROUP_ROWS)
    write_parquet(reader, str(path), max_row_group_size=group)
    if errors:
        raise FailedBlock from errors[0]
    return rows


class FailedBlock(Exception):
    """The computation of a block failed; the cause is its exception, which no file caused."""


@contextmanager
def raised_as_it_is() -> Iterator[None]:
    """Raise the exception of a block's computation in place of `FailedBlock`."""
    try:
        yield
    except FailedBlock as failed:
        if failed.__cause__ is not None:
            raise failed.__cause__ from failed.__cause__.__cause__
        raise
