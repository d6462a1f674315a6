"""The query's own text: mtRAG's last turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.types import Query


@dataclass(frozen=True)
class AsGiven:
    """Searches for the query's text, without its history."""

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return the texts."""
        return [query.text for query in queries]
