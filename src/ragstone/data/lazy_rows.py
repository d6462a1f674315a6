"""Queries and judgements of a data set as rows of its tables; objects are made on demand.

An iteration makes the objects of one block after the other, so that a data set of any size needs
the memory of a block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Final, overload

import numpy as np

from ragstone.core.hashed_ids import HashedIds
from ragstone.core.schemas import table_to_queries
from ragstone.core.stored_table import rows_in_order
from ragstone.data.corpus import rows_at
from ragstone.types import Query

if TYPE_CHECKING:
    from arro3.core import Table
    from numpy.typing import NDArray

_ROWS: Final = 2048
"""Rows of a block: queries with long histories have some kilobytes each."""


class QueryRows(Sequence[Query]):
    """The queries of a QUERIES table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def __len__(self) -> int:
        """Return the number of queries."""
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[Query]:
        """Yield the queries in order."""
        for start in range(0, len(self), _ROWS):
            yield from table_to_queries(_cut(self._table, start, start + _ROWS))

    @overload
    def __getitem__(self, place: int) -> Query: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Query]: ...
    def __getitem__(self, place: int | slice) -> Query | Sequence[Query]:
        """Return the query at a place, or a list of those in a slice."""
        if isinstance(place, slice):
            start, stop, step = place.indices(len(self))
            if step == 1:
                return table_to_queries(_cut(self._table, start, max(start, stop)))
            return [self[one] for one in range(start, stop, step)]
        at = range(len(self))[place]
        return table_to_queries(_cut(self._table, at, at + 1))[0]

    def __eq__(self, other: object) -> bool:
        """Return whether another sequence has equal queries."""
        if not isinstance(other, QueryRows | list | tuple):
            return NotImplemented
        return len(self) == len(other) and all(map(Query.__eq__, self, other))

    __hash__ = None  # type: ignore[assignment]  # as a list

    def __repr__(self) -> str:
        """Return the text of a list of the queries."""
        return repr(list(self))


class JudgementRows(Mapping[str, dict[str, int]]):
    """Query id -> passage id -> relevance, of a QRELS table.

    The queries of a block are read together if they are asked for one after the other.
    """

    def __init__(self, table: Table) -> None:
        self._given = table
        self._held: dict[str, dict[str, int]] = {}
        self._missed = -1

    def __getitem__(self, query_id: str) -> dict[str, int]:
        """Return the judgements of a query."""
        if (found := self._held.get(query_id)) is not None:
            return found
        place = self._groups.ids.find(query_id)
        if place is None:
            raise KeyError(query_id)
        block = place // _ROWS
        if self._missed != block:
            self._missed = block
            return self._groups.read(place, place + 1)[query_id]
        held = self._held = self._groups.read(block * _ROWS, (block + 1) * _ROWS)
        return held[query_id]

    def __contains__(self, query_id: object) -> bool:
        """Return whether a query is judged."""
        return query_id in self._held or self._groups.ids.find(query_id) is not None

    def __iter__(self) -> Iterator[str]:
        """Yield the judged queries in the order of their first rows."""
        return self._groups.names()

    def __len__(self) -> int:
        """Return the number of judged queries."""
        return len(self._groups.ids.hashes)

    def __repr__(self) -> str:
        """Return the text of a dictionary of the judgements."""
        return repr(dict(self))

    @cached_property
    def _groups(self) -> _Groups:
        return _Groups.of(self._given)


@dataclass(frozen=True)
class _Groups:
    """The rows of a QRELS table by query."""

    ids: HashedIds
    """The place of each query among the queries."""
    starts: NDArray[np.int64]
    """The first row of each query, and the number of rows."""
    table: Table

    @classmethod
    def of(cls, table: Table) -> _Groups:
        """Return the rows by query, in the order of each query's first one."""
        ids, codes = HashedIds.of(
            _cut(table, start, start + _ROWS) for start in range(0, table.num_rows, _ROWS)
        )
        if (np.diff(codes) < 0).any():
            order = np.argsort(codes, kind="stable")
            table, codes = rows_at(table, order.tolist()), codes[order]
        return cls(ids, np.searchsorted(codes, np.arange(len(ids.hashes) + 1)), table)

    def names(self) -> Iterator[str]:
        """Yield the queries in order."""
        for start in range(0, len(self.starts) - 1, _ROWS):
            first = self.starts[start : min(start + _ROWS, len(self.starts) - 1)]
            yield from rows_in_order(self.table, first).column("query_id").to_pylist()

    def read(self, first: int, end: int) -> dict[str, dict[str, int]]:
        """Return the judgements of the queries at some places, by query."""
        bounds = self.starts[first : end + 1].tolist()
        rows = _cut(self.table, bounds[0], bounds[-1])
        columns = ("query_id", "passage_id", "relevance")
        names, ids, grades = (rows.column(name).to_pylist() for name in columns)
        return {
            names[start]: dict(zip(ids[start:stop], grades[start:stop], strict=True))
            for start, stop in pairwise(bound - bounds[0] for bound in bounds)
        }


def _cut(table: Table, start: int, end: int) -> Table:
    """Return the rows of a table from `start` to before `end`, as far as there are any."""
    stop = min(end, int(table.num_rows))
    return table.slice(start, max(0, stop - start))
