"""The digest of a step's result: the same for a table in memory, in pieces and in a file.

A short table has the digest of `digest_table`. A longer one has that of its blocks, so that it is
never whole in memory; its rows alone decide which of the two it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path

import numpy as np
from arro3.core import Array, DataType, Table

from ragstone.core import limits
from ragstone.core.fingerprint import count_characters, digest_streams, digest_table
from ragstone.core.parquet_blocks import read_blocks, read_schema

_BLOCK = 4096
"""Rows of a block; another number would give long tables other digests."""


def digest_result(table: Table) -> str:
    """Return the digest of a step's result in memory."""

    def blocks() -> Iterator[Table]:
        for start in range(0, table.num_rows, _BLOCK):
            yield table.slice(start, min(_BLOCK, table.num_rows - start))

    return digest_streams(map(_renewed, blocks())) if _is_long(blocks) else digest_table(table)


def digest_result_file(path: Path) -> str:
    """Return the digest of a step's result in a Parquet file, read block by block."""

    def blocks() -> Iterator[Table]:
        return read_blocks(path, _BLOCK)

    if _is_long(blocks):
        return digest_streams(map(_renewed, blocks()))
    found = list(map(_renewed, blocks()))
    batches = [batch for table in found for batch in table.to_batches()]
    return digest_table(Table.from_batches(batches, schema=read_schema(path)))


def _is_long(blocks: Callable[[], Iterable[Table]]) -> bool:
    return _exceed(
        blocks(), lambda block: int(block.num_rows), limits.WHOLE_DIGEST_ROWS
    ) or _exceed(blocks(), count_characters, limits.WHOLE_DIGEST_CHARACTERS)


def _exceed(blocks: Iterable[Table], size: Callable[[Table], int], most: int) -> bool:
    """Return whether the sizes of all blocks are more than `most` together."""
    return any(total > most for total in accumulate(map(size, blocks)))


def _renewed(block: Table) -> Table:
    """Return a copy with the bytes of a new table: below a missing number they may be any."""
    columns = {name: _array(block.column(name).combine_chunks()) for name in block.column_names}
    return Table.from_arrays(list(columns.values()), schema=block.schema)


def _array(array: Array) -> Array:
    if array.null_count and DataType.is_primitive(array.type):
        return Array(list(array.to_pylist()), type=array.type)
    return array.take(Array.from_numpy(np.arange(len(array))))
