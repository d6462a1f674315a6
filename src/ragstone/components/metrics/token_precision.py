"""Precision: the share of the answer's words that the gold answer has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.precision_recall import overlap
from ragstone.components.metrics.published_normalisers import mirage_overlap, squad_words
from ragstone.components.metrics.token_f1 import best_rates

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class TokenPrecision(AnswerMetric):
    """Token precision against the gold answer of highest F1, so that P, R and F1 belong together.

    Variants: "bergen" takes the best gold answer for precision alone, after SQuAD's normalisation;
    "mirage" compares with the united set of all gold answers' words.
    """

    variant: Literal["corrected", "bergen", "mirage"] = "corrected"

    name: ClassVar[str] = "Precision"
    description: ClassVar[str] = (
        "Token precision: the share of the answer's words that occur in a gold answer."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return precision per pair."""
        if self.variant == "corrected":
            return best_rates(pairs)[0]
        one = _mirage if self.variant == "mirage" else _bergen
        return np.array([one(a, g) for a, g in zip(pairs.answers, pairs.gold, strict=True)])


def _mirage(answer: str, gold: Sequence[str]) -> float:
    return mirage_overlap(answer, gold).precision


def _bergen(answer: str, gold: Sequence[str]) -> float:
    said = squad_words(answer)
    return max(overlap(said, squad_words(label)).precision for label in gold)


def token_precision(answer: str, gold_answers: Sequence[str], *, language: str = "") -> float:
    """Return shared words over the answer's, for the gold answer of highest F1.

    An empty answer gives 0.

    >>> token_precision("the capital is Paris", ["Paris"])
    0.3333333333333333
    """
    pair = AnswerBatch.of(answer, gold_answers, language=language)
    return float(TokenPrecision().values(pair)[0])
