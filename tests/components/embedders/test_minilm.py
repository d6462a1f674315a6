"""MiniLM, the real bundled model."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support import vectors

from ragstone.components.embedders.minilm import MiniLM
from ragstone.core.fingerprint import cache_key_parts
from ragstone.errors import ConfigError, MissingDependency, ModelFileError
from ragstone.models.bundled import MODELS

TEXTS = [
    "The cat sat on the mat.",
    "A feline rested on a rug.",
    "Interest rates rose again in March, and banks followed within a week. " * 12,
    "",
]


def queries(embedder: MiniLM, *texts: str) -> list[Any]:
    """Return the vectors of queries."""
    return vectors(embedder, "query", *texts)


def passages(embedder: MiniLM, *texts: str) -> list[Any]:
    """Return the vectors of passages."""
    return vectors(embedder, "passage", *texts)


@pytest.fixture(scope="module")
def minilm() -> MiniLM:
    """The embedder; its model is loaded once."""
    if not MODELS["all-minilm-l6-v2"].fetched:
        pytest.skip("the model is not on this machine: ragstone models fetch all-minilm-l6-v2")
    return MiniLM(threads=2)


def test_meaning_lies_near(minilm: MiniLM) -> None:
    """A paraphrase is nearer than another subject; vectors have length 1."""
    found = np.stack(passages(minilm, *TEXTS))
    assert found.shape == (4, 384)
    assert found.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)
    near, far = found[0] @ found[1], found[0] @ found[2]
    assert near > 0.5
    assert far < 0.2


def test_a_vector_does_not_depend_on_its_neighbours(minilm: MiniLM) -> None:
    """A text has the same vector, bit by bit, alone and among others in any order."""
    together = passages(minilm, *TEXTS)
    alone = [passages(minilm, text)[0] for text in TEXTS]
    backwards = passages(minilm, *TEXTS[::-1])[::-1]
    assert np.array_equal(together, alone)
    assert np.array_equal(together, backwards)


def test_precision_and_prefixes_are_used(minilm: MiniLM) -> None:
    """`int8` is near full precision; a prefix of queries changes only queries."""
    exact = np.stack(queries(MiniLM(precision="float32"), *TEXTS[:2]))
    assert ((exact * np.stack(queries(minilm, *TEXTS[:2]))).sum(axis=1) > 0.98).all()
    prefixed = MiniLM(query_prefix="query: ")
    assert not np.array_equal(queries(prefixed, TEXTS[0]), queries(minilm, TEXTS[0]))
    assert np.array_equal(passages(prefixed, TEXTS[0]), passages(minilm, TEXTS[0]))


def test_long_texts_are_cut_at_max_tokens(minilm: MiniLM) -> None:
    """Words after `max_tokens` do not change the vector; earlier words do."""
    short = MiniLM(max_tokens=8)
    cut = passages(short, TEXTS[2], TEXTS[2] + " And the cat?")
    assert np.array_equal(cut[0], cut[1])
    assert not np.array_equal(cut[0], passages(minilm, TEXTS[2])[0])


@pytest.mark.usefixtures("minilm")
def test_a_length_that_the_model_cannot_read_is_refused() -> None:
    """The model's own limit is part of the error."""
    with pytest.raises(ConfigError, match="reads 512 at most"):
        queries(MiniLM(max_tokens=513), "x")


def test_nothing_to_embed(minilm: MiniLM) -> None:
    """Without texts there are no vectors; the dimension is still known."""
    assert queries(minilm) == []
    assert minilm.dimension == 384


def test_the_key_contains_everything_that_changes_vectors() -> None:
    """The key has the model files, precision and length, and not the number of threads."""
    assert cache_key_parts(MiniLM()) == cache_key_parts(MiniLM(threads=3))
    assert cache_key_parts(MiniLM()) != cache_key_parts(MiniLM(max_tokens=256))
    assert cache_key_parts(MiniLM())["revision"]


@pytest.mark.parametrize("parameters", [{"max_tokens": 2}, {"threads": 0}])
def test_wrong_parameters_are_refused(parameters: dict[str, int]) -> None:
    """The error names the value that is out of range."""
    with pytest.raises(ConfigError, match="or more, found"):
        MiniLM(**parameters)  # type: ignore[arg-type]  # wrong on purpose


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    """The error names the folder and the weight that is missing."""
    save_file = pytest.importorskip("safetensors.numpy").save_file
    save_file({"some.weight": np.zeros(3, dtype=np.float32)}, tmp_path / "model.safetensors")
    config = {"max_position_embeddings": 512, "num_attention_heads": 2, "layer_norm_eps": 1e-12}
    (tmp_path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    tokenizer = {"version": "1.0", "model": {"type": "WordLevel", "vocab": {}, "unk_token": "u"}}
    (tmp_path / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    with pytest.raises(ModelFileError, match="'minilm' can run: its weights have no"):
        queries(MiniLM(model=str(tmp_path)), "x")


def test_the_error_for_a_missing_package_has_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without the extra the error names the package and the command."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingDependency, match=r"onnxruntime.*ragstone\[local\]"):
        queries(MiniLM(), "x")
