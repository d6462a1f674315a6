"""SPLADE against the formula written out in numpy, and what it gives for real texts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.support import vectors

from ragstone.components.embedders.splade import Splade
from ragstone.errors import ConfigError, ModelFileError
from ragstone.models.files import model_file
from ragstone.models.onnx_encoder import Encoder


@pytest.fixture(scope="module")
def splade() -> Splade:
    """The bundled model."""
    return Splade(threads=1)


def words_of(encoder: Encoder, row: dict[int, float]) -> list[str]:
    """Return the words of a row, heaviest first."""
    ordered = sorted(row, key=row.__getitem__, reverse=True)
    return [encoder.tokenizer.id_to_token(word) for word in ordered]


def test_a_question_is_expanded_by_related_words(splade: Splade) -> None:
    """Words of the question have the highest weights; a related word (paris) is added."""
    (row,) = vectors(splade, "query", "What is the capital of France?")

    words = words_of(splade._encoder, row)
    assert words[:3] == ["capital", "france", "french"]
    assert "paris" in words
    assert all(weight > 0 for weight in row.values())


def test_weights_are_those_of_the_formula(splade: Splade) -> None:
    """A weight is log(1 + max(0, x)) of the highest logit over tokens, as computed in numpy."""
    from safetensors.numpy import load_file

    text = "Stone tests gold."
    held = {k.removeprefix("bert."): v for k, v in load_file(model_file("splade-tiny")).items()}
    ids = splade._encoder.tokenizer.encode(text).ids

    def norm(name: str, state: np.ndarray) -> np.ndarray:
        centred = state - state.mean(-1, keepdims=True)
        centred /= np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-12)
        return np.asarray(centred * held[f"{name}.gamma"] + held[f"{name}.beta"])

    def dense(name: str, state: np.ndarray) -> np.ndarray:
        return np.asarray(state @ held[f"{name}.weight"].T + held[f"{name}.bias"])

    gelu = np.vectorize(lambda x: x / 2 * (1 + math.erf(x / math.sqrt(2))))
    state = held["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    state += held["embeddings.position_embeddings.weight"][: len(ids)]
    state = norm("embeddings.LayerNorm", state + held["embeddings.token_type_embeddings.weight"][0])
    for layer in ("encoder.layer.0", "encoder.layer.1"):
        parts = [dense(f"{layer}.attention.self.{p}", state) for p in ("query", "key", "value")]
        query, key, value = (part.reshape(len(ids), 2, 64).swapaxes(0, 1) for part in parts)
        shares = np.exp(query @ key.swapaxes(1, 2) / 8)
        mixed = (shares / shares.sum(-1, keepdims=True) @ value).swapaxes(0, 1)
        out = dense(f"{layer}.attention.output.dense", mixed.reshape(len(ids), 128))
        state = norm(f"{layer}.attention.output.LayerNorm", out + state)
        inner = gelu(dense(f"{layer}.intermediate.dense", state))
        state = norm(f"{layer}.output.LayerNorm", dense(f"{layer}.output.dense", inner) + state)
    head = "cls.predictions.transform"
    state = norm(f"{head}.LayerNorm", gelu(dense(f"{head}.dense", state)))
    logits = state @ held["embeddings.word_embeddings.weight"].T + held["cls.predictions.bias"]
    expected = np.log1p(np.maximum(logits.max(axis=0), 0))

    (row,) = vectors(splade, "passage", text)

    found = np.zeros(len(expected))
    found[list(row)] = list(row.values())
    assert np.abs(found - expected).max() < 1e-4


def test_without_texts_there_are_no_rows(splade: Splade) -> None:
    """No texts have no rows; an empty text has a row."""
    assert vectors(splade, "passage") == []
    assert len(vectors(splade, "passage", "", "gold")) == 2


def test_a_model_of_another_kind_is_refused_by_name() -> None:
    """MiniLM has no word predictor; the error names the missing weight."""
    with pytest.raises(ModelFileError, match=r"'splade' can run.*cls\.predictions"):
        vectors(Splade("all-minilm-l6-v2"), "query", "x")


def test_a_query_encoder_of_its_own_is_asked_for_queries_alone(splade: Splade) -> None:
    """It embeds the queries, and its files are part of the key."""
    own = replace(splade, query_model="all-minilm-l6-v2")

    assert own.content_revision != splade.content_revision
    assert len(vectors(own, "passage", "gold")) == 1
    with pytest.raises(ModelFileError, match="all-minilm-l6-v2"):
        vectors(own, "query", "gold")


def test_lengths_that_cannot_be_are_refused() -> None:
    """Wrong lengths are errors before a model is loaded."""
    with pytest.raises(ConfigError, match="max_tokens must be 3 or more"):
        Splade(max_tokens=2)


def test_its_vectors_are_sparse(splade: Splade) -> None:
    """Retrievers check this attribute."""
    assert splade.output == "sparse"
