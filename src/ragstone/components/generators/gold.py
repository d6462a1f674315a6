"""The upper bound: a system that always returns the gold answer of the data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragstone.core.component import Outcome
from ragstone.protocols import Generator, Services
from ragstone.types import Prediction, Task


@dataclass(frozen=True)
class GoldAnswer(Generator):
    """Answers with the first gold answer, and with a refusal if there is none.

    Args:
        refusal: answer to a query without gold answers.
    """

    refusal: str = "I cannot answer."
    uses = frozenset({"gold_answers"})

    def generate(self, tasks: Sequence[Task], services: Services) -> Iterator[Outcome[Prediction]]:
        """Yield one prediction per task, in order."""
        for task in tasks:
            answer = next(iter(task.query.gold_answers), self.refusal)
            yield Outcome(Prediction(task.query.query_id, answer))
