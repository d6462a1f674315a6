"""Recall: the share of the gold answer's words that the answer has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.components.metrics.token_rate import TokenRate


@dataclass(frozen=True)
class TokenRecall(TokenRate):
    """Token recall against the gold answer of highest F1, with the variants of `TokenPrecision`.

    Formula: shared words / words of the gold answer.

    Source: Rajpurkar et al., SQuAD, EMNLP 2016.

    Trap: a long answer that contains every word gets 1.
    """

    variant: Literal["corrected", "bergen", "mirage"] = "corrected"

    name: ClassVar[str] = "Recall"
    description: ClassVar[str] = (
        "Token recall: the share of a gold answer's words that occur in the answer."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "bergen"}
    rate = "recall"
