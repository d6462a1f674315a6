"""The rewrite of a turn from the data set, which can be understood without the history."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import MessageFormer, Variant
from ragstone.types import Message, Query


@dataclass(frozen=True)
class Rewrite(MessageFormer):
    """Searches for the data set's rewrite of a query, or for its text if there is no rewrite.

    Args:
        variant: `paper` adds mtRAG's speaker tag, `corrected` removes it.
    """

    variant: Variant = "corrected"

    def messages(self, query: Query) -> list[Message]:
        """Return the rewrite in place of the query."""
        return [Message("user", query.rewrite or query.text)]
