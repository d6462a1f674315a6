"""consistency: how often two answers of one system to one query agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.statistics.repeated import agreeing_pairs
from ragstone.text.normalise import words


@dataclass(frozen=True)
class Consistency(RepeatMetric):
    """The share of pairs of answers to a query that agree.

    Formula: pairs of answers that agree / all pairs.

    Source: Elazar et al., TACL 2021.

    Trap: a system that is always wrong in the same way gets 1.

    Args:
        of: `answers` compares the answers after normalisation (case, punctuation, articles), as
            Elazar et al. (TACL 2021) compare answers to paraphrases; `correctness` compares
            whether they are correct, which suits long answers, that are hardly ever equal.
    """

    of: Literal["answers", "correctness"] = "answers"

    name: ClassVar[str] = "consistency"
    description: ClassVar[str] = (
        "The share of pairs of repeats of a query that agree: in their normalised answers, or with "
        "of=correctness in whether they are correct."
    )

    @property
    def needs_rule(self) -> bool:
        """Whether correctness is compared."""
        return self.of == "correctness"

    def value(self, answers: Sequence[str | None], correct: Sequence[bool]) -> float:
        """Return the share; a failed answer that counts agrees with no other."""
        if self.of == "correctness":
            return agreeing_pairs(correct)
        # Each failed answer is a value of its own.
        return agreeing_pairs([i if a is None else tuple(words(a)) for i, a in enumerate(answers)])
