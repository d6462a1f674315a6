"""Writes a SPLADE encoder as an ONNX graph: BERT with its word predictor, one weight per word.

Formal and others, "SPLADE v2", 2021: the weight of a word is log(1 + max(0, x)), x its highest
logit over the text's tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from ragstone.models.bert_onnx import GraphWriter

if TYPE_CHECKING:
    from ragstone.models.bert_onnx import Matrix

_WORDS_AT_ONCE: Final = 512
"""Words per product: their logits stay in a core's cache until the maximum is taken."""
_OLD_NAMES: Final = {".gamma": ".weight", ".beta": ".bias"}
"""Names of the two vectors of a layer normalisation in early BERT files."""


def write_splade(weights: Mapping[str, Matrix], *, heads: int, epsilon: float) -> bytes:
    """Return the encoder as a serialised ONNX model; raise `KeyError` if a weight is missing.

    Input `ids`: int64 of shape (tokens,). Output `weights`: float32 of shape (vocabulary,).

    `weights` are named as in the safetensors of a masked-language BERT, and `epsilon` is that of
    layer normalisation.
    """
    named = {_bare(name): array for name, array in weights.items()}
    writer = GraphWriter(named, heads, epsilon, "float32")
    state = writer.linear(writer.encoder(), *writer.dense("cls.predictions.transform.dense"))
    state = writer.normalised("cls.predictions.transform.LayerNorm", writer.node("Gelu", state))
    words, bias = named["embeddings.word_embeddings.weight"], named["cls.predictions.bias"]
    state = writer.node("Transpose", state, perm=[1, 0])
    highest = []
    for start in range(0, len(words), _WORDS_AT_ONCE):
        some = writer.constant(f"predictor_{start}", words[start : start + _WORDS_AT_ONCE])
        logits = writer.node("MatMul", some, state)
        highest.append(writer.node("ReduceMax", logits, writer.whole("last", [1]), keepdims=0))
    # The bias is the same for all tokens, and log and max(0, x) are monotonic: both can wait.
    logit = writer.node("Concat", *highest, axis=0) if len(highest) > 1 else highest[0]
    logit = writer.node("Relu", writer.node("Add", logit, writer.constant("predictor_bias", bias)))
    one = writer.constant("one", bias[:1] * 0 + 1)
    writer.node("Log", writer.node("Add", logit, one), output="weights")
    return writer.written({"weights": [len(words)]})


def _bare(name: str) -> str:
    for old, new in _OLD_NAMES.items():
        if name.endswith(f"LayerNorm{old}"):
            name = name.removesuffix(old) + new
    return name.removeprefix("bert.")
