"""The perfect retriever, an upper bound: only the relevant passages of the qrels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ragstone.core.component import Outcome
from ragstone.data.readers.rows import listed
from ragstone.errors import ConfigError, DatasetError
from ragstone.protocols import Retriever, Services
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class Oracle(Retriever):
    """Returns the relevant passages of a query, best grade first; the grade is the score.

    Args:
        top_k: maximum length of a ranking.
    """

    top_k: int = 100
    reads_text = False
    uses = frozenset({"qrels"})

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterator[Outcome[Ranking]]:
        """Yield one ranking per search, in order; empty if no passage is relevant."""
        if not services.qrels:
            raise ConfigError(
                "the retriever 'oracle' needs the relevance judgements of the data set: "
                "Services(qrels=dataset.qrels)"
            )
        rankings = [self._ranking(services.qrels.get(search.query_id, {})) for search in searches]
        unknown = [repr(p) for r in rankings for p in r.passage_ids if p not in services.corpus]
        if unknown:
            raise DatasetError(
                f"the qrels contain {len(unknown):,} passages that are not in the corpus: "
                f"{listed(unknown)}"
            )
        yield from map(Outcome, rankings)

    def _ranking(self, grades: Mapping[str, int]) -> Ranking:
        relevant = {passage_id: grade for passage_id, grade in grades.items() if grade > 0}
        ordered = sorted(relevant, key=relevant.__getitem__, reverse=True)[: self.top_k]
        return Ranking(ordered, [float(relevant[passage_id]) for passage_id in ordered])
