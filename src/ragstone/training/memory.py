"""The memory of one training step, measured without spending it.

A forward pass keeps tensors for the backward pass. Here their sizes are summed and they are dropped
at once, so a batch can be measured that would not fit.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from ragstone.core.resources import free_ram
from ragstone.training.checkpoints import trainable
from ragstone.training.fitting import Learner

T = TypeVar("T")

_MOMENTS: Final = 2
"""Numbers that AdamW keeps per trained one."""
_HEAP: Final = 1.5
"""Memory on a CPU per byte of activations: the heap keeps freed blocks of other sizes. Measured
1.45 to 1.5 (docs/train.md)."""
_WINDOW: Final = 64
"""Kept tensors that stay in memory, so that one that is kept twice is counted once."""


@dataclass(frozen=True)
class StepMemory:
    """Memory of a training step in bytes, by its purpose."""

    weights: int
    """Base and adapter."""
    gradients: int
    moments: int
    """What AdamW keeps of earlier gradients."""
    activations: int
    """Results of the forward pass that the backward pass reads, scores included."""
    backward: int
    """Temporary gradients of activations, and the layer that is computed again."""

    @property
    def beyond_weights(self) -> int:
        """The memory that is needed in addition to the loaded weights."""
        return self.gradients + self.moments + self.activations + self.backward

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.beyond_weights


def free_memory(device: str) -> int | None:
    """Return the free bytes of the memory that a device trains in; None if it is unknown."""
    if device != "cuda":
        return free_ram()
    import torch

    free, _ = torch.cuda.mem_get_info()
    return int(free + torch.cuda.memory_reserved() - torch.cuda.memory_allocated())


def step_memory(learner: Learner[T], examples: Sequence[T]) -> StepMemory:
    """Return the memory of a step whose examples are computed together.

    Weights, gradients and random numbers of the training do not change.
    """
    model = learner.model
    numbers = sum(p.numel() * p.element_size() for p in trainable(model).values())
    kept, largest = _kept(learner, examples)
    # The gradient of the scores, and that of what they were computed from, exist together.
    backward = 2 * largest
    with _without_checkpointing(model) as layers:
        if layers:
            whole, largest = _kept(learner, examples)
            backward = 2 * largest + max(0, whole - kept) // layers
    heap = _HEAP if next(model.parameters()).device.type == "cpu" else 1.0
    activations, backward = math.ceil(heap * kept), math.ceil(heap * backward)
    return StepMemory(_weights(model), numbers, _MOMENTS * numbers, activations, backward)


def parameters(model: Any) -> int:
    """Return the number of a model's parameters; two of four bits share a byte."""
    return sum(
        p.numel() * (2 if type(p).__name__ == "Params4bit" else 1) for p in model.parameters()
    )


def _weights(model: Any) -> int:
    tensors = {t.data_ptr(): t for t in (*model.parameters(), *model.buffers())}
    return sum(t.numel() * t.element_size() for t in tensors.values())


def _kept(learner: Learner[T], examples: Sequence[T]) -> tuple[int, int]:
    """Return the bytes of the tensors that the backward pass would read, and of the largest."""
    import torch

    known = {p.untyped_storage().data_ptr() for p in learner.model.parameters()}
    recent: deque[Any] = deque(maxlen=_WINDOW)
    sizes = [0]

    def measure(tensor: Any) -> None:
        storage = tensor.untyped_storage()
        if storage.data_ptr() in known or any(s.data_ptr() == storage.data_ptr() for s in recent):
            return
        recent.append(storage)
        sizes.append(storage.nbytes())

    def unread(_: None) -> Any:
        raise RuntimeError("there is no backward pass after a measurement")

    learner.model.train()
    with torch.random.fork_rng(), torch.autograd.graph.saved_tensors_hooks(measure, unread):
        learner.loss(examples)
    return sum(sizes), max(sizes)


@contextmanager
def _without_checkpointing(model: Any) -> Iterator[int]:
    """Switch checkpointing off, and yield the number of layers that it is on in."""
    parts = [one for one in model.modules() if getattr(one, "gradient_checkpointing", False)]
    # The model that has the layers is marked as they are.
    inner = {id(below) for one in parts for below in one.modules() if below is not one}
    layers = [one for one in parts if id(one) in inner] or parts
    for one in parts:
        one.gradient_checkpointing = False
    try:
        yield len(layers)
    finally:
        for one in parts:
            one.gradient_checkpointing = True
