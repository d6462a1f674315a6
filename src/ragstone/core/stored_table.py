"""A table of the store: read when it is first used, and verified before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from arro3.core import Array, Table

from ragstone.core import limits
from ragstone.core.checksums import TABLE, read_manifest, verify_files
from ragstone.core.fingerprint import digest_table
from ragstone.core.parquet_blocks import read_blocks
from ragstone.core.result_digest import digest_result
from ragstone.errors import StoreError
from ragstone.types import one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class StoredTable:
    """A table with its digest; a stored table is read at its first use."""

    digest: str
    folder: Path | None = None
    memory: Table | None = None
    trusted: bool = False
    """Whether other code made the table, and `Store.trust_code` accepted it."""

    __repr__ = one_line

    @classmethod
    def in_memory(cls, table: Table) -> StoredTable:
        """Return a table that is only in memory, such as a table of a data set."""
        return cls(digest_table(table), memory=table)

    @classmethod
    def of_result(cls, table: Table) -> StoredTable:
        """Return the result of a step that is only in memory; a store gives it the same digest."""
        return cls(digest_result(table), memory=table)

    @cached_property
    def table(self) -> Table:
        """The table itself."""
        if self.memory is not None:
            return self.memory
        if self.folder is None:
            raise StoreError("the table is neither in memory nor in a store")
        verify_files(self.folder, self.manifest)
        return _read(self.folder)

    def blocks(self, rows: int = limits.PARQUET_BATCH_ROWS) -> Iterator[Table]:
        """Yield the table in pieces of at most `rows` rows; a stored table is not read whole."""
        if self.memory is None and self.folder is not None and "table" not in vars(self):
            verify_files(self.folder, self.manifest)
            yield from read_blocks(self.folder / TABLE, rows)
            return
        for start in range(0, self.table.num_rows, rows):
            yield self.table.slice(start, min(rows, self.table.num_rows - start))

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return int(self.manifest["rows"]) if self.memory is None else self.memory.num_rows

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The record of the table's origin; empty for a table in memory."""
        return {} if self.folder is None else read_manifest(self.folder)

    def without(self, columns: frozenset[str]) -> StoredTable:
        """Return the table without some columns."""
        return StoredTable.in_memory(_without(self.table, columns))

    @property
    def on_disk(self) -> StoredTable:
        """The same table, not in memory if it is in a store."""
        if self.folder is None:
            return self
        found = StoredTable(self.digest, self.folder, trusted=self.trusted)
        vars(found)["manifest"] = self.manifest
        return found

    @property
    def name(self) -> str:
        """The name of the table's folder; "" for a table in memory."""
        return "" if self.folder is None else self.folder.name


class SelectedTable(StoredTable):
    """Some rows of a table in memory, which are copied when they are read."""

    whole: Table
    places: NDArray[np.int64]

    def __init__(self, whole: Table, places: NDArray[np.int64]) -> None:
        super().__init__(digest_table(rows_in_order(whole, places)))
        vars(self).update(whole=whole, places=places)

    @property
    def table(self) -> Table:
        """The rows, as a new table."""
        return rows_in_order(self.whole, self.places)

    def blocks(self, rows: int = limits.PARQUET_BATCH_ROWS) -> Iterator[Table]:
        """Yield the rows in pieces of at most `rows` rows."""
        for start in range(0, len(self.places), rows):
            yield rows_in_order(self.whole, self.places[start : start + rows])

    def without(self, columns: frozenset[str]) -> StoredTable:
        """Return the rows without some columns."""
        return SelectedTable(_without(self.whole, columns), self.places)

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return len(self.places)


def _without(table: Table, columns: frozenset[str]) -> Table:
    return table.select([name for name in table.column_names if name not in columns])


def rows_in_order(table: Table, places: NDArray[np.int64]) -> Table:
    """Return the rows of a table at some places (from 0) in ascending order."""
    found, start = [], 0
    for batch in table.to_batches():
        stop = start + batch.num_rows
        first, last = np.searchsorted(places, (start, stop))
        if first < last:
            found.append(batch.take(Array.from_numpy(places[first:last] - start)))
        start = stop
    return Table.from_batches(found, schema=table.schema)


def unverified_table(folder: Path) -> Table:
    """Return the table of a step's folder as it is; raise `StoreError` if it is not readable."""
    try:
        return _read(folder)
    except BaseException as error:
        # A damaged file can make the Rust reader panic, which is not an `Exception`.
        if isinstance(error, Exception) or type(error).__name__ == "PanicException":
            raise StoreError(f"cannot read {folder / TABLE}: {error}") from error
        raise


def _read(folder: Path) -> Table:
    from arro3.io import read_parquet

    return read_parquet(str(folder / TABLE)).read_all()
