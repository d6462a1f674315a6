"""ROUGE-1 and ROUGE-2: shared n-grams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.metrics.rouge import Rouge


@dataclass(frozen=True)
class Rouge1(Rouge):
    """ROUGE-1: single pieces.

    Formula: 2 P R / (P + R), of the pieces that both texts have.

    Source: Lin, ROUGE, ACL workshop 2004.

    Trap: implementations differ by stemming and by the split of words.
    """

    name: ClassVar[str] = "ROUGE-1"
    description: ClassVar[str] = "F-measure of the single words that answer and gold answer share."
    n = 1


@dataclass(frozen=True)
class Rouge2(Rouge):
    """ROUGE-2: pairs of neighbouring pieces; 0 if either text has a single piece.

    Formula: 2 P R / (P + R), of the pairs of neighbouring pieces that both texts have.

    Source: Lin, ROUGE, ACL workshop 2004.

    Trap: a gold answer of one piece gives 0.
    """

    name: ClassVar[str] = "ROUGE-2"
    description: ClassVar[str] = "F-measure of the word pairs that answer and gold answer share."
    n = 2
