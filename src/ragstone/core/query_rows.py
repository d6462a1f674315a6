"""Tables whose rows are by query, read side by side in blocks of queries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from arro3.core import Array, Table

from ragstone.core import limits
from ragstone.core.hashed_ids import HashedIds, hashes_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ragstone.core.stored_table import StoredTable

    Ints = NDArray[np.int64]

_ID = "query_id"


def blocks_by_query(
    tables: Mapping[str, StoredTable], queries: int
) -> Iterator[dict[str, Table]] | None:
    """Yield the rows of the tables by blocks of `queries` queries, in the order of the first table.

    The first table has one row per query. Another one may have several rows of a query, or none; a
    row of a query that the first table does not have is left out or in the block of its neighbours.

    Returns None if a table has its queries in another order.
    """
    main, *others = tables.values()
    places, rows = HashedIds.of(main.blocks())
    if len(places.hashes) < len(rows):
        return None
    # As many rows of each table at a time as a block of queries has: contexts are long.
    most, total = limits.PARQUET_BATCH_ROWS, max(1, main.num_rows)
    sizes = [min(most, max(1, queries * table.num_rows // total)) for table in others]
    spans = [
        _Spans.of(table.blocks(size), places) for table, size in zip(others, sizes, strict=True)
    ]
    if None in spans:
        return None
    readers = [_Reader(table, size) for table, size in zip(others, sizes, strict=True)]
    return _blocks(tables, readers, [one for one in spans if one is not None], queries)


def rows_of(table: StoredTable, query_ids: Collection[str]) -> Iterator[Table]:
    """Yield the rows of some queries, block by block, up to the last one of them."""
    wanted, missing = frozenset(query_ids), set(query_ids)
    for block in table.blocks():
        ids = block.column(_ID).to_pylist()
        places = [place for place, query_id in enumerate(ids) if query_id in wanted]
        if places:
            yield Table.from_batches(
                [
                    batch.take(Array.from_numpy(np.array(places)))
                    for batch in block.combine_chunks().to_batches()
                ],
                schema=block.schema,
            )
            missing -= set(ids)
        if not missing and ids[-1] not in wanted:
            return


def _blocks(
    tables: Mapping[str, StoredTable],
    readers: list[_Reader],
    spans: list[_Spans],
    queries: int,
) -> Iterator[dict[str, Table]]:
    main = next(iter(tables.values()))
    for number, block in enumerate(main.blocks(queries), start=1):
        parts = (
            reader.until(span.end(number * queries))
            for reader, span in zip(readers, spans, strict=True)
        )
        yield dict(zip(tables, (block, *parts), strict=True))


class _Spans:
    """The first row of each query of a table."""

    def __init__(self, places: Ints, starts: Ints, rows: int) -> None:
        self._places, self._starts, self._rows = places, starts, rows

    @classmethod
    def of(cls, blocks: Iterable[Table], known: HashedIds) -> _Spans | None:
        """Return the spans of a table; None if its queries are not in the order of `known`."""
        places, starts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        rows, last = 0, np.zeros(0, np.int64)
        for block in blocks:
            hashes = hashes_of(block)
            first = np.flatnonzero(np.diff(np.concatenate([last, hashes])))
            first = first + 1 - len(last) if len(last) else np.concatenate([[0], first + 1])
            there, found = known.known(hashes[first])
            places.append(found)
            starts.append(first[there] + rows)
            rows, last = rows + len(hashes), hashes[-1:]
        every = np.concatenate(places)
        return None if (np.diff(every) <= 0).any() else cls(every, np.concatenate(starts), rows)

    def end(self, place: int) -> int:
        """Return the number of rows before the query at `place`."""
        at = int(np.searchsorted(self._places, place))
        return int(self._starts[at]) if at < len(self._starts) else self._rows


class _Reader:
    """Reads the rows of a table once, from the first to the last."""

    def __init__(self, table: StoredTable, rows: int) -> None:
        self._blocks = table.blocks(rows)
        # A table without rows has no block, and is small.
        self._open = next(self._blocks, None) or table.table
        self._done = 0

    def until(self, row: int) -> Table:
        """Return the rows after those read before, up to `row`."""
        schema, pieces = self._open.schema, list[Table]()
        while self._done < row:
            count = min(row - self._done, self._open.num_rows)
            pieces.append(self._open.slice(0, count))
            self._open = self._open.slice(count)
            self._done += count
            if not self._open.num_rows:
                self._open = next(self._blocks, self._open)
        batches = [batch for piece in pieces for batch in piece.to_batches()]
        return Table.from_batches(batches, schema=schema)
