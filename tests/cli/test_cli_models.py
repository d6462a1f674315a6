"""`ragstone models` on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from ragstone.cli.models import command
from ragstone.errors import ModelFileError
from ragstone.models.bundled import MODELS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of models."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path))
    return tmp_path


def test_the_list_shows_which_models_are_fetched(cache: Path) -> None:
    """Every bundled model is listed with purpose, size, licence and state."""
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 0
    assert all(name in result.output for name in MODELS)
    assert str(cache) in result.output
    listed = json.loads(CliRunner().invoke(command, ["--json"]).output)
    assert [entry["name"] for entry in listed] == list(MODELS)
    assert not any(entry["fetched"] for entry in listed)


@pytest.mark.usefixtures("cache")
def test_a_check_without_fetched_models_succeeds() -> None:
    """A model that is not fetched is not wrong."""
    result = CliRunner().invoke(command, ["check", "--json"])
    assert result.exit_code == 0
    assert {entry["state"] for entry in json.loads(result.output)} == {"not fetched"}


@pytest.mark.usefixtures("cache")
def test_a_wrong_file_fails_the_check() -> None:
    """A wrong file is an error with both hashes and the command that fetches the file."""
    model = MODELS["all-minilm-l6-v2"]
    model.folder.mkdir(parents=True)
    path = model.path(model.file("config"))
    path.write_bytes(b"{}")
    with pytest.raises(ModelFileError, match="ragstone models fetch all-minilm-l6-v2") as caught:
        CliRunner().invoke(command, ["check"], catch_exceptions=False)
    assert str(path) in str(caught.value)
    assert model.file("config").sha256 in str(caught.value)


@pytest.mark.parametrize("arguments", [[], ["fetch"], ["check"]])
def test_help_has_an_example(arguments: list[str]) -> None:
    """The help of each command has an example."""
    assert "Example" in CliRunner().invoke(command, [*arguments, "--help"]).output
