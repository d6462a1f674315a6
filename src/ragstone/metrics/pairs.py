"""Answers and what they are held against: the columns that every answer metric reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragstone.types import Context


@dataclass(frozen=True)
class Pairs:
    """Equally long columns, one place per answer; what was computed once is shared by metrics."""

    answers: Sequence[str]
    gold: Sequence[tuple[str, ...]]
    """Gold answers that are not blank; metrics that need them are asked of pairs that have them."""
    query_texts: Sequence[str]
    contexts: Sequence[Context | None]
    languages: Sequence[str]
    """Language codes where the data set states them, else empty."""

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.answers)

    @classmethod
    def of(
        cls, answer: str, gold: Sequence[str] = (), query: str = "", language: str = ""
    ) -> Pairs:
        """Return a single pair."""
        return cls([answer], [without_blank(gold)], [query], [None], [language])

    def take(self, chosen: Sequence[int]) -> Pairs:
        """Return the pairs at some positions."""
        return Pairs(
            answers=[self.answers[i] for i in chosen],
            gold=[self.gold[i] for i in chosen],
            query_texts=[self.query_texts[i] for i in chosen],
            contexts=[self.contexts[i] for i in chosen],
            languages=[self.languages[i] for i in chosen],
        )


def without_blank(gold: Sequence[str]) -> tuple[str, ...]:
    """Return the gold answers that hold anything but white space."""
    return tuple(answer for answer in gold if answer and not answer.isspace())
