"""ROUGE-L: the longest sequence of pieces that answer and gold answer have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.precision_recall import lcs_length, many_rates, rates
from ragstone.components.metrics.published_normalisers import ascii_pieces
from ragstone.components.metrics.published_rouge import pltrdy_rouge

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class RougeL(AnswerMetric):
    """F1 of the longest common subsequence, against the gold answer that gives the highest.

    Variants: "mtrag" is Google's `rouge_score` without stemmer against the first gold answer
    alone; "bergen" is the package `rouge`, at summary level.
    """

    variant: Literal["corrected", "mtrag", "bergen"] = "corrected"

    name: ClassVar[str] = "ROUGE-L"
    description: ClassVar[str] = (
        "F-measure of the longest common subsequence of words, gaps allowed."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return F1 per pair."""
        if self.variant != "corrected":
            return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)
        pieces = pairs.pieces
        said = pieces.answers.counts[pairs.lane_pair]
        return pairs.best_lane(many_rates(pieces.longest_common, said, pieces.gold.counts)[2])

    def _one(self, answer: str, gold: Sequence[str]) -> float:
        if self.variant == "bergen":
            return max(pltrdy_rouge(answer, label, 0) for label in gold)
        return lcs_f1(ascii_pieces(answer), ascii_pieces(gold[0]))


def lcs_f1(said: Sequence[str], wanted: Sequence[str]) -> float:
    """Return the F1 of the longest common subsequence of two token lists."""
    return rates(lcs_length(said, wanted), len(said), len(wanted)).f1


def rouge_l(answer: str, gold_answers: Sequence[str]) -> float:
    """Return the highest F1 of the longest common subsequence with a gold answer.

    Lin, ACL 2004 workshop, over whole texts. An empty answer gives 0.

    >>> rouge_l("Paris is in France", ["France is in Europe", "in France"])
    0.6666666666666666
    """
    return float(RougeL().values(AnswerBatch.of(answer, gold_answers))[0])
