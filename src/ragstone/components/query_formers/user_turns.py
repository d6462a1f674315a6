"""All messages of the user: mtRAG's `questions`."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import MessageFormer, Variant, last_turn
from ragstone.types import Message, Query


@dataclass(frozen=True)
class UserTurns(MessageFormer):
    """Searches for the user's turns, one per line, without the agent's.

    Args:
        last: number of turns including the query; all if None.
        variant: `paper` adds mtRAG's speaker tags, `corrected` removes them.
    """

    last: int | None = None
    variant: Variant = "corrected"
    sizes = ("last",)

    def messages(self, query: Query) -> list[Message]:
        """Return the user's last turns."""
        turns = [message for message in query.history if message.role == "user"]
        return [*turns, last_turn(query)][-(self.last or 0) :]
