"""The upper bound: a system that always answers as the data set does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from ragstone.calls.client import Calls
from ragstone.types import Prediction, Task


@dataclass(frozen=True)
class Gold:
    """Answers with the first gold answer, and refuses where there is none.

    Args:
        refusal: the answer to a query without gold answers.
    """

    refusal: str = "I cannot answer."
    version: ClassVar[int] = 1

    def generate(self, tasks: Sequence[Task], calls: Calls) -> Iterator[Prediction]:
        """Yield one prediction per task, in order."""
        for task in tasks:
            answers = task.query.gold_answers
            yield Prediction(task.query.query_id, answers[0] if answers else self.refusal)
