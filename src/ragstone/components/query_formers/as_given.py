"""The query's own text: mtRAG's last turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, last_turn, said
from ragstone.types import Query


@dataclass(frozen=True)
class AsGiven:
    """Searches for the query's text, without its history.

    Args:
        variant: `paper` with mtRAG's speaker tag, `corrected` without.
    """

    variant: Variant = "corrected"

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return the texts."""
        return [said(last_turn(query), self.variant) for query in queries]
