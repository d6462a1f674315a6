"""The stand-alone form of a turn from the data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, tagged
from ragstone.core.component import Outcome
from ragstone.protocols import QueryFormer, Services
from ragstone.types import Message, Query


@dataclass(frozen=True)
class Rewrite(QueryFormer):
    """Searches for the data set's rewrite of a query, or for its text if there is no rewrite.

    Args:
        variant: `paper` adds mtRAG's speaker tag, `corrected` removes it.
    """

    variant: Variant = "corrected"

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the rewrite of each query."""
        for query in queries:
            yield Outcome(tagged(Message("user", query.rewrite or query.text), self.variant))
