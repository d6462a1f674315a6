"""The loop: schedule, accumulation, early stopping, kills, and losses that are not numbers."""

from __future__ import annotations

import math
import os
import random
import signal
from pathlib import Path

import pytest
from tests.fakes.tiny_learner import Row, fitting, rows, tiny_learner, weights

from ragstone.training.checkpoints import FOLDER, Progress, load_checkpoint
from ragstone.training.fitting import Fitting, Schedule, TrainingStopped
from ragstone.training.recipe import Optim

pytestmark = pytest.mark.needs("torch", "safetensors", "transformers")


def test_the_rate_rises_then_falls_to_nearly_zero() -> None:
    """Warm-up over a share of the steps, then a line to 0 after the last step."""
    optim = Optim(steps=10, lr=1.0, warmup=0.2)
    schedule = Schedule.of(optim, 100, 4)
    rates = [schedule.lr(step, optim) for step in range(1, 11)]
    assert rates == pytest.approx([0.5, 1.0, 1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125])
    without = Optim(steps=2, lr=1.0, warmup=0.0)
    assert Schedule.of(without, 100, 4).lr(1, without) == 1.0


def test_epochs_become_steps() -> None:
    """A part of a batch is a step; `steps` replaces epochs."""
    assert Schedule.of(Optim(epochs=2), 10, 4).steps == 5
    assert Schedule.of(Optim(epochs=0.01), 10, 4).steps == 1
    assert Schedule.of(Optim(steps=7), 10, 4).steps == 7
    assert Schedule.of(Optim(steps=100, validations=4), 10, 4).per_checkpoint == 25


def test_each_pass_has_every_example_once_in_its_own_order() -> None:
    """The order depends on the seed and on nothing else."""
    schedule = Schedule(5, 4, 1, 1)
    drawn = [one for step in range(1, 6) for one in schedule.batch_of(step, range(10), 3)]
    assert sorted(drawn[:10]) == sorted(drawn[10:]) == list(range(10))
    assert drawn[:10] != drawn[10:]
    assert schedule.batch_of(2, range(10), 3) == drawn[4:8]
    assert schedule.batch_of(2, range(10), 4) != drawn[4:8]


def test_accumulation_gives_the_same_weights(tmp_path: Path) -> None:
    """Three unequal parts of a batch have the gradient of the whole batch."""
    import torch

    found = []
    for parts in (1, 3):
        learner = tiny_learner(dropout=0.0)
        optim = Optim(steps=4, accumulate=parts)
        at = fitting(tmp_path / str(parts), optim, learner, batch=5).run()
        found.append((at.loss, torch.cat([p.flatten() for p in learner.model.parameters()])))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    assert torch.allclose(found[0][1], found[1][1], atol=1e-5)


def test_the_loss_falls_and_is_measured_before_and_after(tmp_path: Path) -> None:
    """Validations are at equal distances, the first before any step."""
    at = fitting(tmp_path, Optim(steps=40, lr=0.05, validations=4)).run()
    assert [one["step"] for one in at.validation] == [0, 10, 20, 30, 40]
    assert len(at.loss) == 40
    assert sum(at.loss[-10:]) < sum(at.loss[:10])


def test_early_stopping_keeps_the_best_weights(tmp_path: Path) -> None:
    """The validation has the opposite labels, so its loss soon rises."""
    optim = Optim(steps=60, lr=0.05, validations=30, patience=2)
    opposite = [(row, 1 - label) for row, label in rows(6, 1)]
    schedule = Schedule.of(optim, 20, 4)
    run = Fitting(tiny_learner(), rows(20), opposite, optim, schedule, 0, tmp_path)
    at = run.run()
    assert at.step < 60
    assert at.step - at.best == 2 * schedule.per_validation
    best = min(one["loss"] for one in at.validation)
    run.learner.model.eval()
    kept = float(run.learner.loss(opposite).detach()) / len(opposite)
    assert kept == pytest.approx(best)


def test_a_loss_that_is_no_number_stops_and_keeps_the_last_checkpoint(tmp_path: Path) -> None:
    """The way out is named; the checkpoint has finite weights."""
    import torch

    optim = Optim(steps=10, validations=5)
    with pytest.raises(TrainingStopped, match=r"after step 4; the last good checkpoint .*optim.lr"):
        fitting(tmp_path, optim, tiny_learner(broken_after=10)).run()
    learner = tiny_learner()
    at = load_checkpoint(tmp_path / FOLDER, learner.model, fitting(tmp_path, optim)._optimizer())
    assert at.step == 4
    assert all(bool(torch.isfinite(p).all()) for p in learner.model.parameters())
    with pytest.raises(TrainingStopped, match=r"after step 0\. Lower"):
        fitting(tmp_path / "first", optim, tiny_learner(broken_after=0)).run()


class _Told(Fitting[Row]):
    """A training that tells each step through a pipe."""

    pipe: int

    def _step(self, at: Progress, optimizer: object) -> None:
        super()._step(at, optimizer)
        os.write(self.pipe, b".")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("patience", [None, 3])
def test_five_kills_change_no_byte(tmp_path: Path, patience: int | None) -> None:
    """A process is killed at random steps five times; the last one ends as without a kill."""
    optim = Optim(steps=30, lr=0.02, checkpoint_every=3, validations=10, patience=patience)
    whole = tiny_learner()
    expected = fitting(tmp_path / "whole", optim, whole).run()

    drawn, resumed = random.Random(5), []  # noqa: S311 - not a secret
    for _ in range(5):
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            plain = fitting(tmp_path / "killed", optim)
            told = _Told(**vars(plain))
            told.pipe = writing
            try:
                told.run()
            finally:
                os._exit(0)
        os.close(writing)
        for _ in range(drawn.randint(1, 8)):
            os.read(reading, 1)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reading)
        other = tiny_learner()
        kept = tmp_path / "killed" / FOLDER
        at = load_checkpoint(kept, other.model, fitting(tmp_path, optim)._optimizer())
        resumed.append(at.step)
    learner = tiny_learner(seed=9)
    last = fitting(tmp_path / "killed", optim, learner if resumed[-1] else None)
    assert last.run() == expected
    assert weights(last.learner) == weights(whole)
    assert resumed == sorted(resumed)
    assert resumed[-1] > 0


def test_without_validation_data_the_training_runs(tmp_path: Path) -> None:
    """No validation is measured, and the last weights are kept."""
    optim = Optim(steps=3)
    made = Fitting(tiny_learner(), rows(8), [], optim, Schedule.of(optim, 8, 4), 0, tmp_path)
    at = made.run()
    assert at.validation == []
    assert all(math.isfinite(loss) for loss in at.loss)


@pytest.mark.parametrize("warmup", [0.0, 0.3])
def test_the_loop_equals_plain_torch(tmp_path: Path, warmup: float) -> None:
    """Losses and weights, with transformers' schedule; its first step of a warm-up has rate 0."""
    import torch
    from transformers import get_linear_schedule_with_warmup

    keys = {"weight_decay": 0.1, "clip": 0.1, "lr": 0.05, "accumulate": 2}
    optim = Optim(steps=10, warmup=warmup, **keys)  # type: ignore[arg-type]
    ours, theirs = (tiny_learner(dropout=0.0) for _ in range(2))
    made = fitting(tmp_path, optim, ours)
    found = made.run()

    layers = list(theirs.model.parameters())
    groups = [
        {"params": [p for p in layers if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in layers if p.dim() == 1], "weight_decay": 0.0},
    ]
    adam = torch.optim.AdamW(groups, lr=0.05)
    warm = round(warmup * 10)
    schedule = get_linear_schedule_with_warmup(adam, warm, 10)
    losses = []
    for step in range(1, 11):
        batch = made.schedule.batch_of(step, rows(20), 0)
        loss = theirs.loss(batch) / len(batch)
        loss.backward()
        losses.append(float(loss.detach()))
        torch.nn.utils.clip_grad_norm_(layers, 0.1)
        if step <= warm:
            for group in adam.param_groups:
                group["lr"] = 0.05 * step / warm
        adam.step()
        schedule.step()
        adam.zero_grad()
    assert found.loss == pytest.approx(losses, rel=1e-5)
    for one, other in zip(ours.model.parameters(), layers, strict=True):
        assert torch.allclose(one, other, atol=1e-6)
