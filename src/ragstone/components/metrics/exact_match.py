"""EM: whether the answer is one of the gold answers, after normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.published_normalisers import squad_normal

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class ExactMatch(AnswerMetric):
    """1 if the answer has the same words as a gold answer, else 0.

    Rajpurkar et al., EMNLP 2016, with the words of `ragstone.text.normalise`. An empty answer
    gives 0.

    Formula: 1 if the words of the answer are those of a gold answer.

    Source: Rajpurkar et al., SQuAD, EMNLP 2016.

    Trap: a full sentence around the right words gets 0.

    Args:
        variant: "squad" is SQuAD's script (BERGEN's EM is the same), "mirage" the released scorer's
            strict form, which only lowers case.
    """

    variant: Literal["corrected", "squad", "mirage"] = "corrected"

    name: ClassVar[str] = "EM"
    graded: ClassVar[bool] = False
    description: ClassVar[str] = (
        "Exact match: 1 if the normalised answer equals a gold answer, else 0."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "squad", "bergen": "squad"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        if self.variant == "corrected":
            return pairs.any_gold(pairs.words.equal).astype(np.float64)
        return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)

    def _one(self, answer: str, gold: Sequence[str]) -> bool:
        normal = str.lower if self.variant == "mirage" else squad_normal
        return normal(answer) in map(normal, gold)
