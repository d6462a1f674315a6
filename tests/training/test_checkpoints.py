"""Checkpoints: everything comes back, and a file of another training is refused by its names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.tiny_learner import fitting, tiny_learner, weights

from ragstone.training.checkpoints import (
    Progress,
    load_checkpoint,
    save_checkpoint,
    trainable,
)
from ragstone.training.recipe import Optim

pytestmark = pytest.mark.needs("torch", "safetensors", "transformers")
OPTIM = Optim(steps=4)


def test_weights_moments_random_numbers_and_progress_come_back(tmp_path: Path) -> None:
    """The next random numbers and the next step are those after the save."""
    import torch

    learner = tiny_learner()
    run = fitting(tmp_path, OPTIM, learner)
    optimizer, at = run._optimizer(), Progress()
    run._step(at, optimizer)
    save_checkpoint(tmp_path / "kept", learner.model, optimizer, at)
    expected = torch.rand(3)
    run._step(at, optimizer)

    other = tiny_learner(seed=4)
    again = fitting(tmp_path, OPTIM, other)
    second = again._optimizer()
    back = load_checkpoint(tmp_path / "kept", other.model, second)
    assert back.step == 1
    assert torch.equal(torch.rand(3), expected)
    again._step(back, second)
    assert (back.loss, weights(other)) == (at.loss, weights(learner))


def test_without_a_checkpoint_nothing_changes(tmp_path: Path) -> None:
    """A training begins at step 0."""
    learner = tiny_learner()
    before = weights(learner)
    at = load_checkpoint(tmp_path / "none", learner.model, fitting(tmp_path, OPTIM)._optimizer())
    assert (at, weights(learner)) == (Progress(), before)


def test_only_trained_weights_are_kept(tmp_path: Path) -> None:
    """Frozen weights are those of the base; the file contains tensors alone."""
    from safetensors.torch import load_file

    learner = tiny_learner()
    learner.model[0].requires_grad_(False)
    assert list(trainable(learner.model)) == ["2.weight", "2.bias"]
    save_checkpoint(
        tmp_path / "kept", learner.model, fitting(tmp_path, OPTIM)._optimizer(), Progress()
    )
    found = load_file(tmp_path / "kept" / "state.safetensors")
    assert {"weight.2.weight", "weight.2.bias", "random"} <= set(found)
    assert "weight.0.weight" not in found
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept"]
