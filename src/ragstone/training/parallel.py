"""Several processes that train one model, as `accelerate launch` or `torchrun` starts them.

Each process computes a part of every batch, and their gradients are summed, so the result is that
of one process up to rounding and dropout. Only the first process writes.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

T = TypeVar("T")
_VISIBLE: Final = "CUDA_VISIBLE_DEVICES"


def hide_other_gpus() -> None:
    """Let this process see its own GPU alone, before torch is imported and a base is loaded.

    Without this, every process would load the base on the first GPU.
    """
    place = os.environ.get("LOCAL_RANK")
    if place is None:
        return
    visible = [one for one in os.environ.get(_VISIBLE, "").split(",") if one]
    os.environ[_VISIBLE] = visible[int(place)] if len(visible) > int(place) else place


@dataclass(frozen=True)
class Processes:
    """The place of this process among those of a training."""

    rank: int = 0
    count: int = 1

    @classmethod
    def joined(cls, device: str) -> Processes:
        """Join the processes that a launcher started; without one, this process is the only one."""
        if int(os.environ.get("WORLD_SIZE", "1")) < 2:  # noqa: PLR2004 - one is alone
            return cls()
        from torch import distributed

        if not distributed.is_initialized():
            distributed.init_process_group("nccl" if device == "cuda" else "gloo")
        return cls(distributed.get_rank(), distributed.get_world_size())

    @property
    def first(self) -> bool:
        """Whether this process writes."""
        return self.rank == 0

    def own(self, examples: Sequence[T]) -> Sequence[T]:
        """Return this process's part of some examples.

        >>> Processes(1, 2).own("abcde")
        'bd'
        """
        return examples[self.rank :: self.count]

    def sum_gradients(self, parameters: Iterable[Any]) -> None:
        """Add the gradients of all processes."""
        if self.count == 1:
            return
        import torch
        from torch import distributed

        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            distributed.all_reduce(parameter.grad)

    def total(self, value: float, device: str) -> float:
        """Return the sum of a value over all processes."""
        if self.count == 1:
            return value
        import torch
        from torch import distributed

        summed = torch.tensor([value], dtype=torch.float64, device=device)
        distributed.all_reduce(summed)
        return float(summed)

    def least(self, value: int, device: str) -> int:
        """Return the smallest value of all processes."""
        if self.count == 1:
            return value
        import torch
        from torch import distributed

        smallest = torch.tensor([value], device=device)
        distributed.all_reduce(smallest, distributed.ReduceOp.MIN)
        return int(smallest)

    def wait(self) -> None:
        """Wait until every process is here."""
        if self.count > 1:
            from torch import distributed

            distributed.barrier()
