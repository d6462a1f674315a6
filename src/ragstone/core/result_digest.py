"""The digest of a step's result: the same for a table in memory, in pieces and in a file.

A short table has the digest of `digest_table`. A longer one has that of its blocks, so that it is
never whole in memory; its rows alone decide which of the two it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np
from arro3.core import Array, DataType, Schema, Table

from ragstone.core import limits
from ragstone.core.fingerprint import count_characters, digest_streams, digest_table
from ragstone.core.parquet_blocks import read_blocks, read_schema

_BLOCK = 4096
"""Rows of a block; another number would give long tables other digests."""


def digest_result(table: Table) -> str:
    """Return the digest of a step's result in memory."""
    starts = range(0, table.num_rows, _BLOCK)
    blocks = (table.slice(start, min(_BLOCK, table.num_rows - start)) for start in starts)
    return _digest(blocks, table.schema)


def digest_result_file(path: Path) -> str:
    """Return the digest of a step's result in a Parquet file, read once and block by block."""
    return _digest(read_blocks(path, _BLOCK), read_schema(path))


def _digest(blocks: Iterable[Table], schema: Schema) -> str:
    # Reading alone shows whether a result is long: until then, its blocks are kept.
    held, given = deque[Table](), map(_renewed, blocks)
    rows = characters = 0
    for block in given:
        held.append(block)
        rows += block.num_rows
        characters += count_characters(block)
        if rows > limits.WHOLE_DIGEST_ROWS or characters > limits.WHOLE_DIGEST_CHARACTERS:
            return digest_streams(chain(_emptied(held), given))
    batches = [batch for block in held for batch in block.to_batches()]
    return digest_table(Table.from_batches(batches, schema=schema))


def _emptied(held: deque[Table]) -> Iterator[Table]:
    while held:
        yield held.popleft()


def _renewed(block: Table) -> Table:
    """Return a copy with the bytes of a new table: below a missing number they may be any."""
    columns = {name: _array(block.column(name).combine_chunks()) for name in block.column_names}
    return Table.from_arrays(list(columns.values()), schema=block.schema)


def _array(array: Array) -> Array:
    if array.null_count and DataType.is_primitive(array.type):
        return Array(list(array.to_pylist()), type=array.type)
    return array.take(Array.from_numpy(np.arange(len(array))))
