"""The conversation, user and agent, as a whole or its last turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, joined, last_turn
from ragstone.core.component import Outcome
from ragstone.errors import ConfigError
from ragstone.protocols import QueryFormer, Services
from ragstone.types import Message, Query


@dataclass(frozen=True)
class Conversation(QueryFormer):
    """Searches for the conversation up to the query, including the agent's answers.

    Args:
        variant: `paper` adds mtRAG's speaker tags, `corrected` removes them.
    """

    variant: Variant = "corrected"

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the whole conversation of each query."""
        return (Outcome(joined([*q.history, last_turn(q)], self.variant)) for q in queries)


@dataclass(frozen=True)
class LastTurns(QueryFormer):
    """Searches for the last turns: the query, and the turns before it with their answers.

    Args:
        turns: number of turns including the query; 1 is the query alone.
        variant: `paper` adds mtRAG's speaker tags, `corrected` removes them.
    """

    turns: int = 2
    variant: Variant = "corrected"

    def __post_init__(self) -> None:
        """Check the range."""
        if self.turns < 1:
            raise ConfigError(f"last-turns needs at least 1 turn, found {self.turns}")

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the last turns of each query."""
        for query in queries:
            before = last_messages(query.history, self.turns - 1)
            yield Outcome(joined([*before, last_turn(query)], self.variant))


def last_messages(history: Sequence[Message], turns: int) -> Sequence[Message]:
    """Return the messages of the last turns of a history; a turn begins with a user's message.

    >>> history = [Message("user", "a"), Message("agent", "b"), Message("user", "c")]
    >>> [message.text for message in last_messages(history, 2)]
    ['a', 'b', 'c']
    """
    starts = [place for place, message in enumerate(history) if message.role == "user"]
    if turns < 1 or not starts:
        return ()
    return history[starts[-min(turns, len(starts))] :]
