"""The digest of a Parquet file's rows, equal to that of the table, without the table in memory.

`digest_table` hashes a table of medium size as one stream of one batch. The body of that batch is
the buffers of its columns, one after another, so they are made column by column, and the header is
that of a small batch with other numbers in it.
"""

from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from arro3.core import Array, ChunkedArray, DataType, Schema, Table
from arro3.io import read_parquet, write_ipc_stream

from ragstone.core import limits
from ragstone.core.fingerprint import BLOCK, SMALL, digest_blocks, digest_table, is_large
from ragstone.core.parquet_blocks import read_blocks

_ALIGNED: Final = 64
"""Bytes to whose multiple a buffer is padded."""
_END: Final = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def digest_parquet(path: Path) -> str:
    """Return `digest_table` of the rows of a Parquet file; a column at most is in memory.

    Such a column has up to 2^28 characters.
    """
    total = sum(block.nbytes for block in read_blocks(path))
    if total <= limits.TABLE_IN_MEMORY_BYTES:
        return digest_table(_whole(path))
    if total > SMALL and is_large(read_blocks(path)):
        return digest_blocks(read_blocks(path, BLOCK))
    return _digest_by_column(path)


def _whole(path: Path) -> Table:
    schema = read_parquet(str(path)).schema
    return Table.from_arrays([_column(path, name) for name in schema.names], schema=schema)


def _column(path: Path, name: str) -> ChunkedArray:
    """Return a column, with zeros in place of missing numbers as in a new array."""
    kind = read_parquet(str(path)).schema.field(name).type
    found = (block.column(name) for block in read_blocks(path))
    return ChunkedArray([_renewed(one) for c in found for one in c.chunks], type=kind)


def _renewed(array: Array) -> Array:
    if not array.null_count or not DataType.is_primitive(array.type):
        return array
    return Array(list(array.to_pylist()), type=array.type)


def _digest_by_column(path: Path) -> str:
    reader = read_parquet(str(path))
    nodes, buffers = list[bytes](), list[bytes]()
    for name in reader.schema.names:
        column = _column(path, name)
        message = _Message(Table.from_arrays([column], schema=Schema([reader.schema.field(name)])))
        nodes += message.nodes
        buffers += message.buffers
    first = _Message(next(read_blocks(path)))
    found = hashlib.sha256(first.schema)
    found.update(first.with_numbers(nodes, [len(buffer) for buffer in buffers]))
    for buffer in buffers:
        found.update(buffer.ljust(_padded(len(buffer)), b"\0"))
    found.update(_END)
    return found.hexdigest()


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED


class _Message:
    """The Arrow IPC stream of a table: its schema, and the header and the body of its batch.

    The header is a FlatBuffer: https://arrow.apache.org/docs/format/Columnar.html
    """

    def __init__(self, table: Table) -> None:
        sink = io.BytesIO()
        write_ipc_stream(table.combine_chunks(), sink)
        data = sink.getvalue()
        start = 8 + _int32(data, 4)
        end = start + 8 + _int32(data, start + 4)
        self.schema, self._header, body = data[:start], data[start:end], data[end:]
        message = 8 + _int32(self._header, 8)
        batch = _pointed(self._header, _field(self._header, message, 2))
        self._body_size = _field(self._header, message, 3)
        self._rows = _field(self._header, batch, 0)
        self._nodes = _pointed(self._header, _field(self._header, batch, 1))
        self._buffers = _pointed(self._header, _field(self._header, batch, 2))
        self.nodes = self._structs(self._nodes)
        places = [struct.unpack("<qq", one) for one in self._structs(self._buffers)]
        self.buffers = [body[place : place + size] for place, size in places]

    def _structs(self, vector: int) -> list[bytes]:
        starts = range(vector + 4, vector + 4 + 16 * _int32(self._header, vector), 16)
        return [self._header[start : start + 16] for start in starts]

    def with_numbers(self, nodes: Sequence[bytes], sizes: Sequence[int]) -> bytes:
        """Return the header of a batch with these nodes, and buffers of these sizes."""
        header, place = bytearray(self._header), 0
        header[self._rows : self._rows + 8] = nodes[0][:8]
        for number, node in enumerate(nodes):
            struct.pack_into("16s", header, self._nodes + 4 + 16 * number, node)
        for number, size in enumerate(sizes):
            struct.pack_into("<qq", header, self._buffers + 4 + 16 * number, place, size)
            place += _padded(size)
        struct.pack_into("<q", header, self._body_size, place)
        return bytes(header)


def _int32(data: bytes, place: int) -> int:
    return int(struct.unpack_from("<i", data, place)[0])


def _pointed(data: bytes, place: int) -> int:
    return place + _int32(data, place)


def _field(data: bytes, table: int, number: int) -> int:
    """Return the place of a field of a FlatBuffer table."""
    offsets = table - _int32(data, table)
    return table + int(struct.unpack_from("<H", data, offsets + 4 + 2 * number)[0])
