"""Plans: the batch that fits, refusals before anything is written, and the table."""

from __future__ import annotations

import json
import struct
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_learner import Row, rows, tiny_learner

from ragstone.core import limits
from ragstone.errors import RagstoneError
from ragstone.training import plan as plan_module
from ragstone.training.plan import TrainingPlan, plan_training, require_room_for_base
from ragstone.training.recipe import Optim, Recipe

pytestmark = pytest.mark.needs("torch", "safetensors", "transformers")


def recipe(folder: Path, **optim: Any) -> Recipe:
    """Return the keys of a file."""
    keys: dict[str, Any] = {"base": "tiny", "data": "rows", "output": str(folder / "out")}
    return Recipe(**keys, method="full", optim=Optim(**optim))


def planned(folder: Path, count: int = 200, *, timed: bool = False, **optim: Any) -> TrainingPlan:
    """Return the plan of a training on some rows."""
    keys = recipe(folder, **optim)
    return plan_training(
        tiny_learner(), keys, rows(count), rows(6, 1), keys.optim.batch, timed=timed
    )


def test_a_plan_counts_steps_weights_and_disk(tmp_path: Path) -> None:
    """Checkpoints have weights and two moments, and two of them exist while one is replaced."""
    found = planned(tmp_path, epochs=2, batch=8)
    count = 8 * 16 + 16 + 16 * 2 + 2
    assert (found.trainable, found.parameters, found.steps) == (count, count, 50)
    assert (found.output, found.checkpoint) == (4 * count, 12 * count)
    assert found.disk == 2 * found.checkpoint + found.output
    assert planned(tmp_path, batch=8, patience=2).disk == found.disk + 2 * found.output
    assert found.seconds is None


def test_the_chosen_batch_has_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """At most 16, enough steps for a small set, and no more than the examples."""
    assert planned(tmp_path, 2000).batch == limits.MAX_CHOSEN_BATCH
    assert planned(tmp_path, 200).batch == 200 // limits.MIN_CHOSEN_STEPS
    assert planned(tmp_path, 10).batch == 1
    assert planned(tmp_path, 10, steps=5).batch == 10
    monkeypatch.setattr(limits, "MAX_CHOSEN_BATCH", 3)
    assert planned(tmp_path, 2000).batch == 3


def test_the_chosen_batch_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With less memory it is smaller, and with accumulation larger again."""
    whole = planned(tmp_path, 2000)
    fixed = whole.memory.gradients + whole.memory.moments
    each = (whole.memory.beyond_weights - fixed) / whole.batch
    monkeypatch.setattr(plan_module, "free_memory", lambda _: int(fixed + 8 * each))
    small = planned(tmp_path, 2000)
    assert 1 < small.batch <= 8
    assert small.memory.beyond_weights <= fixed + 8 * each
    assert planned(tmp_path, 2000, accumulate=4).batch == whole.batch
    monkeypatch.setattr(plan_module, "free_memory", lambda _: 10)
    assert planned(tmp_path, 2000).batch == 1


def test_a_base_that_does_not_fit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The size comes from the header of its file."""
    header = json.dumps({"w": {"dtype": "F32", "shape": [1000, 1000], "data_offsets": [0, 0]}})
    file = tmp_path / "model.safetensors"
    file.write_bytes(struct.pack("<Q", len(header)) + header.encode())
    require_room_for_base(tmp_path, "big", "float32", "cpu")
    monkeypatch.setattr("ragstone.core.resources.free_ram", lambda: 1_000_000)
    with pytest.raises(RagstoneError, match=r"loading the base 'big' as float32 .*4\.0 MB"):
        require_room_for_base(tmp_path, "big", "float32", "cpu")
    require_room_for_base(tmp_path, "big", "float32", "cuda")
    assert asdict(planned(tmp_path, 60))["base"] == "tiny"


def test_few_examples_are_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of a large batch is run; its time is multiplied."""
    learner, sizes = tiny_learner(), []
    whole = learner.loss

    def counted(examples: list[Row]) -> object:
        sizes.append(len(examples))
        return whole(examples)

    monkeypatch.setattr(learner, "loss", counted)
    keys = recipe(tmp_path, batch=8)
    found = plan_training(learner, keys, rows(20), rows(6, 1), 8, timed=True)
    assert found.seconds is not None
    assert sizes[-1] == limits.MAX_TIMED_EXAMPLES < 8
