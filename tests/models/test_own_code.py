"""A model's own code does not run, unless a component names the commit that it is from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.fakes.tiny_encoder import save_encoder
from tests.support import vectors

from ragstone.components.embedders.sentence_transformers import SentenceTransformers
from ragstone.components.embedders.sentence_transformers_sparse import SentenceTransformersSparse
from ragstone.components.generators.transformers import Hf
from ragstone.components.generators.vllm import Vllm
from ragstone.components.rerankers.cross_encoder import CrossEncoder
from ragstone.core.executors.portable import Portable
from ragstone.core.fingerprint import cache_key_parts, fingerprint
from ragstone.core.offline import no_network
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.locate import SENTENCE_TRANSFORMERS, TRANSFORMERS_LM, find_model
from ragstone.models.own_code import check_code

KINDS: tuple[Any, ...] = (
    Hf,
    Vllm,
    SentenceTransformers,
    SentenceTransformersSparse,
    CrossEncoder,
)
COMMIT = "0123456789abcdef0123456789abcdef01234567"
CODE = """
import os, pathlib
pathlib.Path(os.environ["CODE_RAN"]).touch()
from transformers import LlamaConfig
class OwnConfig(LlamaConfig):
    model_type = "own-model"
"""
ENCODERS = """
import os, pathlib
pathlib.Path(os.environ["CODE_RAN"]).touch()
from transformers import BertConfig, BertForSequenceClassification, BertModel
class OwnConfig(BertConfig):
    model_type = "own-model"
class OwnModel(BertModel):
    config_class = OwnConfig
    def forward(self, *given, **named):
        found = super().forward(*given, **named)
        found.last_hidden_state = found.last_hidden_state.flip(-1)
        return found
class OwnScorer(BertForSequenceClassification):
    config_class = OwnConfig
    def forward(self, *given, **named):
        found = super().forward(*given, **named)
        found.logits = found.logits + 100
        return found
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


@pytest.mark.needs("torch", "sentence_transformers")
def test_an_encoder_with_code_of_its_own(folder: Path, tmp_path: Path) -> None:
    """Its vectors are those of its own code, which is in the key; by default it is refused."""
    plain = save_encoder(tmp_path / "plain")
    _with_code(save_encoder(folder), "AutoModel", "OwnModel")
    with pytest.raises(ModelFileError, match=r"needs code of its own .*`endpoint`.*model_code="):
        vectors(SentenceTransformers("owner/own", hub_revision=COMMIT), "query", "avila")
    assert not (tmp_path / "ran").exists()

    allowed = SentenceTransformers("owner/own", model_code=COMMIT)
    (expected,) = vectors(SentenceTransformers(str(plain)), "query", "the mayor of avila")
    (found,) = vectors(allowed, "query", "the mayor of avila")
    assert np.allclose(found, expected[::-1], atol=1e-6)
    assert (tmp_path / "ran").exists()

    assert cache_key_parts(allowed)["parameters"]["model_code"] == COMMIT
    assert "model_code" not in cache_key_parts(SentenceTransformers(str(plain)))["parameters"]
    made = Portable.of(allowed)
    assert made is not None
    assert fingerprint(made._made()) == fingerprint(allowed)
    before = allowed.content_revision
    (folder / "own.py").write_text(ENCODERS + "# other\n")
    assert SentenceTransformers("owner/own", model_code=COMMIT).content_revision != before
    sys.modules.pop("transformers_modules", None)


@pytest.mark.needs("torch", "sentence_transformers")
def test_a_reranker_with_code_of_its_own(folder: Path, tmp_path: Path) -> None:
    """Its scores are those of its own code, which is in the key; by default it is refused."""
    kind = "BertForSequenceClassification"
    plain = save_encoder(tmp_path / "plain", kind)
    _with_code(save_encoder(folder, kind), "AutoModelForSequenceClassification", "OwnScorer")
    with pytest.raises(ModelFileError, match=r"needs code of its own .*`endpoint`"):
        CrossEncoder("owner/own", hub_revision=COMMIT).score([("avila", "braga")])
    assert not (tmp_path / "ran").exists()

    pairs = [("the mayor of avila", "the river of braga"), ("castle", "the castle of delft")]
    allowed = CrossEncoder("owner/own", model_code=COMMIT)
    expected, _ = CrossEncoder(str(plain)).score(pairs)
    found, _ = allowed.score(pairs)
    assert found == pytest.approx([one + 100 for one in expected], abs=1e-4)
    before = allowed.content_revision
    (folder / "own.py").write_text(ENCODERS + "# other\n")
    assert CrossEncoder("owner/own", model_code=COMMIT).content_revision != before
    sys.modules.pop("transformers_modules", None)


def _with_code(folder: Path, auto: str, kind: str) -> None:
    """Let a model's folder name the classes of its own code."""
    (folder / "own.py").write_text(ENCODERS)
    config = json.loads((folder / "config.json").read_text())
    named = {"AutoConfig": "own.OwnConfig", auto: f"own.{kind}"}
    config |= {"model_type": "own-model", "auto_map": named, "architectures": [kind]}
    (folder / "config.json").write_text(json.dumps(config))


def test_vllm_gets_the_code_of_the_commit(folder: Path) -> None:
    """The code is in the digest, and code of another repository is refused."""
    allowed = Vllm("owner/own", model_code=COMMIT)
    before = allowed.weights()
    assert allowed.hub_revision == COMMIT
    (folder / "own.py").write_text(CODE + "# other\n")
    assert allowed.weights() != before
    assert Vllm("owner/own", hub_revision=COMMIT).weights() not in {before, allowed.weights()}
    auto_map = {"AutoModelForCausalLM": "other/evil--own.Model"}
    (folder / "config.json").write_text(json.dumps(CONFIG | {"auto_map": auto_map}))
    with pytest.raises(ModelFileError, match=r"another repository.*other/evil--own"):
        allowed.weights()


def test_code_of_another_repository_is_not_pinned(folder: Path) -> None:
    """`owner/name--file.Class` is loaded from that repository's newest commit."""
    auto_map = {"AutoModel": "other/evil--own.Model", "AutoTokenizer": [None, "own.Tokenizer"]}
    (folder / "config.json").write_text(json.dumps(CONFIG | {"auto_map": auto_map}))
    with pytest.raises(ModelFileError, match=r"another repository.*other/evil--own"):
        check_code(folder, allowed=True)
    # A part of a model has files of its own.
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "0_Part").mkdir()
    (folder / "0_Part" / "config.json").write_text(json.dumps(CONFIG | {"auto_map": auto_map}))
    with pytest.raises(ModelFileError, match=r"another repository.*other/evil--own"):
        check_code(folder, allowed=True)


@pytest.mark.parametrize("commit", ["main", COMMIT[:-1], COMMIT.upper(), COMMIT + "\n", "g" * 40])
def test_a_branch_is_not_a_commit(commit: str) -> None:
    """It may get other code at any time."""
    for kind in KINDS:
        with pytest.raises(ConfigError, match="a whole commit of the hub"):
            kind("owner/own", model_code=commit)


def test_other_places_have_no_commit(folder: Path) -> None:
    """A folder, a bundled model, and a second revision."""
    for kind in KINDS:
        for model in (str(folder), "smollm2-135m-instruct"):
            with pytest.raises(ConfigError, match=r"has no commit.*`endpoint`"):
                kind(model, model_code=COMMIT)
        with pytest.raises(ConfigError, match="different commits"):
            kind("owner/own", hub_revision="main", model_code=COMMIT)


@pytest.mark.parametrize("text", ["[3]", '{"auto_map": 3}', '[{"type": 3}]', "{", "[" * 99_999])
def test_a_malformed_file_is_left_to_the_loading(tmp_path: Path, text: str) -> None:
    """It names no code; the library tells what is wrong with it."""
    for name in ("config.json", "modules.json"):
        (tmp_path / name).write_text(text)
    check_code(tmp_path, allowed=False)
