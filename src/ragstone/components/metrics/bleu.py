"""BLEU: precision of word n-grams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from ragstone.components.metrics.sacrebleu_metric import SacrebleuMetric, scorers


@dataclass(frozen=True)
class Bleu(SacrebleuMetric):
    """BLEU of an answer against all its gold answers, as sacrebleu computes it.

    Papineni et al., ACL 2002; Post, WMT 2018. Per answer, n-grams that the answer is too short for
    are left out. The score of all answers together is not the mean: it is reported beside it.

    Formula: brevity penalty times the geometric mean of the n-gram precisions, n from 1 to 4.

    Source: Papineni et al., ACL 2002; Post, WMT 2018.

    Trap: sacrebleu prints 100 times the value. Short answers have few 4-grams, and the mean of
    answers is not the BLEU of the set.

    Args:
        tokenize: sacrebleu's tokeniser: "13a" for European languages, "zh", "char" for scripts
            without spaces, "intl" or "none".
    """

    tokenize: Literal["13a", "zh", "char", "intl", "none"] = "13a"

    name: ClassVar[str] = "BLEU"
    description: ClassVar[str] = (
        "BLEU: the precision of word n-grams up to four against the gold answers, lowered if the "
        "answer is shorter than they are."
    )

    def _scorer(self, *, whole: bool) -> Any:
        return scorers(self.name).BLEU(tokenize=self.tokenize, effective_order=not whole)
