"""All messages of the user: mtRAG's `questions`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, joined, last_turn
from ragstone.core.component import Outcome
from ragstone.errors import ConfigError
from ragstone.protocols import QueryFormer, Services
from ragstone.types import Query


@dataclass(frozen=True)
class UserTurns(QueryFormer):
    """Searches for the user's turns, one per line, without the agent's.

    Args:
        last: number of turns including the query; all if None.
        variant: `paper` adds mtRAG's speaker tags, `corrected` removes them.
    """

    last: int | None = None
    variant: Variant = "corrected"

    def __post_init__(self) -> None:
        """Check the range."""
        if self.last is not None and self.last < 1:
            raise ConfigError(f"user-turns needs last of at least 1, found {self.last}")

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str]]:
        """Yield the user's turns of each query."""
        for query in queries:
            turns = [message for message in query.history if message.role == "user"]
            shown = [*turns, last_turn(query)][-self.last if self.last else None :]
            yield Outcome(joined(shown, self.variant))
