"""Precision, Recall and F1 of the words that an answer shares with a gold answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.precision_recall import many_rates, overlap
from ragstone.components.metrics.published_normalisers import mirage_overlap, squad_words

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


class TokenRate(AnswerMetric):
    """The base of Precision, Recall and F1.

    All three are of the same gold answer, the first of those with the highest F1. Rajpurkar et al.,
    EMNLP 2016, with the words of `ragstone.text.normalise`. An empty answer gives 0.
    """

    rate: ClassVar[Literal["precision", "recall", "f1"]]
    variant: str

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the rate per pair."""
        if self.variant == "corrected":
            return self._of_best(pairs)
        one = self._mirage if self.variant == "mirage" else self._squad
        return np.array(list(map(one, pairs.answers, pairs.gold)), float)

    def _of_best(self, pairs: AnswerBatch) -> Values:
        words = pairs.words
        sizes = words.answers.counts[pairs.lane_pair]
        rates = many_rates(words.shared, sizes, words.gold.counts)
        top, lanes = pairs.best_lane(rates.f1), np.arange(len(pairs.lane_pair))
        first = np.full(len(pairs), len(lanes))
        is_top = rates.f1 == top[pairs.lane_pair]
        np.minimum.at(first, pairs.lane_pair[is_top], lanes[is_top])
        found: Values = np.append(getattr(rates, self.rate), 0.0)[first]
        return found

    def _mirage(self, answer: str, gold: Sequence[str]) -> float:
        return float(getattr(mirage_overlap(answer, gold), self.rate))

    def _squad(self, answer: str, gold: Sequence[str]) -> float:
        words = squad_words(answer)
        return max(float(getattr(overlap(words, squad_words(g)), self.rate)) for g in gold)


@dataclass(frozen=True)
class TokenPrecision(TokenRate):
    """Token precision against the gold answer of highest F1.

    Variants: "bergen" takes the best gold answer for precision alone, after SQuAD's normalisation;
    "mirage" compares with the united set of all gold answers' words.
    """

    variant: Literal["corrected", "bergen", "mirage"] = "corrected"

    name: ClassVar[str] = "Precision"
    description: ClassVar[str] = (
        "Token precision: the share of the answer's words that occur in a gold answer."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}
    rate = "precision"


@dataclass(frozen=True)
class TokenRecall(TokenRate):
    """Token recall against the gold answer of highest F1, with the variants of `TokenPrecision`."""

    variant: Literal["corrected", "bergen", "mirage"] = "corrected"

    name: ClassVar[str] = "Recall"
    description: ClassVar[str] = (
        "Token recall: the share of a gold answer's words that occur in the answer."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}
    rate = "recall"


@dataclass(frozen=True)
class TokenF1(TokenRate):
    """F1 of the answer's words against those of the gold answer that gives the highest F1.

    Variants: "squad" uses SQuAD's normalisation (BERGEN's F1 is the same). "mirage" compares the
    set of the answer's words with the united set of all gold answers' words, so that a gold answer
    itself scores below 1 if there are several.
    """

    variant: Literal["corrected", "squad", "mirage"] = "corrected"

    name: ClassVar[str] = "F1"
    description: ClassVar[str] = (
        "Token F1: the harmonic mean of token precision and token recall against the best- "
        "matching gold answer. Long answers lose precision."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "mirage", "bergen": "squad"}
    rate = "f1"
