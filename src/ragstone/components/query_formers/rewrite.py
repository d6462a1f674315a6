"""The stand-alone form of a turn that the data set brings along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, said
from ragstone.types import Message, Query


@dataclass(frozen=True)
class Rewrite:
    """Searches for the data set's rewrite of a query, or for its text where there is none.

    Args:
        variant: `paper` with mtRAG's speaker tag, `corrected` without.
    """

    variant: Variant = "corrected"

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return the rewrites."""
        return [
            said(Message("user", query.rewrite or query.text), self.variant) for query in queries
        ]
