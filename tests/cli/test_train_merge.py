"""`ragstone train merge`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_gguf import random_adapter, tiny_gguf

from ragstone.cli.train import command

pytestmark = pytest.mark.filterwarnings("default")


@pytest.mark.needs("torch", "transformers", "peft", "gguf")
def test_a_folder_and_a_file_are_written(tmp_path: Path) -> None:
    """The JSON names the base, the adapter and the digest of the result."""
    base = tiny_chat_model(tmp_path / "base")
    adapter = str(random_adapter(base, tmp_path / "adapter"))
    tiny_gguf(base, tmp_path / "base.gguf")
    file = str(tmp_path / "merged.gguf")

    text = CliRunner().invoke(command, ["merge", adapter, str(tmp_path / "m")])
    options = ["--gguf", "--base", str(tmp_path / "base.gguf"), "--json"]
    done = CliRunner().invoke(command, ["merge", adapter, file, *options])

    assert text.exit_code == done.exit_code == 0
    assert text.stdout == f"{base} with the adapter {adapter} is now the model {tmp_path / 'm'}\n"
    found = json.loads(done.stdout)
    assert found["output"] == file
    assert {"base", "base_digest", "adapter_digest", "digest"} < set(found)
    assert (tmp_path / "m" / "tokenizer.json").is_file()


def test_a_folder_without_an_adapter_is_an_error(tmp_path: Path) -> None:
    """The message names the folder."""
    done = CliRunner().invoke(command, ["merge", str(tmp_path / "no"), str(tmp_path / "m")])

    assert done.exit_code == 1
    assert "there is no adapter at" in str(done.exception)
