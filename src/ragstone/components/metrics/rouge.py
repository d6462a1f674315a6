"""The base of ROUGE-1, ROUGE-2 and ROUGE-L."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ragstone.components.metrics.base import AnswerMetric
from ragstone.components.metrics.precision_recall import many_rates
from ragstone.components.metrics.published_rouge import pltrdy_rouge

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.components.metrics.token_overlap import TokenOverlap


@dataclass(frozen=True)
class Rouge(AnswerMetric):
    """F1 against the gold answer that gives the highest; 0 for an empty answer.

    Lin, ACL 2004 workshop, over whole texts. Pieces are runs of letters and digits of any script.

    Args:
        variant: "mtrag" is Google's `rouge_score` without stemmer against the first gold answer
            alone (its pieces are ASCII letters and digits, so 北京 has none); "bergen" is the
            package `rouge`, whose ROUGE-L is at summary level.
    """

    variant: Literal["corrected", "mtrag", "bergen"] = "corrected"

    n: ClassVar[int]
    """Length of the n-grams; 0 for the longest common subsequence."""
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}

    def values(self, pairs: AnswerBatch) -> Values:
        """Return F1 per pair."""
        if self.variant == "bergen":
            return np.array(
                list(map(pltrdy_rouge, pairs.answers, pairs.gold, repeat(self.n))), float
            )
        if self.variant == "mtrag":
            return self._f1(pairs.ascii_pieces)
        return pairs.best_gold(self._f1(pairs.pieces))

    def _f1(self, pieces: TokenOverlap) -> Values:
        """Return F1 per gold index."""
        shared = getattr(pieces, ("longest_common", "shared", "shared_bigrams")[self.n])
        sizes, less = pieces.answers.counts[pieces.gold_pair], max(0, self.n - 1)
        return many_rates(shared, sizes - less, pieces.gold.counts - less).f1


def grams(tokens: list[str], n: int) -> list[str]:
    """Return the n-grams of tokens without spaces.

    >>> grams(["new", "york", "city"], 2)
    ['new york', 'york city']
    """
    return [" ".join(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
