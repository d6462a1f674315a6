"""Where contexts take their passages from: gold, noise and retrieved ones, never to be mistaken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone.core.schemas import table_to_rankings, table_to_relevance
from ragstone.types import GoldPassages, NoisePassages, Passage, Query, Ranking, RetrievedPassages

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.data.corpus import Corpus


@dataclass(frozen=True)
class PassageSources:
    """The three kinds of passages that a context is built from."""

    corpus: Corpus
    qrels: Table | None = None
    noise_run: Table | None = None
    run: Table | None = None

    def gold(self, query: Query) -> GoldPassages:
        """Return the relevant passages, best grade first, equal grades in the file's order."""
        graded = self._relevance.get(query.query_id, {}).items()
        relevant = sorted(
            (-grade, place, p) for place, (p, grade) in enumerate(graded) if grade > 0
        )
        return GoldPassages(self._passages(p for _, _, p in relevant))

    def noise(self, query: Query) -> NoisePassages:
        """Return passages judged not relevant; where there are none, the noise run's best others.

        A passage with the text of a gold one is no noise, whatever its id.
        """
        grades = self._relevance.get(query.query_id, {})
        judged = [p for p, grade in grades.items() if grade <= 0]
        found = judged or self._noise_run.get(query.query_id, Ranking()).passage_ids
        gold_texts = {passage.text for passage in self.gold(query).passages}
        others = self._passages(p for p in found if grades.get(p, 0) <= 0)
        return NoisePassages(tuple(p for p in others if p.text not in gold_texts))

    def retrieved(self, query: Query) -> RetrievedPassages:
        """Return the system's own ranking."""
        return RetrievedPassages(
            self._passages(self._run.get(query.query_id, Ranking()).passage_ids)
        )

    def _passages(self, passage_ids: Iterable[str]) -> tuple[Passage, ...]:
        return tuple(self.corpus[passage_id] for passage_id in passage_ids)

    @cached_property
    def _relevance(self) -> Mapping[str, Mapping[str, int]]:
        return {} if self.qrels is None else table_to_relevance(self.qrels)

    @cached_property
    def _noise_run(self) -> Mapping[str, Ranking]:
        return {} if self.noise_run is None else table_to_rankings(self.noise_run)

    @cached_property
    def _run(self) -> Mapping[str, Ranking]:
        return {} if self.run is None else table_to_rankings(self.run)
