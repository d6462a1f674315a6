"""The conversation with both its voices, whole or from some turns back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, joined, last_turn
from ragstone.errors import ConfigError
from ragstone.types import Message, Query


@dataclass(frozen=True)
class Conversation:
    """Searches for the conversation up to the query, the agent's answers included.

    Args:
        variant: `paper` with mtRAG's speaker tags, `corrected` without.
    """

    variant: Variant = "corrected"

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return the texts."""
        return [joined([*query.history, last_turn(query)], self.variant) for query in queries]


@dataclass(frozen=True)
class LastTurns:
    """Searches for the last turns: the query, and the turns before it with their answers.

    Args:
        turns: how many, the query counted: 1 is the query alone.
        variant: `paper` with mtRAG's speaker tags, `corrected` without.
    """

    turns: int = 2
    variant: Variant = "corrected"

    def __post_init__(self) -> None:
        """Check the range."""
        if self.turns < 1:
            raise ConfigError(f"last-turns needs at least 1 turn, found {self.turns}")

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return the texts."""
        return [
            joined([*last_messages(query.history, self.turns - 1), last_turn(query)], self.variant)
            for query in queries
        ]


def last_messages(history: Sequence[Message], turns: int) -> Sequence[Message]:
    """Return the messages of the last turns of a history; a turn begins where the user speaks.

    >>> said = [Message("user", "a"), Message("agent", "b"), Message("user", "c")]
    >>> [message.text for message in last_messages(said, 2)]
    ['a', 'b', 'c']
    """
    starts = [place for place, message in enumerate(history) if message.role == "user"]
    if turns < 1 or not starts:
        return ()
    return history[starts[-min(turns, len(starts))] :]
