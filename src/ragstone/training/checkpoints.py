"""Checkpoints of a training: weights, optimiser, random numbers and losses, without pickle.

A checkpoint is one file that one rename replaces: a kill at any moment leaves one to resume from.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.core.atomic_files import atomic_files
from ragstone.errors import RagstoneError

FOLDER: Final = "checkpoint"
_TENSORS: Final = "state.safetensors"
_PROGRESS: Final = "progress"
_MOMENTS: Final = ("step", "exp_avg", "exp_avg_sq")


@dataclass
class Progress:
    """How far a training is."""

    step: int = 0
    loss: list[float] = field(default_factory=list)
    """Mean loss per step."""
    validation: list[dict[str, float]] = field(default_factory=list)
    """`step` and `loss` of each validation."""
    best: int = 0
    """The step with the lowest validation loss."""
    seconds: float = field(default=0.0, compare=False)
    """Time of the training up to this step, over all its starts."""


def trainable(model: Any) -> dict[str, Any]:
    """Return name -> parameter that the training changes."""
    return {name: p for name, p in model.named_parameters() if p.requires_grad}


@contextmanager
def files_of(folder: Path) -> Iterator[Path]:
    """Yield an empty folder whose files are moved into `folder` if the block succeeds.

    Raises:
        RagstoneError: the files cannot be written, for example because the disk is full.
    """
    from safetensors import SafetensorError

    try:
        with atomic_files(folder) as new:
            yield new
    except (OSError, SafetensorError) as error:
        raise RagstoneError(
            f"cannot write into {folder}: {error}. Make room, and run the same command again: the "
            "training goes on from its last checkpoint"
        ) from error


def save_checkpoint(folder: Path, model: Any, optimizer: Any, progress: Progress) -> None:
    """Write the checkpoint of a step."""
    import torch
    from safetensors.torch import save_file

    tensors = {"random": torch.get_rng_state()}
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    for name, parameter in trainable(model).items():
        tensors[f"weight.{name}"] = parameter.detach()
        for moment, value in optimizer.state.get(parameter, {}).items():
            tensors[f"{moment}.{name}"] = value
    placed = {name: tensor.contiguous().cpu() for name, tensor in tensors.items()}
    with files_of(folder) as new:
        save_file(placed, new / _TENSORS, metadata={_PROGRESS: json.dumps(asdict(progress))})


def load_checkpoint(folder: Path, model: Any, optimizer: Any) -> Progress:
    """Put model, optimiser and random numbers back to the last checkpoint; return its progress.

    Without a checkpoint nothing changes.
    """
    import torch
    from safetensors import safe_open

    path = folder / _TENSORS
    if not path.is_file():
        return Progress()
    with safe_open(path, "pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - no mapping
        facts = json.loads(file.metadata()[_PROGRESS])
    with torch.no_grad():
        for name, parameter in trainable(model).items():
            parameter.copy_(tensors[f"weight.{name}"])
            moments = {m: tensors.get(f"{m}.{name}") for m in _MOMENTS}
            if moments["step"] is not None:
                step = moments.pop("step")
                placed = {m: v.to(parameter.device) for m, v in moments.items() if v is not None}
                optimizer.state[parameter] = {"step": step, **placed}
    torch.set_rng_state(tensors["random"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return Progress(**facts)
