"""ROUGE-1 and ROUGE-2: the n-grams that answer and gold answer share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.precision_recall import many_rates, overlap
from ragstone.components.metrics.published_normalisers import ascii_pieces
from ragstone.components.metrics.published_rouge import pltrdy_rouge

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Values


@dataclass(frozen=True)
class RougeN(AnswerMetric):
    """F1 of the n-grams of pieces, against the gold answer that gives the highest.

    Variants: "mtrag" is Google's `rouge_score` without stemmer against the first gold answer
    alone (pieces are ASCII letters and digits, so 北京 has none); "bergen" is the package `rouge`.
    """

    variant: Literal["corrected", "mtrag", "bergen"] = "corrected"

    n: ClassVar[int]
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return F1 per pair."""
        if self.variant != "corrected":
            return np.array(list(map(self._one, pairs.answers, pairs.gold)), float)
        pieces, less = pairs.pieces, self.n - 1
        shared = pieces.shared if self.n == 1 else pieces.shared_bigrams
        said = pieces.answers.counts[pairs.lane_pair] - less
        return pairs.best_lane(many_rates(shared, said, pieces.gold.counts - less)[2])

    def _one(self, answer: str, gold: Sequence[str]) -> float:
        if self.variant == "bergen":
            return max(pltrdy_rouge(answer, label, self.n) for label in gold)
        said, wanted = ascii_pieces(answer), ascii_pieces(gold[0])
        return overlap(grams(said, self.n), grams(wanted, self.n)).f1


def grams(tokens: list[str], n: int) -> list[str]:
    """Return the n-grams of tokens that hold no space.

    >>> grams(["new", "york", "city"], 2)
    ['new york', 'york city']
    """
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]


@dataclass(frozen=True)
class Rouge1(RougeN):
    """ROUGE-1: single pieces."""

    name: ClassVar[str] = "ROUGE-1"
    description: ClassVar[str] = "F-measure of the single words that answer and gold answer share."
    n: ClassVar[int] = 1


@dataclass(frozen=True)
class Rouge2(RougeN):
    """ROUGE-2: pairs of neighbouring pieces; 0 where either text has a single piece."""

    name: ClassVar[str] = "ROUGE-2"
    description: ClassVar[str] = "F-measure of the word pairs that answer and gold answer share."
    n: ClassVar[int] = 2


def rouge_n(answer: str, gold_answers: Sequence[str], n: Literal[1, 2]) -> float:
    """Return the highest F1 of the answer's n-grams against a gold answer's.

    Lin, ACL 2004 workshop. An empty answer gives 0.

    >>> rouge_n("in New York", ["New York", "NYC"], 1), rouge_n("in New York", ["New York"], 2)
    (0.8, 0.6666666666666666)
    """
    kind = Rouge1 if n == 1 else Rouge2
    return float(kind().values(AnswerBatch.of(answer, gold_answers))[0])
