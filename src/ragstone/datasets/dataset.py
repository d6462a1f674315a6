"""A data set: queries, the corpus they are asked of, and which passages are relevant."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone.schemas import columns, queries_to_table, table_to_queries
from ragstone.types import Query

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.datasets.corpus import Corpus


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
        held = columns(self.qrel_table)
        found: dict[str, dict[str, int]] = {}
        for query_id, passage_id, relevance in zip(
            held["query_id"], held["passage_id"], held["relevance"], strict=True
        ):
            found.setdefault(query_id, {})[passage_id] = relevance
        return found

    def sample(self, limit: int, seed: int) -> Dataset:
        """Return the data set with a random sample of `limit` of its queries, in file order.

        The same limit and seed give the same queries, whatever is measured on them. A limit at or
        above the number of queries changes nothing.
        """
        if limit >= len(self.queries):
            return self
        chosen = sorted(random.Random(seed).sample(range(len(self.queries)), limit))  # noqa: S311
        return replace(self, query_table=queries_to_table([self.queries[i] for i in chosen]))
