"""`ragstone train generator`: from a file to an adapter."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from tests.fakes.tiny_chat_model import tiny_chat_model

from ragstone.cli.train import command
from ragstone.errors import ModelFileError, RagstoneError

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


def test_all_queries_may_be_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a validation part no loss of it is measured."""
    path = written(tmp_path, validation=0, test=0, setting="gold", optim={"steps": 1, "batch": 1})
    found = json.loads(ran(tmp_path, monkeypatch, str(path), "--json"))
    assert found["validation"] == []
    assert found["data"]["validation"] == found["data"]["test"] == 0


def test_data_without_answers_are_refused_with_the_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names what was left out, of which part."""
    (tmp_path / "data").mkdir()
    rows = [{"query_id": f"q{n}", "text": f"question {n} about {n * n}"} for n in range(10)]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "data" / "queries.jsonl").write_text(text, encoding="utf-8")
    path = written(tmp_path, data=str(tmp_path / "data"), setting="none")
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(command, ["generator", str(path)])
    assert "without a gold answer were left out (train)" in str(found.exception)
    assert not (tmp_path / "out").exists()


def test_damaged_weights_of_the_base_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error names the base."""
    path = written(tmp_path)
    weights = tmp_path / "base" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    monkeypatch.chdir(tmp_path)
    found = CliRunner().invoke(command, ["generator", str(path)])
    assert isinstance(found.exception, ModelFileError)
    assert "cannot load the model" in str(found.exception)


def test_several_processes_tell_guesses_about_data_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The first process does."""
    monkeypatch.chdir(tmp_path)
    for rank, told in (("0", 1), ("1", 0)):
        (tmp_path / f"{rank}.csv").write_text("id,question,answer\na,Where?,Lima\nb,Who?,Ada\n")
        document = {"base": "./none", "data": f"{rank}.csv", "setting": "none", "output": "out"}
        (tmp_path / "t.yaml").write_text(yaml.safe_dump(document))
        monkeypatch.setenv("RANK", rank)
        result = CliRunner().invoke(command, ["generator", "t.yaml", "--plan"])
        assert isinstance(result.exception, RagstoneError)
        notes = [one for one in caplog.messages if f"{rank}.csv: the columns were guessed" in one]
        assert len(notes) == told
