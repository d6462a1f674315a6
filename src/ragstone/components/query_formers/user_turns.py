"""All that the user has said: mtRAG's `questions`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.components.query_formers.mtrag_tags import Variant, joined, last_turn
from ragstone.errors import ConfigError
from ragstone.types import Query


@dataclass(frozen=True)
class UserTurns:
    """Searches for the user's turns, one below the other, without the agent's.

    Args:
        last: only so many, the query counted; all where None.
        variant: `paper` with mtRAG's speaker tags, `corrected` without.
    """

    last: int | None = None
    variant: Variant = "corrected"

    def __post_init__(self) -> None:
        """Check the range."""
        if self.last is not None and self.last < 1:
            raise ConfigError(f"user-turns needs last of at least 1, found {self.last}")

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return the texts."""
        return [self._form(query) for query in queries]

    def _form(self, query: Query) -> str:
        asked = [message for message in query.history if message.role == "user"]
        turns = [*asked, last_turn(query)]
        return joined(turns[-self.last :] if self.last else turns, self.variant)
