"""The conversation, user and agent, as a whole or its last turns."""

from __future__ import annotations

from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import MessageFormer, Variant, last_turn
from ragstone.types import Message, Query


@dataclass(frozen=True)
class WholeConversation(MessageFormer):
    """Searches for the conversation up to the query, including the agent's answers.

    Args:
        variant: `paper` adds mtRAG's speaker tags, `corrected` removes them.
    """

    variant: Variant = "corrected"

    def messages(self, query: Query) -> list[Message]:
        """Return the whole conversation."""
        return [*query.history, last_turn(query)]


@dataclass(frozen=True)
class LastTurns(MessageFormer):
    """Searches for the last turns: the query, and the turns before it with their answers.

    Args:
        turns: number of turns including the query; 1 is the query alone.
        variant: `paper` adds mtRAG's speaker tags, `corrected` removes them.
    """

    turns: int = 2
    variant: Variant = "corrected"
    sizes = ("turns",)

    def messages(self, query: Query) -> list[Message]:
        """Return the messages of the last turns; a turn begins with a user's message.

        >>> history = Message("user", "a"), Message("agent", "b"), Message("user", "c")
        >>> [m.text for m in LastTurns(2).messages(Query("q", "d", history=history))]
        ['c', 'd']
        """
        messages = [*query.history, last_turn(query)]
        starts = [n for n, message in enumerate(messages) if message.role == "user"]
        return messages[starts[-self.turns :][0] :]
