"""The base of Precision, Recall and F1 of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.precision_recall import many_rates
from ragstone.components.metrics.published_normalisers import mirage_overlap

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values


class TokenRate(AnswerMetric):
    """The base of Precision, Recall and F1.

    All three are of the same gold answer, the first of those with the highest F1. Rajpurkar et al.,
    EMNLP 2016, with the words of `ragstone.text.normalise`. An empty answer gives 0.

    Args:
        variant: "corrected", or the form of a published scorer, as for the metric Precision.
    """

    rate: ClassVar[Literal["precision", "recall", "f1"]]
    variant: str

    def values(self, pairs: AnswerBatch) -> Values:
        """Return the rate per pair."""
        if self.variant == "corrected":
            return self._of_best(pairs)
        if self.variant == "mirage":
            return np.array(list(map(self._mirage, pairs.answers, pairs.gold)), float)
        words = pairs.squad
        sizes = words.answers.counts[pairs.gold_pair]
        return pairs.best_gold(
            getattr(many_rates(words.shared, sizes, words.gold.counts), self.rate)
        )

    def _of_best(self, pairs: AnswerBatch) -> Values:
        words = pairs.words
        sizes = words.answers.counts[pairs.gold_pair]
        rates = many_rates(words.shared, sizes, words.gold.counts)
        top, index = pairs.best_gold(rates.f1), np.arange(len(pairs.gold_pair))
        first = np.full(len(pairs), len(index))
        is_top = rates.f1 == top[pairs.gold_pair]
        np.minimum.at(first, pairs.gold_pair[is_top], index[is_top])
        found: Values = np.append(getattr(rates, self.rate), 0.0)[first]
        return found

    def _mirage(self, answer: str, gold: Sequence[str]) -> float:
        return float(getattr(mirage_overlap(answer, gold), self.rate))
