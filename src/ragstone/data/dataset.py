"""A data set: queries, the corpus they are asked of, and which passages are relevant."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from arro3.core import Array, DataType, Table

from ragstone.core.schemas import table_to_queries, table_to_relevance
from ragstone.types import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.data.corpus import Corpus


@dataclass(frozen=True)
class Dataset:
    """Three tables and a name. Turns of conversations are queries with a history."""

    name: str
    query_table: Table
    corpus: Corpus
    qrel_table: Table
    """Rows (query_id, passage_id, relevance); relevance 0 is judged and not relevant."""

    @cached_property
    def queries(self) -> list[Query]:
        """The queries, in the order of the file."""
        return table_to_queries(self.query_table)

    @cached_property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Query id -> passage id -> relevance."""
        return table_to_relevance(self.qrel_table)

    def sample(self, limit: int, seed: int) -> Dataset:
        """Return the data set with a random sample of `limit` of its queries, in file order.

        The same limit and seed give the same queries, whatever is measured on them. A limit at or
        above the number of queries changes nothing.
        """
        total = self.query_table.num_rows
        if limit >= total:
            return self
        return self.select(sorted(random.Random(seed).sample(range(total), limit)))  # noqa: S311

    def select(self, positions: Sequence[int]) -> Dataset:
        """Return the data set with the queries at some positions (from 0), in the order given."""
        whole = self.query_table.combine_chunks().to_batches()[0]
        chosen = whole.take(Array(list(positions), type=DataType.int64()))
        return replace(
            self, query_table=Table.from_batches([chosen], schema=self.query_table.schema)
        )
