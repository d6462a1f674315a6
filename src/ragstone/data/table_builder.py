"""Arrow tables built row by row, with at most one batch of rows as Python objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from arro3.core import Table

from ragstone.core import limits
from ragstone.core.schemas import CORPUS, QRELS, QUERIES, to_table

if TYPE_CHECKING:
    from arro3.core import RecordBatch, Schema


class Pieces:
    """Joins batches into a table of few pieces of limited size."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._pieces: list[RecordBatch] = []
        self._open: list[RecordBatch] = []
        self._bytes = 0

    def add(self, batch: RecordBatch) -> None:
        """Add some rows."""
        size = int(batch.nbytes)
        if self._bytes + size > limits.TABLE_PIECE_BYTES:
            self._close()
        self._open.append(batch)
        self._bytes += size

    def _close(self) -> None:
        if self._open:
            # Few pieces are faster to read than many batches, and have no spare capacity.
            joined = Table.from_batches(self._open, schema=self.schema).combine_chunks()
            self._pieces.extend(joined.to_batches())
        self._open, self._bytes = [], 0

    def finish(self) -> Table:
        """Return the table of all rows."""
        self._close()
        if not self._pieces:
            return to_table(self.schema, dict.fromkeys(self.schema.names, ()))
        return Table.from_batches(self._pieces, schema=self.schema)


class TableBuilder:
    """Collects rows as tuples in the order of the schema's columns."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._rows: list[Sequence[Any]] = []
        self._characters = 0
        self._pieces = Pieces(schema)

    def add(self, row: Sequence[Any]) -> None:
        """Add one row."""
        self._rows.append(row)
        self._characters += sum([len(value) for value in row if type(value) is str])
        is_full = self._characters >= limits.TABLE_BATCH_CHARACTERS
        if is_full or len(self._rows) >= limits.TABLE_BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        columns = dict(zip(self.schema.names, zip(*self._rows, strict=True), strict=True))
        for batch in to_table(self.schema, columns).to_batches():
            self._pieces.add(batch)
        self._rows, self._characters = [], 0

    def finish(self) -> Table:
        """Return the table of all rows."""
        if self._rows:
            self._flush()
        return self._pieces.finish()


def passages() -> TableBuilder:
    """Return a builder of passages: (passage_id, text, title, document_id, labels as JSON)."""
    return TableBuilder(CORPUS)


def queries() -> TableBuilder:
    """Return a builder of queries.

    A row is (query_id, text, gold answers, history as JSON, rewrite, labels as JSON).
    """
    return TableBuilder(QUERIES)


def judgements(grades: Mapping[tuple[str, str], int]) -> Table:
    """Return the QRELS table of (query id, passage id) -> relevance."""
    builder = qrels()
    for pair, grade in grades.items():
        builder.add((*pair, grade))
    return builder.finish()


def qrels() -> TableBuilder:
    """Return a builder of judgements: (query_id, passage_id, relevance)."""
    return TableBuilder(QRELS)
