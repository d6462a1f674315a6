"""answerability: whether the answer declines exactly where the query cannot be answered."""

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
"""Answerability -> whether a right answer is a refusal; a partial one is an answer."""


@dataclass(frozen=True)
class Answerability(AnswerMetric):
    """1 where a refusal meets an unanswerable query, or an answer one that can be answered.

    The mean is mtRAG's answerability accuracy (Katsis et al., 2025, section 6.3.3), with turns of
    phrase in the place of the judge that tells refusals. Conversational turns take no part, nor
    does a query whose label `answerability` says nothing.
    """

    name: ClassVar[str] = "answerability"
    requires: ClassVar[frozenset[str]] = frozenset()

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        wanted = [_DECLINES.get(label, 0.0) for label in _labels(pairs)]
        given = [refusal(answer) for answer in pairs.answers]
        return np.equal(given, wanted).astype(float)

    def inapplicable(self, pairs: AnswerBatch) -> dict[int, str]:
        """Return the pairs whose query is labelled otherwise, or not at all."""
        return {
            place: f"answerability is {label!r}" if label else "no label answerability"
            for place, label in enumerate(_labels(pairs))
            if label not in _DECLINES
        }


def _labels(pairs: AnswerBatch) -> list[str]:
    return [label.lower() for label in pairs.answerability] or [""] * len(pairs)
