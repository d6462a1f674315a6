"""The ONNX graph of a BERT encoder against the same network written out in numpy."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from ragstone.models.bert_onnx import Precision, write_bert

Weights: TypeAlias = dict[str, npt.NDArray[np.float32]]
HEADS, SIZE, INNER, WORDS, PLACES, LAYERS = 2, 16, 32, 50, 12, 2
EPSILON = 1e-12


@pytest.fixture
def weights() -> Weights:
    """A small network of random numbers."""
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings": (WORDS, SIZE),
        "embeddings.position_embeddings": (PLACES, SIZE),
        "embeddings.token_type_embeddings": (2, SIZE),
    }
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        shapes |= {f"{name}.attention.self.{p}": (SIZE, SIZE) for p in ("query", "key", "value")}
        shapes |= {
            f"{name}.attention.output.dense": (SIZE, SIZE),
            f"{name}.intermediate.dense": (INNER, SIZE),
            f"{name}.output.dense": (SIZE, INNER),
            f"{name}.attention.output.LayerNorm": (SIZE,),
            f"{name}.output.LayerNorm": (SIZE,),
        }
    shapes["embeddings.LayerNorm"] = (SIZE,)
    made: Weights = {}
    for name, shape in shapes.items():
        made[f"{name}.weight"] = random.normal(0, 0.5, shape).astype(np.float32)
        made[f"{name}.bias"] = random.normal(0, 0.5, shape[0]).astype(np.float32)
    return made


def _dense(weights: Weights, name: str, state: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    result: npt.NDArray[np.float64] = state @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]
    return result


def _norm(weights: Weights, name: str, state: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    centred = state - state.mean(-1, keepdims=True)
    centred /= np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
    result: npt.NDArray[np.float64] = centred * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return result


def _by_hand(weights: Weights, ids: list[int]) -> npt.NDArray[np.float64]:
    """Token vectors of the network, head by head in float64."""
    state = weights["embeddings.word_embeddings.weight"][ids].astype(np.float64)
    state += weights["embeddings.position_embeddings.weight"][: len(ids)]
    state += weights["embeddings.token_type_embeddings.weight"][0]
    state = _norm(weights, "embeddings.LayerNorm", state)
    width = SIZE // HEADS
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            _dense(weights, f"{name}.attention.self.{part}", state)
            for part in ("query", "key", "value")
        )
        heads = []
        for start in range(0, SIZE, width):
            part = slice(start, start + width)
            logits = query[:, part] @ key[:, part].T / math.sqrt(width)
            shares = np.exp(logits - logits.max(-1, keepdims=True))
            heads.append(shares / shares.sum(-1, keepdims=True) @ value[:, part])
        out = _dense(weights, f"{name}.attention.output.dense", np.concatenate(heads, axis=1))
        state = _norm(weights, f"{name}.attention.output.LayerNorm", out + state)
        inner = _dense(weights, f"{name}.intermediate.dense", state)
        inner *= np.vectorize(lambda x: 0.5 * (1 + math.erf(x / math.sqrt(2))))(inner)
        state = _norm(
            weights,
            f"{name}.output.LayerNorm",
            _dense(weights, f"{name}.output.dense", inner) + state,
        )
    return state


def _run(
    weights: Weights, ids: list[int], precision: Precision
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    onnxruntime = pytest.importorskip("onnxruntime")
    graph = write_bert(weights, heads=HEADS, epsilon=EPSILON, precision=precision)
    session = onnxruntime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    tokens, mean = session.run(["tokens", "mean"], {"ids": np.array(ids, dtype=np.int64)})
    return tokens, mean


@pytest.mark.parametrize("ids", [[3], [1, 4, 1, 5, 9], list(range(PLACES))])
def test_the_graph_computes_bert(weights: Weights, ids: list[int]) -> None:
    """Token vectors and their mean agree with the network written out."""
    expected = _by_hand(weights, ids)
    tokens, mean = _run(weights, ids, "float32")
    np.testing.assert_allclose(tokens, expected, rtol=2e-4, atol=2e-5)
    average = expected.mean(0)
    np.testing.assert_allclose(mean, average / np.linalg.norm(average), rtol=2e-4, atol=2e-5)


def test_eight_bit_stays_near(weights: Weights) -> None:
    """Quantised, the vector points almost the same way, but is not the same."""
    ids = [1, 4, 1, 5, 9]
    exact, rounded = _run(weights, ids, "float32")[1], _run(weights, ids, "int8")[1]
    assert 0.99 < float(exact @ rounded) < 0.9999999
    assert np.linalg.norm(rounded) == pytest.approx(1, abs=1e-5)


def test_a_missing_weight_is_named(weights: Weights) -> None:
    """A network of another form is not written half."""
    del weights["encoder.layer.0.output.dense.weight"]
    with pytest.raises(KeyError, match=r"encoder\.layer\.0\.output\.dense\.weight"):
        write_bert(weights, heads=HEADS, epsilon=EPSILON, precision="int8")
