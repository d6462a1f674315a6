"""Arrow tables built row by row, without ever holding more than a batch of rows as objects."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from arro3.core import Table

from ragstone.schemas import CORPUS, QRELS, QUERIES, to_table

if TYPE_CHECKING:
    from arro3.core import RecordBatch, Schema

BATCH_ROWS: Final = 20_000
"""Rows held as Python objects before they become Arrow: 20,000 passages are some 30 MB."""


class TableBuilder:
    """Collects rows of a schema, given as tuples in the schema's order."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._rows: list[Sequence[Any]] = []
        self._batches: list[RecordBatch] = []

    def add(self, row: Sequence[Any]) -> None:
        """Add one row."""
        self._rows.append(row)
        if len(self._rows) >= BATCH_ROWS:
            self._flush()

    def _flush(self) -> None:
        columns = dict(zip(self.schema.names, zip(*self._rows, strict=True), strict=True))
        self._batches.extend(to_table(self.schema, columns).to_batches())
        self._rows = []

    def finish(self) -> Table:
        """Return the table of all rows."""
        if self._rows:
            self._flush()
        if not self._batches:
            return to_table(self.schema, dict.fromkeys(self.schema.names, ()))
        # In one piece: rows are then read and the table digested without copying it again.
        return Table.from_batches(self._batches, schema=self.schema).combine_chunks()


def passages() -> TableBuilder:
    """Collect passages: (passage_id, text, title, document_id, labels as JSON)."""
    return TableBuilder(CORPUS)


def queries() -> TableBuilder:
    """Collect queries: (query_id, text, gold answers, history as JSON, rewrite, labels as JSON)."""
    return TableBuilder(QUERIES)


def qrels() -> TableBuilder:
    """Collect judgements: (query_id, passage_id, relevance)."""
    return TableBuilder(QRELS)
