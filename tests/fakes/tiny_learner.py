"""A learner of a few hundred weights: whether a row of numbers has a positive sum."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ragstone.training.fitting import Fitting, Learner, Schedule
from ragstone.training.recipe import Optim

Row: TypeAlias = tuple[tuple[float, ...], int]
WIDTH = 8


@dataclass
class TinyLearner:
    """Two layers with dropout, so that random numbers matter."""

    model: Any
    broken_after: int = 10**9
    """Losses after which each loss is NaN."""
    asked: int = 0

    def targets(self, examples: Sequence[Row]) -> int:
        """Return the number of rows."""
        return len(examples)

    def loss(self, examples: Sequence[Row]) -> Any:
        """Return the sum of the cross-entropies."""
        import torch

        self.asked += 1
        scores = self.model(torch.tensor([row for row, _ in examples]))
        wanted = torch.tensor([label for _, label in examples])
        loss = torch.nn.functional.cross_entropy(scores, wanted, reduction="sum")
        return loss * float("nan") if self.asked > self.broken_after else loss


def tiny_learner(*, seed: int = 0, dropout: float = 0.2, **more: int) -> TinyLearner:
    """Return a learner with random weights."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(seed)
    layers = torch.nn.Linear(WIDTH, 16), torch.nn.Dropout(dropout), torch.nn.Linear(16, 2)
    return TinyLearner(torch.nn.Sequential(*layers), **more)


def rows(count: int, seed: int = 0) -> list[Row]:
    """Return random rows with their labels."""
    drawn = random.Random(seed)  # noqa: S311 - not a secret
    found = [tuple(drawn.uniform(-1, 1) for _ in range(WIDTH)) for _ in range(count)]
    return [(row, int(sum(row) > 0)) for row in found]


def fitting(
    folder: Path, optim: Optim, learner: TinyLearner | None = None, batch: int = 4
) -> Fitting[Row]:
    """Return a training of the tiny learner."""
    schedule = Schedule.of(optim, 20, batch)
    made = tiny_learner() if learner is None else learner
    return Fitting(made, rows(20), rows(6, 1), optim, schedule, 0, folder)


def weights(learner: Learner[Row]) -> bytes:
    """Return all weights as bytes."""
    import torch

    parts = [p.detach().flatten() for p in learner.model.parameters()]
    return bytes(torch.cat(parts).numpy().tobytes())
