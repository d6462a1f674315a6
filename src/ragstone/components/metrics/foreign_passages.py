"""foreign-passages: passages of other collections, such as another tenant's, in a context."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ragstone.components.metrics.base import AnswerMetric, Direction, Scored

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class ForeignPassages(AnswerMetric):
    """Number of passages in the context that are of another collection than the query.

    If each tenant has a collection, the mean is the cross-tenant leakage per answer. A system of
    your own reports its passages; Ragstone's retrievers search the query's collection alone. A text
    that the query's collection contains too is not foreign if it was reported without an id.

    Formula: number of passages of other collections.

    Source: Ragstone's own count (2026).

    Trap: it counts only what the system reports.
    """

    name: ClassVar[str] = "foreign-passages"
    direction: ClassVar[Direction] = "lower"
    range: ClassVar[tuple[float, float] | None] = None
    description: ClassVar[str] = (
        "Number of passages in the context that are of another collection than the query, such as "
        "another tenant's."
    )
    requires: ClassVar[frozenset[str]] = frozenset({"context", "collections"})

    def values(self, pairs: AnswerBatch) -> Values:
        """Return a number of passages per pair."""
        return np.array([len(ids) for ids in self._foreign(pairs)], float)

    def scored(self, pairs: AnswerBatch) -> Scored:
        """Return the values, with the ids of the foreign passages as remarks."""
        named = {i: ", ".join(ids) for i, ids in enumerate(self._foreign(pairs)) if ids}
        return Scored(self.values(pairs), self.inapplicable(pairs), remarks=named)

    def _foreign(self, pairs: AnswerBatch) -> list[list[str]]:
        return [
            [p.passage_id for p in (context.passages if context else ()) if p.origin == "foreign"]
            for context in pairs.contexts
        ]
