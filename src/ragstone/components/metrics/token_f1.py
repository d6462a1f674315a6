"""F1: the words that answer and gold answer share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.components.metrics.token_rate import TokenRate


@dataclass(frozen=True)
class TokenF1(TokenRate):
    """F1 of the answer's words against those of the gold answer that gives the highest F1.

    Formula: 2 P R / (P + R), of the shared words.

    Source: Rajpurkar et al., SQuAD, EMNLP 2016.

    Trap: word order and negation do not count, and long answers get less.

    Args:
        variant: "squad" uses SQuAD's normalisation (BERGEN's F1 is the same). "mirage" compares the
            set of the answer's words with the united set of all gold answers' words, so that a gold
            answer itself scores below 1 if there are several.
    """

    variant: Literal["corrected", "squad", "mirage"] = "corrected"

    name: ClassVar[str] = "F1"
    description: ClassVar[str] = (
        "Token F1: the harmonic mean of token precision and token recall against the best- "
        "matching gold answer. Long answers lose precision."
    )
    synonyms: ClassVar[dict[str, str]] = {"paper": "mirage", "bergen": "squad"}
    rate = "f1"
