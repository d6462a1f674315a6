"""What the tests of generators share."""

from __future__ import annotations

from collections.abc import Sequence

from ragstone.calls.client import Calls
from ragstone.protocols import Generator, Services
from ragstone.types import Prediction, Task


def answers_of(
    generator: Generator, tasks: Sequence[Task], calls: Calls | None = None
) -> list[Prediction]:
    """Return a generator's predictions; each outcome must agree with its prediction."""
    outcomes = list(generator.generate(tasks, Services(calls=calls)))
    for outcome in outcomes:
        assert outcome.reason == outcome.value.reason
        assert outcome.retry == (outcome.value.answer is None)
    return [outcome.value for outcome in outcomes]
