"""ROUGE-L: the longest common subsequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.metrics.rouge import Rouge


@dataclass(frozen=True)
class RougeL(Rouge):
    """ROUGE-L: the longest common subsequence of pieces.

    Formula: 2 P R / (P + R), of the length of the longest common subsequence.

    Source: Lin, ROUGE, ACL workshop 2004.

    Trap: ROUGE-Lsum, which works by sentences, has other values.
    """

    name: ClassVar[str] = "ROUGE-L"
    description: ClassVar[str] = (
        "F-measure of the longest common subsequence of words, gaps allowed."
    )
    n = 0
