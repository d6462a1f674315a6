"""Search texts that are given: a formed query that somebody edited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ragstone.core.component import Outcome
from ragstone.protocols import QueryFormer, Services
from ragstone.types import Query


@dataclass(frozen=True)
class GivenSearch(QueryFormer):
    """Searches for the text that is listed for each query, else for the query's own text.

    Args:
        texts: query id -> search text.
    """

    texts: Mapping[str, str] = field(default_factory=dict)

    def form(self, queries: Sequence[Query], services: Services) -> Iterator[Outcome[str | None]]:
        """Yield the given text of each query."""
        for query in queries:
            yield Outcome(self.texts.get(query.query_id))
