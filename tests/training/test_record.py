"""The record: it decides between a resumed, a finished and a refused training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.training.record import (
    FILE,
    TrainingRecord,
    begin,
    environment,
    notes_of,
    read_record,
    write_record,
)

RECORD = TrainingRecord(
    "generator", "base", "ab", "lora", {"seed": 0, "batch": 4}, {"name": "x"}, {"torch": "2"}
)


def test_the_kept_record_comes_back(tmp_path: Path) -> None:
    """With its losses, so that a finished training is not run again."""
    done = replace(RECORD, loss=(1.0,), validation=({"step": 0, "loss": 2.0},), digest="d")
    assert begin(tmp_path / "out", RECORD) == RECORD
    write_record(tmp_path / "out", done)
    assert begin(tmp_path / "out", RECORD) == read_record(tmp_path / "out") == done


def test_what_differs_is_named(tmp_path: Path) -> None:
    """Recipe, data and base."""
    begin(tmp_path, RECORD)
    other = replace(RECORD, base_digest="cd", recipe={"seed": 1, "batch": 4}, environment={})
    with pytest.raises(ConfigError, match="base_digest, seed differ"):
        begin(tmp_path, other)


def test_other_versions_stop_a_resumption_and_nothing_else(tmp_path: Path) -> None:
    """A finished training is returned, with a note on its versions."""
    begin(tmp_path, RECORD)
    other = replace(RECORD, environment={"torch": "3"})
    with pytest.raises(ConfigError, match=r"began with torch 2 \(now 3\).*or remove the folder"):
        begin(tmp_path, other)
    done = replace(RECORD, digest="d", notes=("one",))
    write_record(tmp_path, done)
    assert begin(tmp_path, other) == done
    first, second = notes_of(done)
    assert first == "one"
    assert second.startswith("trained with ")
    assert "torch 2 (now " in second
    assert notes_of(replace(done, environment=environment())) == ["one"]


def test_the_kept_weights_are_the_best_with_early_stopping() -> None:
    """Without it they are the last ones."""
    validation = ({"step": 0, "loss": 3.0}, {"step": 2, "loss": 1.0}, {"step": 4, "loss": 2.0})
    done = replace(RECORD, validation=validation)
    assert done.kept["step"] == 4
    assert replace(done, recipe={"optim": {"patience": 1}}).kept["step"] == 2


def test_a_nested_key_is_named_alone(tmp_path: Path) -> None:
    """`optim.lr` says more than `optim`."""
    begin(tmp_path, replace(RECORD, recipe={"optim": {"lr": 1, "batch": 2}}))
    with pytest.raises(ConfigError, match=r"another training: optim.lr differs\. Choose"):
        begin(tmp_path, replace(RECORD, recipe={"optim": {"lr": 2, "batch": 2}}))


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    """Broken JSON, and JSON without the fields."""
    for text in ("{", "[]", '{"kind": "generator"}'):
        (tmp_path / FILE).write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match="is not a record of a training"):
            read_record(tmp_path)
    assert read_record(tmp_path / "nowhere") is None
