"""answerability: whether the answer declines exactly if the query cannot be answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.refusal import refusal

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values

_DECLINES: Final = {"answerable": 0.0, "partial": 0.0, "unanswerable": 1.0}
"""Label -> 1 if the right response is a refusal, 0 if it is an answer."""


@dataclass(frozen=True)
class Answerability(AnswerMetric):
    """1 if an unanswerable query gets a refusal, or an answerable one an answer, else 0.

    The mean is mtRAG's answerability accuracy (Katsis et al., 2025, section 6.3.3), with `refusal`
    instead of the judge that detects refusals. It applies only to queries with the label
    `answerability` "answerable", "partial" or "unanswerable".

    Formula: 1 if refusal and label agree.

    Source: Katsis et al., MTRAG, TACL 2025.

    Trap: errors of `refusal` are errors of this metric.
    """

    name: ClassVar[str] = "answerability"
    graded: ClassVar[bool] = False
    requires: ClassVar[frozenset[str]] = frozenset()

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        expected = [_DECLINES.get(label, 0.0) for label in _labels(pairs)]
        given = [refusal(answer) for answer in pairs.answers]
        return np.equal(given, expected).astype(float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the reasons for pairs whose query has another label, or none."""
        return {
            place: f"answerability is {label!r}" if label else "no label answerability"
            for place, label in enumerate(_labels(pairs))
            if label not in _DECLINES
        }


def _labels(pairs: AnswerBatch) -> list[str]:
    given = [str(labels.get("answerability", "")).lower() for labels in pairs.query_labels]
    return given or [""] * len(pairs)
