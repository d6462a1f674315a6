"""pass@k: the chance that at least one of k answers to a query is correct."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragstone.components.metrics.repeated import RepeatMetric
from ragstone.errors import ConfigError
from ragstone.statistics.repeated import pass_at_k


@dataclass(frozen=True)
class PassAt(RepeatMetric):
    """The chance that at least one of k answers is correct, by the rule for correct answers.

    Estimated without bias from the n answers of a query, of which c are correct: 1 - C(n - c, k) /
    C(n, k) (Chen et al., Evaluating Large Language Models Trained on Code, 2021). n is at least k.

    Formula: 1 - C(n - c, k) / C(n, k), of n answers of which c are correct.

    Source: Chen et al., 2021.

    Trap: it rises with k, so compare systems at the same k.

    Args:
        k: number of answers.
    """

    k: int | None = None

    name: ClassVar[str] = "pass"
    cutoff: ClassVar[str] = "required"
    description: ClassVar[str] = (
        "The chance that at least one of k answers to a query is correct, estimated from all "
        "repeats of the query."
    )

    def __post_init__(self) -> None:
        """Raise `ConfigError` if k is missing or below 1."""
        if self.k is None or self.k < 1:
            raise ConfigError("pass needs the number of answers, 1 or more, such as pass@3")

    @property
    def least(self) -> int:
        """Return k."""
        return self.k or 1

    def value(self, answers: Sequence[str | None], correct: Sequence[bool]) -> float:
        """Return the estimate."""
        return pass_at_k(len(correct), sum(correct), self.least)
