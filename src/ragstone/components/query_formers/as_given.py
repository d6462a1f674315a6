"""The query's own text: mtRAG's last turn."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import MessageFormer, Variant, last_turn
from ragstone.types import Message, Query


@dataclass(frozen=True)
class AsGiven(MessageFormer):
    """Searches for the query's text, without its history.

    Args:
        variant: `paper` adds mtRAG's speaker tag, `corrected` removes it.
    """

    variant: Variant = "corrected"

    def messages(self, query: Query) -> list[Message]:
        """Return the query alone."""
        return [last_turn(query)]
