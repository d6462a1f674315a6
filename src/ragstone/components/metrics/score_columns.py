"""Scores as columns of numbers, added block by block; the table of scores is made at the end.

    scores = AnswerScores(["EM", "F1"])            # or RankingScores; both in `metrics.score`
    for queries, predictions, contexts in blocks:  # as many queries at a time as you like
        scores.add(queries, predictions, contexts)
    for table in scores.tables():                  # or scores.table() for all rows at once
        writer.write(table)
    scores.count("unscored"), scores.beside()      # for the manifest of a step

The rows are metric by metric, and within a metric in the order in which queries were added, however
they were cut into blocks. A score takes nine bytes until then, and a query its id.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, get_args

import numpy as np
from arro3.core import Array, ChunkedArray, DataType, Table

from ragstone.core import limits
from ragstone.core.schemas import SCORES, columns, to_table
from ragstone.types import Status

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.components.metrics.arrays import Flags, Ints, Values

    StatusCodes = npt.NDArray[np.uint8]

STATUSES: Final[tuple[Status, ...]] = get_args(Status)
"""The statuses in the order of their codes; 0 is `scored`."""
SCORED: Final = STATUSES.index("scored")


class Cells(NamedTuple):
    """The scores of one metric over some queries."""

    values: Values
    """One value per query; ignored where the status is not `scored`."""
    status: StatusCodes
    """The position of each query's status in `STATUSES`."""
    reasons: Mapping[int, str]
    """Position -> reason or remark, of the queries that have one."""


class ScoreColumns:
    """The scores of some metrics, one column per metric, to which blocks of queries are added.

    Args:
        names: the metrics, in the order of their rows.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)
        """The metrics, in the order of their rows."""
        self._columns = [_Column() for _ in names]
        self._ids: list[Array] = []
        self._size = 0

    def __len__(self) -> int:
        """Return the number of queries."""
        return self._size

    def add_cells(self, query_ids: Sequence[str], cells: Sequence[Cells]) -> None:
        """Add some queries with their cells by metric."""
        for column, held in zip(self._columns, cells, strict=True):
            column.add(self._size, held)
        self._ids.append(Array(list(query_ids), type=DataType.string()))
        self._size += len(query_ids)

    def add_rows(self, table: Table) -> None:
        """Add the queries of a SCORES table of the same metrics, as `table` returns it."""
        if not table.num_rows:
            return
        size, held = table.num_rows // len(self.names), columns(table)
        values = np.array([np.nan if one is None else one for one in held["value"]], float)
        status = np.array([STATUSES.index(one) for one in held["status"]], np.uint8)
        cells = []
        for start in range(0, table.num_rows, size):
            own = slice(start, start + size)
            reasons = {place: why for place, why in enumerate(held["reason"][own]) if why}
            cells.append(Cells(values[own], status[own], reasons))
        self.add_cells(held["query_id"][:size], cells)

    def count(self, status: Status) -> int:
        """Return the number of scores with a status."""
        return sum(len(at) for column in self._columns for at in column.with_status(status))

    def values(self, name: str) -> tuple[Values, StatusCodes]:
        """Return a metric's value and status code per query; a value without `scored` is NaN."""
        return self._columns[self.names.index(name)].whole()

    def table(self) -> Table:
        """Return the SCORES table of all rows; the rows of all metrics share the query ids."""
        if not self._size:
            return to_table(SCORES, dict.fromkeys(SCORES.names, ()))
        shared = list(self._query_ids(limits.TABLE_BATCH_ROWS))
        tables = list(self._tables(limits.TABLE_BATCH_ROWS, lambda: shared))
        return Table.from_batches(
            [batch for t in tables for batch in t.to_batches()], schema=SCORES
        )

    def tables(self, rows: int = limits.TABLE_BATCH_ROWS) -> Iterator[Table]:
        """Yield the SCORES table in pieces of at most `rows` rows, one metric after another."""
        return self._tables(rows, lambda: self._query_ids(rows))

    def _query_ids(self, rows: int) -> Iterator[Array]:
        """Yield the query ids in pieces; each has a copy, because a slice would carry all ids."""
        empty = Array([], type=DataType.string())
        query_ids = ChunkedArray([empty, *self._ids]).combine_chunks()
        for start in range(0, self._size, rows):
            yield query_ids.take(_indices(np.arange(start, min(start + rows, self._size))))

    def _tables(self, rows: int, query_ids: Callable[[], Iterable[Array]]) -> Iterator[Table]:
        for name, column in zip(self.names, self._columns, strict=True):
            texts = _Repeated()
            for place, ids in enumerate(query_ids()):
                start, stop = place * rows, place * rows + len(ids)
                yield Table.from_arrays(
                    [ids, texts(name, stop - start), *column.arrays(start, stop, texts)],
                    schema=SCORES,
                )


class _Column:
    """The scores of one metric; reasons are kept for the rows that have one."""

    def __init__(self) -> None:
        self._values: list[Values] = []
        self._status: list[StatusCodes] = []
        self._reason_rows, self._reason_codes = array("q"), array("q")
        self._codes = {"": 0}

    def add(self, start: int, cells: Cells) -> None:
        self._values.append(np.where(cells.status == SCORED, cells.values, np.nan))
        self._status.append(cells.status)
        for place, reason in sorted(cells.reasons.items()):
            self._reason_rows.append(start + place)
            self._reason_codes.append(self._codes.setdefault(reason, len(self._codes)))

    def whole(self) -> tuple[Values, StatusCodes]:
        """Return all values and status codes, joined once."""
        if len(self._values) != 1:
            self._values = [np.concatenate([np.zeros(0), *self._values])]
            self._status = [np.concatenate([np.zeros(0, np.uint8), *self._status])]
        return self._values[0], self._status[0]

    def with_status(self, status: Status) -> Iterator[Ints]:
        code = STATUSES.index(status)
        return (np.flatnonzero(held == code) for held in self._status)

    def arrays(self, start: int, stop: int, texts: _Repeated) -> tuple[Array, Array, Array]:
        """Return value, status and reason of some rows; `texts` has the arrays of one text."""
        all_values, all_status = self.whole()
        values, status = all_values[start:stop], all_status[start:stop]
        rows = np.frombuffer(self._reason_rows, np.int64)
        first, last = np.searchsorted(rows, (start, stop))
        if first == last and not status.any():
            size = stop - start
            return Array.from_numpy(values.copy()), texts(STATUSES[SCORED], size), texts("", size)
        reasons = np.zeros(stop - start, np.int64)
        reasons[rows[first:last] - start] = np.frombuffer(self._reason_codes, np.int64)[first:last]
        return (
            _nullable(values, status == SCORED),
            _texts(STATUSES, status.astype(np.int64)),
            _texts(tuple(self._codes), reasons),
        )


def _nullable(values: Values, held: Flags) -> Array:
    """Return values, null where none is held."""
    if held.all():
        return Array.from_numpy(values.copy())
    pairs = zip(values.tolist(), held.tolist(), strict=True)
    return Array([value if here else None for value, here in pairs], type=DataType.float64())


def _texts(known: Sequence[str], codes: Ints) -> Array:
    return Array(list(known), type=DataType.string()).take(_indices(codes))


class _Repeated:
    """Arrays of one text, each made once and shared by the pieces of a table."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, int], Array] = {}

    def __call__(self, text: str, times: int) -> Array:
        """Return the text `times` times."""
        if (text, times) not in self._made:
            self._made[text, times] = _texts((text,), np.zeros(times, np.int64))
        return self._made[text, times]


def _indices(places: Ints) -> Array:
    return Array.from_numpy(places)
