"""A training of any kind: refused before it writes, resumed with its batch, planned for free."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_learner import Row, rows, tiny_learner, weights

from ragstone.core import limits
from ragstone.errors import ConfigError, RagstoneError
from ragstone.training import plan as plan_module
from ragstone.training.card import CARD
from ragstone.training.examples import Example, tokens_digest
from ragstone.training.recipe import Optim, Recipe
from ragstone.training.record import begin, read_record
from ragstone.training.training import Training, trained

pytestmark = pytest.mark.needs("torch", "safetensors", "transformers")


def training(folder: Path, **optim: Any) -> Training[Row]:
    """Return a training of the tiny learner."""
    output = str(folder / "out")
    keys = Recipe(base="tiny", data="rows", output=output, method="full", optim=Optim(**optim))

    def save(learner: object, to: Path) -> None:
        (to / "model.safetensors").write_bytes(weights(learner))  # type: ignore[arg-type]

    data = {"name": "rows"}
    given = rows(20), rows(6, 1), keys.optim.batch, tiny_learner, save
    return Training("judge", keys, "ab", data, *given)


def test_too_little_memory_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names need, free and the ways out."""
    need = training(tmp_path, steps=4, batch=8).plan().memory
    free = need.gradients + need.moments + (need.activations + need.backward) // 2
    monkeypatch.setattr(plan_module, "free_memory", lambda _: free)
    with pytest.raises(RagstoneError, match=r"needs about .* free; ways out: optim.accumulate: "):
        training(tmp_path, steps=4, batch=8).run()
    assert not (tmp_path / "out").exists()
    record = training(tmp_path, steps=4, batch=8, accumulate=4).run()
    assert record.digest


def test_too_small_a_disk_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the folder exists."""
    monkeypatch.setattr("ragstone.core.resources.free_disk", lambda _: 10)
    with pytest.raises(RagstoneError, match=r"on the disk of .*choose another folder \(output\)"):
        training(tmp_path, steps=4, batch=8).run()
    assert not (tmp_path / "out").exists()


def test_a_resumed_training_takes_the_kept_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Free memory at the second start does not change the result."""
    record = training(tmp_path, steps=4).run()
    assert record.recipe["batch"] == 16
    assert read_record(tmp_path / "out") == record
    assert (tmp_path / "out" / CARD).is_file()
    monkeypatch.setattr(limits, "MAX_CHOSEN_BATCH", 2)
    assert training(tmp_path, steps=4).run() == record


def test_a_plan_is_shown_and_changes_nothing(tmp_path: Path) -> None:
    """One step is timed; the training after a plan is that without one."""
    plain = training(tmp_path / "plain", steps=3, batch=4).run()
    both = training(tmp_path / "both", steps=3, batch=4)
    found = both.plan(timed=True)
    assert found.seconds is not None
    shown = str(found)
    for part in ("trained parameters", "3 of 4 examples", "activations", "disk", "about", "timed"):
        assert part in shown
    document = json.loads(json.dumps(found.document()))
    assert document["memory"]["total"] == found.memory.total
    assert document["batch"] == 4
    assert not (tmp_path / "both").exists()
    assert both.run().digest == plain.digest


def test_an_unfinished_training_is_not_used(tmp_path: Path) -> None:
    """A finished one is; the error names the command."""
    with pytest.raises(ConfigError, match=r"has no training; run: ragstone train"):
        trained(tmp_path)
    record = training(tmp_path, steps=2, batch=4).run()
    assert trained(tmp_path / "out") == record


def test_a_full_disk_is_named_and_the_training_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last weights are written by the second run, with the time of both and the card."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    one = training(tmp_path, steps=4, batch=4)
    with monkeypatch.context() as patch:
        patch.setattr(one, "save", full)
        with pytest.raises(RagstoneError, match=r"No space left.*goes on from its last checkpoint"):
            one.run()
    assert read_record(tmp_path / "out") != one.run()
    record = training(tmp_path, steps=4, batch=4).run()
    assert record.seconds > 0
    assert (tmp_path / "out" / CARD).is_file()
    assert not list((tmp_path / "out").glob(".tmp-*"))


def test_all_files_can_be_read_by_those_who_read_the_folder(tmp_path: Path) -> None:
    """Libraries write weights that only their owner can read."""
    one = training(tmp_path, steps=1, batch=4)
    save = one.save

    def private(learner: object, to: Path) -> None:
        save(learner, to)  # type: ignore[arg-type]
        (to / "model.safetensors").chmod(0o600)

    one.save = private
    one.run()
    modes = {path.stat().st_mode for path in (tmp_path / "out").iterdir() if path.is_file()}
    assert len(modes) == 1


def test_other_contexts_are_another_training(tmp_path: Path) -> None:
    """A prompt file that changed between a kill and the second run is seen."""
    prompts = [Example((1, 2), (3,)), Example((1, 4), (3,))]
    digests = {tokens_digest(prompts), tokens_digest(prompts[:1]), tokens_digest(prompts[::-1])}
    assert len(digests) == 3
    assert tokens_digest(rows(3)) == ""
    before = training(tmp_path, steps=1, batch=1)
    before.examples = prompts  # type: ignore[assignment]
    after = training(tmp_path, steps=1, batch=1)
    after.examples = prompts[::-1]  # type: ignore[assignment]
    begin(tmp_path / "out", before._record(1))
    with pytest.raises(ConfigError, match=r"tokens\.train differs"):
        begin(tmp_path / "out", after._record(1))
