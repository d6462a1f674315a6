"""The candidate passages of a context by origin: gold, noise and retrieved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragstone.types import (
    Candidates,
    GoldPassages,
    NoisePassages,
    Passage,
    Query,
    Ranking,
    RetrievedPassages,
)

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus


@dataclass(frozen=True)
class PassageSources:
    """The three kinds of passages that a context is built from."""

    corpus: Corpus
    uses: frozenset[str]
    """The kinds that the setting reads; the others stay empty."""
    qrels: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    noise_run: Mapping[str, Ranking] = field(default_factory=dict)
    run: Mapping[str, Ranking] = field(default_factory=dict)

    def candidates(self, query: Query) -> Candidates:
        """Return the passages that the context of a query may contain."""
        return Candidates(
            query,
            self.gold(query) if "gold" in self.uses else GoldPassages(()),
            self.noise(query) if "noise" in self.uses else NoisePassages(()),
            self.retrieved(query) if "retrieved" in self.uses else RetrievedPassages(()),
        )

    def gold(self, query: Query) -> GoldPassages:
        """Return the relevant passages, best grade first, equal grades in the file's order."""
        graded = self.qrels.get(query.query_id, {}).items()
        relevant = sorted(
            (-grade, place, p) for place, (p, grade) in enumerate(graded) if grade > 0
        )
        return GoldPassages(self._passages(p for _, _, p in relevant))

    def noise(self, query: Query) -> NoisePassages:
        """Return passages judged not relevant; if there are none, the best others of the noise run.

        A passage with the text of a gold passage is not noise, whatever its id.
        """
        grades = self.qrels.get(query.query_id, {})
        judged = [p for p, grade in grades.items() if grade <= 0]
        found = judged or self.noise_run.get(query.query_id, Ranking()).passage_ids
        gold_texts = {passage.text for passage in self.gold(query).passages}
        others = self._passages(p for p in found if grades.get(p, 0) <= 0)
        return NoisePassages(tuple(p for p in others if p.text not in gold_texts))

    def retrieved(self, query: Query) -> RetrievedPassages:
        """Return the system's own ranking."""
        return RetrievedPassages(
            self._passages(self.run.get(query.query_id, Ranking()).passage_ids)
        )

    def _passages(self, passage_ids: Iterable[str]) -> tuple[Passage, ...]:
        return tuple(self.corpus[passage_id] for passage_id in passage_ids)
