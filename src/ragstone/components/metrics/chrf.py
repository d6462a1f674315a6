"""chrF: F-score of character n-grams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ragstone.components.metrics.sacrebleu_metric import SacrebleuMetric, scorers


@dataclass(frozen=True)
class Chrf(SacrebleuMetric):
    """chrF2 of an answer against the gold answer that gives the highest, as sacrebleu computes it.

    Popović, WMT 2015. It reads every script and forgives inflection.

    Formula: (1 + 4) P R / (4 P + R), of the mean precision and recall of character n-grams up
    to six.

    Source: Popović, WMT 2015.

    Trap: sacrebleu prints 100 times the value, and unrelated texts of one language get well above
    0.

    Args:
        words: longest word n-gram that counts too; 2 is chrF++.
    """

    words: int = 0

    name: ClassVar[str] = "chrF"
    description: ClassVar[str] = (
        "chrF: the F-score of character n-grams up to six, in which recall counts twice as much as "
        "precision."
    )

    def _scorer(self, *, whole: bool) -> Any:
        return scorers(self.name).CHRF(word_order=self.words, eps_smoothing=False)
