"""Pooling: passages that several retrievers find for a query, for a judge to label.

A passage of the corpus may contain the answer though the query was written about another one.
Without a judgement it would count as not relevant (Voorhees and Harman, TREC, 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from ragstone.core.component import Outcome
from ragstone.data.corpus import Corpus
from ragstone.protocols import Retriever, Services
from ragstone.types import Passage, Query, Ranking, Search


@dataclass(frozen=True)
class PassagePool:
    """The retrievers, and the number of passages that each contributes.

    Args:
        corpus: the passages.
        retrievers: the first one also decides how difficult a query is.
        services: the services of the searches.
        depth: passages per query and retriever.
    """

    corpus: Corpus
    retrievers: Sequence[Retriever]
    services: Services
    depth: int = 5

    def rankings(self, queries: Sequence[Query]) -> list[list[list[str]]]:
        """Return per query a list of passage ids per retriever, best first.

        The history of a turn is not searched: give its self-contained form as the text.
        """
        services = self.services.of_step({}, self.corpus)
        searches = [Search(query.query_id, query.text) for query in queries]
        if not searches:
            return []
        found = [
            [_ids(outcome) for outcome in one.retrieve(searches, services)]
            for one in self.retrievers
        ]
        return [list(rankings) for rankings in zip(*found, strict=True)]

    def passages(self, rankings: Sequence[Sequence[str]]) -> list[Passage]:
        """Return the pooled passages of a query, each once, the best of each retriever first."""
        pooled = chain.from_iterable(zip_longest(*(one[: self.depth] for one in rankings)))
        return [self.corpus[i] for i in dict.fromkeys(pooled) if i is not None]


def _ids(outcome: Outcome[Ranking | None]) -> list[str]:
    return list(outcome.value.passage_ids) if outcome.value else []
