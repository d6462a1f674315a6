"""Models for transformers and vLLM: their files, and the digest that identifies them."""

from __future__ import annotations

import importlib.util
import re
import sys
from pathlib import Path

import pytest

import ragstone
from ragstone.core.offline import no_network
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models.locate import (
    FROM_FILES,
    SENTENCE_TRANSFORMERS,
    VLLM,
    find_model,
    weights_digest,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of the files that transformers saves."""
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "chat_template.jinja").write_text("{{ messages }}")
    (tmp_path / "README.md").write_text("A model.")
    return tmp_path


def test_a_folder_is_known_by_all_that_decides_its_output(folder: Path) -> None:
    """Weights and chat template are in the digest, the model card is not."""
    before = weights_digest(str(folder))

    (folder / "README.md").write_text("Another text.")
    same = weights_digest(str(folder))
    (folder / "chat_template.jinja").write_text("{{ other }}")
    other = weights_digest(str(folder))

    assert before == same != other


def test_a_file_is_known_by_its_bytes(tmp_path: Path) -> None:
    """A GGUF file has the same digest in every folder."""
    for name in ("a.gguf", "b.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")

    assert weights_digest(str(tmp_path / "a.gguf")) == weights_digest(str(tmp_path / "b.gguf"))


@pytest.mark.parametrize(
    ("removed", "said"), [("config.json", "no config.json"), ("model.safetensors", "pickled")]
)
def test_an_incomplete_folder_is_an_error(folder: Path, removed: str, said: str) -> None:
    """What is missing is named; pickled weights do not count."""
    (folder / "pytorch_model.bin").write_bytes(b"pickle")
    (folder / removed).unlink()

    with pytest.raises(ModelFileError, match=said):
        find_model(str(folder))


def test_a_missing_part_of_the_weights_is_an_error(folder: Path) -> None:
    """Where an index names parts, all of them must be there."""
    index = '{"weight_map": {"a": "model-1.safetensors", "b": "model.safetensors"}}'
    (folder / "model.safetensors.index.json").write_text(index)

    with pytest.raises(ModelFileError, match=r"no model-1\.safetensors"):
        find_model(str(folder))


@pytest.mark.parametrize(
    "part",
    [
        *("../model.safetensors", "/etc/model.safetensors", "sub/model.safetensors", ".."),
        *("..\\\\model.safetensors", "pytorch_model.bin", ""),
    ],
)
def test_weights_outside_the_folder_are_refused(folder: Path, part: str) -> None:
    """They would be read without being in the digest."""
    index = folder / "model.safetensors.index.json"
    index.write_text(f'{{"weight_map": {{"a": "{part}"}}}}')

    with pytest.raises(ModelFileError, match=r"a part is a file \*\.safetensors in the same"):
        find_model(str(folder))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"weight_map": 3}', "[" * 100_000, "\x00"])
def test_a_damaged_index_is_an_error(folder: Path, text: str) -> None:
    """Every malformed index has the same way out."""
    (folder / "model.safetensors.index.json").write_text(text)

    with pytest.raises(ModelFileError, match="copy the model's folder again"):
        find_model(str(folder))


def test_no_library_is_offered_the_code_of_a_folder() -> None:
    """Every place that loads a model by a library passes the arguments that forbid its code."""
    source = Path(ragstone.__file__).parent
    texts = {
        str(path.relative_to(source)): path.read_text(encoding="utf-8")
        for path in source.rglob("*.py")
    }
    loads = re.compile(r"(Auto\w+\.from_pretrained|\.CrossEncoder|\.SentenceTransformer)\(")
    loading = {name for name, text in texts.items() if loads.search(text)}
    assert len(loading) >= 7
    for name in loading:
        passed = "FROM_FILES" in texts[name] or "**given" in texts[name] or "recipe" in texts[name]
        assert passed, name
    only = re.compile(r"local_files_only=True|trust_remote_code\W+True")
    # One constant allows it, and whoever uses that asks for the commit of the code.
    assert {name for name, text in texts.items() if only.search(text)} == {"models/locate.py"}
    users = {name for name, text in texts.items() if "WITH_CODE" in text} - {"models/locate.py"}
    assert users
    assert all("model_code" in texts[name] for name in users)
    assert FROM_FILES == {"local_files_only": True, "trust_remote_code": False}


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("./nowhere", ModelFileError, "there is no model at"),
        ("/models/none.gguf", ModelFileError, "there is no model at"),
        ("smollm2-135m-instruckt", ConfigError, "did you mean"),
    ],
)
def test_a_wrong_name_is_an_error(name: str, kind: type[Exception], said: str) -> None:
    """A path that is not there and a name that nobody knows are different mistakes."""
    with pytest.raises(kind, match=said):
        find_model(name)


def test_offline_the_hub_is_not_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A hub's model that is not in the cache is an error that names the way out."""
    pytest.importorskip("huggingface_hub", reason="NOT RUN: huggingface_hub is not installed")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))

    with no_network(), pytest.raises(ModelFileError, match="hf download nobody/nothing-at-all"):
        find_model("nobody/nothing-at-all")


def test_without_the_hubs_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub's name needs a package that the core does not bring."""
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    with pytest.raises(MissingDependency, match=r"ragstone\[vllm\]"):
        find_model("owner/model", kind=VLLM)


def test_a_single_file_is_a_model_only_of_kinds_that_read_gguf(tmp_path: Path) -> None:
    """The same path is a language model, and an error for sentence-transformers."""
    path = tmp_path / "a.gguf"
    path.write_bytes(b"GGUF")

    assert find_model(str(path)) == path
    with pytest.raises(ModelFileError, match="there is no model at"):
        find_model(str(path), kind=SENTENCE_TRANSFORMERS)


def test_a_model_that_cannot_run_is_not_downloaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without vLLM a hub's model that is not in the cache is not looked for on the hub."""
    pytest.importorskip("huggingface_hub", reason="NOT RUN: huggingface_hub is not installed")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    with pytest.raises(MissingDependency, match=r"'vllm'.*ragstone\[vllm\]"):
        find_model("nobody/nothing-at-all", kind=VLLM)
