"""A model's own code does not run, unless the generator hf names the commit that it is from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragstone.components.generators.transformers import Hf
from ragstone.core.offline import no_network
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.locate import SENTENCE_TRANSFORMERS, TRANSFORMERS_LM, find_model
from ragstone.models.own_code import check_code

COMMIT = "0123456789abcdef0123456789abcdef01234567"
CODE = """
import os, pathlib
pathlib.Path(os.environ["CODE_RAN"]).touch()
from transformers import LlamaConfig
class OwnConfig(LlamaConfig):
    model_type = "own-model"
"""
CONFIG = {"model_type": "own-model", "auto_map": {"AutoConfig": "own.OwnConfig"}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A commit in a hub's cache: a model whose configuration is code."""
    pytest.importorskip("huggingface_hub", reason="NOT RUN: huggingface_hub is not installed")
    monkeypatch.setenv("CODE_RAN", str(tmp_path / "ran"))
    # The package reads the variable when it is imported.
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setattr(
        "huggingface_hub._snapshot_download.constants.HF_HUB_CACHE", str(tmp_path / "hub")
    )
    made = tmp_path / "hub" / "models--owner--own" / "snapshots" / COMMIT
    made.mkdir(parents=True)
    (made / "config.json").write_text(json.dumps(CONFIG))
    (made / "model.safetensors").write_bytes(b"weights")
    (made / "own.py").write_text(CODE)
    return made


@pytest.fixture(autouse=True)
def _offline() -> Iterator[None]:
    with no_network():
        yield


@pytest.mark.needs("transformers")
def test_code_is_not_allowed_by_default(folder: Path, tmp_path: Path) -> None:
    """The message names the way out; nothing of the code has run."""
    for kind in (TRANSFORMERS_LM, SENTENCE_TRANSFORMERS):
        with pytest.raises(ModelFileError, match=r"needs code of its own .*`endpoint`") as caught:
            find_model(str(folder), kind=kind)
        assert len(str(caught.value)) < 1000
    assert not (tmp_path / "ran").exists()


@pytest.mark.needs("transformers")
def test_a_type_that_the_library_knows_needs_no_code(folder: Path) -> None:
    """Some folders offer code for other libraries."""
    (folder / "config.json").write_text(json.dumps(CONFIG | {"model_type": "llama"}))
    assert find_model(str(folder)) == folder
    modules = [{"type": "sentence_transformers.models.Transformer"}, {"type": "own.Pooling"}]
    (folder / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(ModelFileError, match=r"'own\.Own|'own\.Pooling"):
        find_model(str(folder), kind=SENTENCE_TRANSFORMERS)


@pytest.mark.needs("transformers", "torch")
def test_a_commit_allows_the_code_that_is_in_the_key(folder: Path, tmp_path: Path) -> None:
    """The code runs when the model is loaded; other code is another model."""
    allowed = Hf("owner/own", model_code=COMMIT)
    before = allowed.weights()
    assert f"hf:{before}" in allowed.endpoint.identity
    assert not (tmp_path / "ran").exists()
    (folder / "own.py").write_text(CODE + "# other\n")
    assert Hf("owner/own", model_code=COMMIT).weights() != before
    with pytest.raises(ModelFileError, match="transformers cannot load"):
        allowed._load()  # the weights are not weights, but the configuration has been read
    assert (tmp_path / "ran").exists()
    sys.modules.pop("transformers_modules", None)


def test_code_of_another_repository_is_not_pinned(folder: Path) -> None:
    """`owner/name--file.Class` is loaded from that repository's newest commit."""
    auto_map = {"AutoModel": "other/evil--own.Model", "AutoTokenizer": [None, "own.Tokenizer"]}
    (folder / "config.json").write_text(json.dumps(CONFIG | {"auto_map": auto_map}))
    with pytest.raises(ModelFileError, match=r"another repository.*other/evil--own"):
        check_code(folder, allowed=True)


@pytest.mark.parametrize("commit", ["main", COMMIT[:-1], COMMIT.upper(), COMMIT + "\n", "g" * 40])
def test_a_branch_is_not_a_commit(commit: str) -> None:
    """It may get other code at any time."""
    with pytest.raises(ConfigError, match="a whole commit of the hub"):
        Hf("owner/own", model_code=commit)


def test_other_places_have_no_commit(folder: Path) -> None:
    """A folder, a bundled model, and a second revision."""
    for model in (str(folder), "smollm2-135m-instruct"):
        with pytest.raises(ConfigError, match=r"has no commit.*`endpoint`"):
            Hf(model, model_code=COMMIT)
    with pytest.raises(ConfigError, match="different commits"):
        Hf("owner/own", hub_revision="main", model_code=COMMIT)


@pytest.mark.parametrize("text", ["[3]", '{"auto_map": 3}', '[{"type": 3}]', "{", "[" * 99_999])
def test_a_malformed_file_is_left_to_the_loading(tmp_path: Path, text: str) -> None:
    """It names no code; the library tells what is wrong with it."""
    for name in ("config.json", "modules.json"):
        (tmp_path / name).write_text(text)
    check_code(tmp_path, allowed=False)
