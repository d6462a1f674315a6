"""Tables whose rows are by query, read side by side in blocks of queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from arro3.core import Array, Table

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
    if (places := _Places.of(main)) is None:
        return None
    spans = [_Spans.of(table, places) for table in others]
    if None in spans:
        return None
    return _blocks(tables, [one for one in spans if one is not None], queries)


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
    tables: Mapping[str, StoredTable], spans: list[_Spans], queries: int
) -> Iterator[dict[str, Table]]:
    main, *others = tables.values()
    readers = [_Reader(table) for table in others]
    for number, block in enumerate(main.blocks(queries), start=1):
        parts = (
            reader.until(span.end(number * queries))
            for reader, span in zip(readers, spans, strict=True)
        )
        yield dict(zip(tables, (block, *parts), strict=True))


@dataclass(frozen=True)
class _Places:
    """The place of each query of a table, by hashes: ids of many queries would fill memory."""

    hashes: Ints
    """In ascending order."""
    places: Ints

    @classmethod
    def of(cls, table: StoredTable) -> _Places | None:
        """Return the places; None if a query has several rows."""
        hashes = np.concatenate([np.zeros(0, np.int64), *map(_hashes, table.blocks())])
        order = np.argsort(hashes)
        hashes = hashes[order]
        return None if (hashes[1:] == hashes[:-1]).any() else cls(hashes, order)

    def known(self, hashes: Ints) -> tuple[Ints, Ints]:
        """Return the positions of the queries that the table has, and their places."""
        if not len(self.hashes):
            return self.places, self.places
        at = np.minimum(np.searchsorted(self.hashes, hashes), len(self.hashes) - 1)
        known = np.flatnonzero(self.hashes[at] == hashes)
        return known, self.places[at[known]]


def _hashes(block: Table) -> Ints:
    ids = block.column(_ID).to_pylist()
    return np.fromiter(map(hash, ids), np.int64, len(ids))


class _Spans:
    """The first row of each query of a table."""

    def __init__(self, places: Ints, starts: Ints, rows: int) -> None:
        self._places, self._starts, self._rows = places, starts, rows

    @classmethod
    def of(cls, table: StoredTable, known: _Places) -> _Spans | None:
        """Return the spans of a table; None if its queries are not in the order of `known`."""
        places, starts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
        rows, last = 0, np.zeros(0, np.int64)
        for block in table.blocks():
            hashes = _hashes(block)
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

    def __init__(self, table: StoredTable) -> None:
        self._blocks = table.blocks()
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
