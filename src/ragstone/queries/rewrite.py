"""The stand-alone form of a turn that the data set brings along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ragstone.types import Query


@dataclass(frozen=True)
class Rewrite:
    """Searches for the data set's rewrite of a query, or for its text where there is none."""

    def form(self, queries: Sequence[Query]) -> list[str]:
        """Return the rewrites."""
        return [query.rewrite or query.text for query in queries]
