"""MiniLM, the bundled sentence encoder, on ONNX Runtime: no torch, one text at a time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.models.bert_onnx import Precision, write_bert
from ragstone.models.files import model_file
from ragstone.models.onnx_encoder import Encoder, check_ranges, check_runnable, digest_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls.client import Calls
    from ragstone.models.bert_onnx import Matrix


@dataclass(frozen=True)
class MiniLM:
    """all-MiniLM-L6-v2: the mean of the token vectors, brought to length 1 (384 dimensions).

    A text is computed alone, never in a batch: in 8 bit the scale of what flows through the network
    is taken from all that is computed together, and a vector would depend on its neighbours.

    Args:
        model: the bundled model, or a folder with a BERT encoder of the same form.
        precision: `int8` is about three times as fast as `float32`, at a cosine of 0.99 to it.
        max_tokens: a longer text is cut here. The model was trained on 256 and knows 512 places.
        query_prefix: put before each query.
        passage_prefix: put before each passage.
        threads: texts computed at a time; as many as there are cores by default.
    """

    model: str = "all-minilm-l6-v2"
    precision: Precision = "int8"
    max_tokens: int = 512
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_ranges(self.max_tokens, self.threads)

    @cached_property
    def revision(self) -> str:
        """Digest of the model's files."""
        return digest_of(self.model)

    def check(self, calls: Calls) -> None:
        """Raise unless the model's files are there and right, and the packages that run it."""
        check_runnable(self.model, "minilm")

    @cached_property
    def dimension(self) -> int:
        """Numbers of a vector."""
        size: int = json.loads(model_file(self.model, "config").read_bytes())["hidden_size"]
        return size

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        return self._embed([self.query_prefix + text for text in texts], "queries")

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension), rows of length 1."""
        return self._embed([self.passage_prefix + text for text in texts], "passages")

    def _embed(self, texts: Sequence[str], what: str) -> npt.NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return np.stack(self._encoder.run_all(texts, "mean", self.threads, what))

    @cached_property
    def _encoder(self) -> Encoder:
        return load_minilm(self.model, self.precision, self.max_tokens)


def load_minilm(model: str, precision: Precision, max_tokens: int) -> Encoder:
    """Return a sentence encoder ready to run, with the outputs `mean` and `tokens`."""

    def graph_of(weights: Mapping[str, Matrix], config: Mapping[str, Any]) -> bytes:
        heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
        return write_bert(weights, heads=heads, epsilon=epsilon, precision=precision)

    return Encoder.load(model, max_tokens, graph_of, "minilm")
