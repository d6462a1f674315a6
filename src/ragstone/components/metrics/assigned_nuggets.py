"""assigned-nuggets: the nuggets that an answer contains, as somebody else assigned them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.data.readers.nuggets import ASSIGNED_GRADES, ASSIGNMENTS
from ragstone.statistics.nuggets import NAMES, nugget_scores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.types import Label, Query


@dataclass(frozen=True)
class AssignedNuggets(AnswerMetric):
    """Coverage of nuggets by assignments that people or another program made, without a judge.

    The labels `vital_assignments` and `okay_assignments` of a row have `support`, `partial_support`
    or `not_support` per nugget; rows of TREC RAG's nuggetizer become such rows. The aggregates are
    those of the judge `nuggets`. An answer without assignments has no value.

    Formula: sum of weight times support / sum of weights. Support is 1, partial support 0.5 (0 in
    the strict forms). A vital nugget weighs 1, an okay one 0.5 (`weighted`), 1 (`all`) or 0
    (`vital`).

    Source: Pradeep et al., AutoNuggetizer, TREC RAG 2024.

    Trap: values of different assigners are not comparable.

    Args:
        of: the aggregate: `weighted`, `all` or `vital`, or their strict forms `strict-weighted`,
            `strict` (of all nuggets) and `strict-vital`.
    """

    of: Literal["weighted", "all", "vital", "strict-weighted", "strict", "strict-vital"] = (
        "weighted"
    )

    name: ClassVar[str] = "assigned-nuggets"
    requires: ClassVar[frozenset[str]] = frozenset()

    def values(self, pairs: AnswerBatch) -> Values:
        """Return one value per pair."""
        found = [_scores(labels).get(self.of, 0.0) for labels in _labels(pairs)]
        return np.array(found, dtype=float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reasons for answers without assignments, or without vital ones."""
        return {
            place: "the query has no vital nugget" if scores else "no nugget is assigned"
            for place, scores in enumerate(map(_scores, _labels(pairs)))
            if self.of not in scores
        }


def _labels(pairs: AnswerBatch) -> Sequence[Mapping[str, Label]]:
    return pairs.query_labels or [{}] * len(pairs)


def _scores(labels: Mapping[str, Label]) -> dict[str, float]:
    vital, okay = (
        [ASSIGNED_GRADES.get(one, 0.0) for one in given if isinstance(one, str)]
        for given in (labels.get(name) or () for name in ASSIGNMENTS.values())
        if isinstance(given, tuple)
    )
    return nugget_scores(vital, okay) if vital or okay else {}


def metrics_of(queries: Iterable[Query]) -> tuple[str, ...]:
    """Return the names of all aggregates if some rows have assignments, else none."""
    if any(name in query.labels for query in queries for name in ASSIGNMENTS.values()):
        return tuple(str(AssignedNuggets(of)) for of in NAMES)
    return ()
