"""The query's own text: mtRAG's last turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, last_turn, tagged
from ragstone.core.component import Outcome
from ragstone.protocols import QueryFormer, Services
from ragstone.types import Query


@dataclass(frozen=True)
class AsGiven(QueryFormer):
    """Searches for the query's text, without its history.

    Args:
        variant: `paper` adds mtRAG's speaker tag, `corrected` removes it.
    """

    variant: Variant = "corrected"

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the text of each query."""
        return (Outcome(tagged(last_turn(query), self.variant)) for query in queries)
