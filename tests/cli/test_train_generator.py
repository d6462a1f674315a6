"""`ragstone train generator`: from a file to an adapter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests.fakes.tiny_chat_model import tiny_chat_model

from ragstone.cli.train import command

pytestmark = pytest.mark.needs("torch", "transformers", "peft")


def written(folder: Path, **keys: object) -> Path:
    """Write a training file for a tiny model and return its path."""
    if not (folder / "base").exists():
        tiny_chat_model(folder / "base")
    document = {
        "base": str(folder / "base"),
        "data": "sample",
        "setting": ["gold", "retrieved(2)"],
        "adapter": {"r": 2, "alpha": 4},
        "optim": {"steps": 2, "batch": 2},
        "output": str(folder / "out"),
        **keys,
    }
    path = folder / "t.yaml"
    path.write_text(yaml.safe_dump(document), encoding="utf-8")
    return path


def ran(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """Run the command in a folder and return what it printed."""
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(command, ["generator", *arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_file_trains_and_the_second_run_says_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--json` has the losses, the validation before and after, the output and the digest."""
    path = written(tmp_path)

    first = json.loads(ran(tmp_path, monkeypatch, str(path), "--json"))

    assert len(first["loss"]) == 2
    assert [one["step"] for one in first["validation"]] == [0, 1, 2]
    assert first["output"] == str(tmp_path / "out")
    assert len(first["digest"]) == 64
    assert json.loads(ran(tmp_path, monkeypatch, str(path), "--json")) == first
    assert "validation loss" in ran(tmp_path, monkeypatch, str(path))
    parts = [
        (tmp_path / "out" / "splits" / f"{part}.txt").read_text(encoding="utf-8").split()
        for part in ("train", "validation", "test")
    ]
    assert all(parts)
    assert len({one for part in parts for one in part}) == sum(map(len, parts))
