"""The record: it decides between a resumed, a finished and a refused training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ragstone.errors import ConfigError
from ragstone.training.record import FILE, TrainingRecord, begin, read_record, write_record

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
    """Recipe, data, versions and base."""
    begin(tmp_path, RECORD)
    other = replace(RECORD, base_digest="cd", recipe={"seed": 1, "batch": 4}, environment={})
    with pytest.raises(ConfigError, match="base_digest, seed, torch differ"):
        begin(tmp_path, other)


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
