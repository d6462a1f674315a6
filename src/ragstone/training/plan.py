"""What a training takes before it starts: memory, time, disk, steps; and the batch that fits."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from ragstone.core import limits
from ragstone.core.resources import (
    available_cpus,
    free_disk,
    require_memory_and_disk,
    size,
)
from ragstone.core.tables import Shown, TextTable
from ragstone.errors import RagstoneError
from ragstone.models.parameters import parameter_count
from ragstone.training.checkpoints import trainable
from ragstone.training.examples import Example
from ragstone.training.fitting import Learner, Schedule
from ragstone.training.memory import StepMemory, free_memory, parameters, step_memory
from ragstone.training.recipe import Recipe

T = TypeVar("T")

_FREE_SHARE: Final = 0.9
"""Share of the free memory that a chosen batch may need."""


@dataclass(frozen=True)
class TrainingPlan(Shown):
    """What a training takes."""

    base: str
    method: str
    parameters: int
    trainable: int
    examples: int
    validation: int
    longest: int
    """Tokens of the longest example; 0 if the examples have no tokens."""
    tokens: int
    """Tokens of all steps, without padding."""
    batch: int
    accumulate: int
    steps: int
    memory: StepMemory
    memory_free: int | None
    """Free memory after the weights were loaded; None if unknown."""
    checkpoint: int
    """Size of a checkpoint in bytes."""
    output: int
    """Size of the trained weights in bytes."""
    disk: int
    """Largest size on disk during the training: checkpoints are replaced, not overwritten."""
    disk_free: int
    conditions: str
    seconds: float | None = None
    """Estimated time; None if no step was timed."""

    def document(self) -> dict[str, Any]:
        """Return what `train --plan --json` prints."""
        memory = {**asdict(self.memory), "total": self.memory.total, "free": self.memory_free}
        found = {**asdict(self), "memory": memory}
        del found["memory_free"]
        return found

    def parts(self) -> Iterable[str | TextTable]:
        """Return the plan as a table."""
        one = self.memory
        free = "unknown" if self.memory_free is None else size(self.memory_free)
        parts = f", computed in {self.accumulate} parts" if self.accumulate > 1 else ""
        rows: list[tuple[str, str]] = [
            ("trained parameters", f"{self.trainable:,} of {self.parameters:,} ({self.method})"),
            ("examples", f"{self.examples:,}, and {self.validation:,} for validation"),
            ("steps", f"{self.steps:,} of {self.batch} examples{parts}"),
            *self._token_rows(),
            ("memory", f"{size(one.total)}; {free} free beside the loaded weights"),
            ("  weights", size(one.weights)),
            ("  gradients and AdamW", size(one.gradients + one.moments)),
            ("  activations", size(one.activations)),
            ("  backward pass", size(one.backward)),
            (
                "disk",
                f"{size(self.disk)}, {size(self.output)} in the end; {size(self.disk_free)} free",
            ),
        ]
        if self.seconds is not None:
            rows.append(("time", f"about {_duration(self.seconds)} ({self.conditions})"))
        yield TextTable(["", self.base], rows)

    def _token_rows(self) -> Iterator[tuple[str, str]]:
        if self.tokens:
            yield "tokens", f"{self.tokens:,}; the longest example has {self.longest:,}"

    def require(self, folder: Path) -> None:
        """Raise `RagstoneError` if memory or disk is too small for the training."""
        need, free = self.memory.beyond_weights, self.memory_free
        part = math.ceil(self.batch / self.accumulate)
        work = f"training on {part} examples at once, beside the loaded weights,"
        if free is not None and need > free:
            raise RagstoneError(
                f"{work} needs about {size(need)} of memory, and {size(free)} are free; "
                f"{self._ways_out(need, free)}"
            )
        room = "make room or choose another folder (output)"
        require_memory_and_disk(0, self.disk, "the training", folder=folder, way_out=room)

    def _ways_out(self, need: int, free: int) -> str:
        fixed = self.memory.gradients + self.memory.moments
        each = (need - fixed) / math.ceil(self.batch / self.accumulate)
        fitting = int((free - fixed) / each)
        ways = ["optim.checkpointing: true", "optim.dtype: bfloat16", "fewer max_tokens"]
        if fitting >= 1:
            accumulate = math.ceil(self.batch / fitting)
            ways.insert(0, f"optim.accumulate: {accumulate} (the same result in less memory)")
            ways.insert(1, f"optim.batch: {fitting}")
        if self.method == "full":
            ways.append("method: lora")
        elif self.method == "lora":
            ways.append("method: qlora(4) on a GPU")
        return f"ways out: {', '.join(ways)}"


def plan_training(
    learner: Learner[T],
    recipe: Recipe,
    examples: Sequence[T],
    validation: Sequence[T],
    batch: int | None,
    *,
    timed: bool = False,
) -> TrainingPlan:
    """Return the plan of a training; its weights do not change.

    Args:
        learner: the model in training.
        recipe: the keys of the file.
        examples: the examples to learn.
        validation: the examples of the validation.
        batch: examples per step; None: the largest number that fits.
        timed: run one step forward and backward, and estimate the time.
    """
    accumulate, longest = recipe.optim.accumulate, sorted(examples, key=_length, reverse=True)
    free = free_memory(recipe.device)
    if batch is None:
        batch, memory = _largest(learner, recipe, longest, free)
    else:
        memory = _part_memory(learner, longest, math.ceil(batch / accumulate), free)
    schedule = Schedule.of(recipe.optim, len(examples), batch)
    numbers = trainable(learner.model).values()
    output = sum(p.numel() * p.element_size() for p in numbers)
    checkpoint = output + memory.moments
    best = 2 * output if recipe.optim.patience else 0
    cpus = available_cpus()
    mean = sum(map(_tokens, examples)) / len(examples)
    plan = TrainingPlan(
        base=recipe.base,
        method=recipe.method,
        parameters=parameters(learner.model),
        trainable=sum(p.numel() for p in numbers),
        examples=len(examples),
        validation=len(validation),
        longest=_tokens(longest[0]),
        tokens=round(mean * batch * schedule.steps),
        batch=batch,
        accumulate=accumulate,
        steps=schedule.steps,
        memory=memory,
        memory_free=free,
        checkpoint=checkpoint,
        output=output,
        disk=2 * checkpoint + best + output,
        disk_free=free_disk(Path(recipe.output).expanduser()),
        conditions=f"one step of {recipe.optim.dtype} timed on {cpus} CPU{'s' * (cpus > 1)}"
        if recipe.device == "cpu"
        else f"one step of {recipe.optim.dtype} timed on {recipe.device}",
    )
    return _with_time(plan, learner, recipe, examples, schedule) if timed else plan


def require_room_for_base(path: Path, name: str, dtype: str, device: str) -> None:
    """Raise `RagstoneError` if the weights of a base do not fit into memory; they are not read."""
    count = parameter_count(path)
    if count and device == "cpu":
        need = count * (4 if dtype == "float32" else 2)
        ways = "use optim.dtype: bfloat16, or a smaller base"
        require_memory_and_disk(need, 0, f"loading the base {name!r} as {dtype}", way_out=ways)


def _largest(
    learner: Learner[T], recipe: Recipe, longest: Sequence[T], free: int | None
) -> tuple[int, StepMemory]:
    """Return the largest batch that fits, at most the stated limits, and its memory."""
    optim = recipe.optim
    batch = min(limits.MAX_CHOSEN_BATCH, len(longest))
    if optim.steps is None:
        batch = min(batch, max(1, int(optim.epochs * len(longest) / limits.MIN_CHOSEN_STEPS)))
    while True:
        memory = _part_memory(learner, longest, math.ceil(batch / optim.accumulate), free)
        need = memory.beyond_weights
        if batch == 1 or free is None or need <= _FREE_SHARE * free:
            return batch, memory
        batch = max(1, min(batch - 1, int(batch * _FREE_SHARE * free / need)))


def _part_memory(
    learner: Learner[T], longest: Sequence[T], part: int, free: int | None
) -> StepMemory:
    """Return the memory of the longest examples together.

    It is computed from one example if they would not fit: even a measurement takes memory.
    """
    one = step_memory(learner, longest[:1])
    part = min(part, len(longest))
    beyond = one.activations + one.backward
    if free is not None and part * beyond > free:
        return StepMemory(
            one.weights, one.gradients, one.moments, part * one.activations, part * one.backward
        )
    return one if part == 1 else step_memory(learner, longest[:part])


def _with_time(
    plan: TrainingPlan,
    learner: Learner[T],
    recipe: Recipe,
    examples: Sequence[T],
    schedule: Schedule,
) -> TrainingPlan:
    """Return the plan with the time of all steps, from one that is really run."""
    import torch

    if plan.memory_free is not None and plan.memory.beyond_weights > plan.memory_free:
        return plan
    part = min(math.ceil(plan.batch / plan.accumulate), limits.MAX_TIMED_EXAMPLES)
    batch = schedule.batch_of(1, examples, recipe.seed)[:part]
    state = torch.get_rng_state()
    learner.model.train()
    started = time.perf_counter()
    loss = learner.loss(batch) / learner.targets(batch)
    forward = time.perf_counter() - started
    loss.backward()
    float(loss.detach())
    step = time.perf_counter() - started
    learner.model.zero_grad(set_to_none=True)
    torch.set_rng_state(state)
    measurements = 1 + math.ceil(schedule.steps / schedule.per_validation)
    seconds = step / part * plan.batch * schedule.steps
    seconds += forward / part * plan.validation * measurements
    return replace(plan, seconds=seconds)


def _tokens(example: object) -> int:
    """Return the tokens of an example; 0 if it is not made of tokens yet."""
    return len(example) if isinstance(example, Example) else 0


def _length(example: object) -> tuple[int, int]:
    """Return what examples are ordered by: tokens, or else the characters of their texts."""
    tokens = _tokens(example)
    return tokens, 0 if tokens else len(repr(example))


def _duration(seconds: float) -> str:
    """Return a time as people say it."""
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:,.1f} {unit}"
    return f"{seconds:.0f} seconds"
