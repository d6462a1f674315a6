"""The training loop: AdamW over any learner, with validation, checkpoints and early stopping.

After a kill, the loop goes on from the last checkpoint. On the same machine with the same number
of threads it ends with the same bytes as without the kill (CPU).
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from ragstone.core.progress import progress
from ragstone.errors import RagstoneError
from ragstone.training.checkpoints import (
    FOLDER,
    Progress,
    load_checkpoint,
    save_checkpoint,
    trainable,
)
from ragstone.training.parallel import Processes
from ragstone.training.recipe import Optim

E_contra = TypeVar("E_contra", contravariant=True)
T = TypeVar("T")


class TrainingStopped(RagstoneError):
    """A training cannot go on; its last good checkpoint is kept."""


class Learner(Protocol[E_contra]):
    """A model in training and its loss."""

    @property
    def model(self) -> Any:
        """A torch module; the loop changes the parameters with a gradient."""
        ...

    def loss(self, examples: Sequence[E_contra]) -> Any:
        """Return the sum of the losses of all targets, a tensor of shape ()."""
        ...

    def targets(self, examples: Sequence[E_contra]) -> int:
        """Return the number of targets: tokens or labels."""
        ...


@dataclass(frozen=True)
class Schedule:
    """The steps of a training."""

    steps: int
    batch: int
    per_validation: int
    per_checkpoint: int

    @classmethod
    def of(cls, optim: Optim, examples: int, batch: int) -> Schedule:
        """Return the schedule for a number of examples and a batch size."""
        steps = optim.steps or max(1, math.ceil(optim.epochs * examples / batch))
        validation = max(1, math.ceil(steps / optim.validations))
        return cls(steps, batch, validation, optim.checkpoint_every or validation)

    def lr(self, step: int, optim: Optim) -> float:
        """Return the learning rate of a step, counted from 1."""
        warm = math.ceil(optim.warmup * self.steps)
        if step <= warm:
            return optim.lr * step / warm
        return optim.lr * max(0.0, (self.steps - step + 1) / (self.steps - warm))

    def batch_of(self, step: int, examples: Sequence[T], seed: int) -> list[T]:
        """Return the examples of a step: each pass over the data has its own random order."""
        total, first = len(examples), (step - 1) * self.batch
        places = (divmod(place, total) for place in range(first, first + self.batch))
        return [examples[_order(total, seed, turn)[place]] for turn, place in places]


@lru_cache(maxsize=2)
def _order(total: int, seed: int, turn: int) -> list[int]:
    order = list(range(total))
    random.Random(f"{seed} {turn}").shuffle(order)  # noqa: S311 - not a secret
    return order


@dataclass
class Fitting(Generic[T]):
    """A training.

    Args:
        learner: the model and its loss.
        examples: the examples to learn.
        validation: the examples whose loss is measured; empty: none is.
        optim: the optimisation; its batch is that of `schedule`.
        schedule: the steps.
        seed: seed of the order of the examples.
        folder: the folder of the checkpoints.
        processes: this process among those that train together.
    """

    learner: Learner[T]
    examples: Sequence[T]
    validation: Sequence[T]
    optim: Optim
    schedule: Schedule
    seed: int
    folder: Path
    processes: Processes = field(default_factory=Processes)

    def run(self) -> Progress:
        """Train, from the last checkpoint if there is one, and return all losses.

        Raises:
            TrainingStopped: a loss is not a finite number.
        """
        import torch

        optimizer = self._optimizer()
        at = load_checkpoint(self.folder / FOLDER, self.learner.model, optimizer)
        if not at.step:
            torch.manual_seed(self.seed + self.processes.rank)
            self._validate(at)
        started = time.monotonic() - at.seconds
        with progress("training steps", self.schedule.steps) as bar:
            bar.advance(at.step)
            while at.step < self.schedule.steps and not self._is_over(at):
                self._step(at, optimizer)
                last = at.step == self.schedule.steps
                if last or at.step % self.schedule.per_validation == 0:
                    self._validate(at)
                at.seconds = time.monotonic() - started
                if last or at.step % self.schedule.per_checkpoint == 0:
                    self._save(FOLDER, optimizer, at)
                bar.advance()
        if self.optim.patience and at.best != at.step:
            load_checkpoint(self.folder / "best", self.learner.model, optimizer)
        return at

    def _save(self, name: str, optimizer: Any, at: Progress) -> None:
        if self.processes.first:
            save_checkpoint(self.folder / name, self.learner.model, optimizer, at)
        self.processes.wait()

    def _optimizer(self) -> Any:
        import torch

        parameters = trainable(self.learner.model).values()
        # Biases and norms are not pulled towards 0.
        matrices = [p for p in parameters if p.dim() >= 2]  # noqa: PLR2004 - rows and columns
        others = [p for p in parameters if p.dim() < 2]  # noqa: PLR2004
        groups: list[dict[str, Any]] = [
            {"params": matrices},
            {"params": others, "weight_decay": 0.0},
        ]
        return torch.optim.AdamW(
            [group for group in groups if group["params"]],
            lr=self.optim.lr,
            weight_decay=self.optim.weight_decay,
        )

    def _step(self, at: Progress, optimizer: Any) -> None:
        import torch

        step = at.step + 1
        batch = self.schedule.batch_of(step, self.examples, self.seed)
        self.learner.model.train()
        optimizer.zero_grad(set_to_none=True)
        targets, total = self.learner.targets(batch), 0.0
        for part in self._parts(batch):
            loss = self.learner.loss(part) / targets
            loss.backward()
            total += float(loss.detach())
        parameters = list(trainable(self.learner.model).values())
        self.processes.sum_gradients(parameters)
        total = self.processes.total(total, self.device)
        norm = float(torch.nn.utils.clip_grad_norm_(parameters, self.optim.clip))
        self._check(math.isfinite(total) and math.isfinite(norm), at)
        for group in optimizer.param_groups:
            group["lr"] = self.schedule.lr(step, self.optim)
        optimizer.step()
        at.loss.append(total)
        at.step = step

    def _validate(self, at: Progress) -> None:
        """Measure the validation loss: the same examples each time, without dropout."""
        import torch

        if not self.validation:
            return
        self.learner.model.eval()
        with torch.no_grad():
            parts = self._parts(self.validation)
            own = math.fsum(float(self.learner.loss(part)) for part in parts)
        loss = self.processes.total(own, self.device) / self.learner.targets(self.validation)
        self._check(math.isfinite(loss), at)
        best = min((one["loss"] for one in at.validation), default=math.inf)
        at.validation.append({"step": at.step, "loss": loss})
        if loss < best:
            at.best = at.step
            if self.optim.patience:
                self._save("best", self._optimizer(), at)

    def _parts(self, examples: Sequence[T]) -> list[Sequence[T]]:
        """Return this process's examples in parts that are computed at once."""
        size = math.ceil(self.schedule.batch / self.processes.count / self.optim.accumulate)
        own = self.processes.own(examples)
        return [own[first : first + size] for first in range(0, len(own), size)]

    @property
    def device(self) -> str:
        """The kind of device of the weights."""
        return str(next(iter(trainable(self.learner.model).values())).device.type)

    def _is_over(self, at: Progress) -> bool:
        since = [one for one in at.validation if one["step"] > at.best]
        return self.optim.patience is not None and len(since) >= self.optim.patience

    def _check(self, finite: bool, at: Progress) -> None:
        if not finite:
            kept = self.folder / FOLDER
            which = f"; the last good checkpoint is kept in {kept}" if kept.exists() else ""
            raise TrainingStopped(
                f"the loss is not a finite number after step {at.step}{which}. Lower optim.lr "
                f"({self.optim.lr:g}) or use dtype float32, and train into another output folder"
            )
