"""Parquet files read and written in blocks: a table of any size needs the memory of one block."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

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
        OSError: the disk is full.
        FailedBlock: `blocks` raised an exception, which `raised_as_it_is` raises again.
    """
    from arro3.core import RecordBatchReader
    from arro3.io import write_parquet

    rows, errors = 0, list[BaseException]()

    def batches(file: _PatientFile) -> Iterator[RecordBatch]:
        nonlocal rows
        try:
            for block in itertools.chain([first], given):
                if file.error:
                    return
                rows += block.num_rows
                yield from block.combine_chunks().to_batches()
        except BaseException as error:  # noqa: BLE001 - the writer would raise another one
            errors.append(error)

    given = iter(blocks)
    first = next(given)
    group = min(max(1, first.num_rows), limits.ROW_GROUP_ROWS)
    with _patient_file(path) as file:
        reader = RecordBatchReader.from_batches(first.schema, batches(file))
        write_parquet(reader, file, max_row_group_size=group)  # type: ignore[arg-type]
    if errors:
        raise FailedBlock from errors[0]
    return rows


def write_table(table: Table, path: Path) -> None:
    """Write a table as a Parquet file; raise `OSError` if the disk is full."""
    from arro3.io import write_parquet

    with _patient_file(path) as file:
        write_parquet(table, file)  # type: ignore[arg-type]  # only writes and seeks


@contextmanager
def _patient_file(path: Path) -> Iterator[_PatientFile]:
    """Yield a new file for the Rust writer; raise `OSError` at the end if a write failed."""
    with path.open("wb") as file:
        patient = _PatientFile(file)
        try:
            yield patient
        finally:
            if patient.error:
                raise patient.error


class _PatientFile:
    """A file that keeps the error of a write for later: at one, the Rust writer panics."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def write(self, content: bytes) -> int:
        """Write, or do nothing after an error."""
        try:
            return len(content) if self.error else self._file.write(content)
        except OSError as error:
            self.error = error
            return len(content)

    def flush(self) -> None:
        """Do nothing: closing the file writes what is left."""

    def seek(self, place: int, whence: int = 0) -> int:
        """Seek in the file."""
        return self._file.seek(place, whence)


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
