"""Precision: the share of the answer's words that the gold answer has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.components.metrics.token_rate import TokenRate


@dataclass(frozen=True)
class TokenPrecision(TokenRate):
    """Token precision against the gold answer of highest F1.

    Formula: shared words / words of the answer.

    Source: Rajpurkar et al., SQuAD, EMNLP 2016.

    Trap: a single right word gets 1.

    Args:
        variant: "bergen" takes the best gold answer for precision alone, after SQuAD's
            normalisation; "mirage" compares with the united set of all gold answers' words.
    """

    variant: Literal["corrected", "bergen", "mirage"] = "corrected"

    name: ClassVar[str] = "Precision"
    description: ClassVar[str] = (
        "Token precision: the share of the answer's words that occur in a gold answer."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}
    rate = "precision"
