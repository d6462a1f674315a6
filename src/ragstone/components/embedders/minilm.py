"""MiniLM, the bundled sentence encoder, on ONNX Runtime: no torch, one text at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.step_notes import ROLES
from ragstone.models.bert_onnx import Precision, write_bert
from ragstone.models.files import model_file
from ragstone.models.onnx_encoder import Encoder, check_ranges, check_runnable, digest_of
from ragstone.protocols import Embedder, Role, Services

if TYPE_CHECKING:
    from ragstone.models.bert_onnx import Matrix


@dataclass(frozen=True)
class MiniLM(Embedder):
    """all-MiniLM-L6-v2: the mean-pooled and L2-normalised token vectors (384 dimensions).

    A text is computed alone, never in a batch: in 8 bit the scale of the activations is taken from
    everything computed together, so that a vector would depend on its neighbours.

    Args:
        model: the bundled model, or a folder with a BERT encoder of the same form.
        precision: `int8` is about three times as fast as `float32`, at a cosine of 0.99 to it.
        max_tokens: a longer text is cut here. The model was trained on 256 and reads up to 512.
        query_prefix: text before each query.
        passage_prefix: text before each passage.
        threads: texts computed at a time; by default the number of cores.
    """

    model: str = "all-minilm-l6-v2"
    precision: Precision = "int8"
    max_tokens: int = 512
    query_prefix: str = ""
    passage_prefix: str = ""
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "local"
    needs_model = True
    texts_per_call = 256

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_ranges(self.max_tokens, self.threads)

    @cached_property
    def content_revision(self) -> str:
        """The digest of the model's files."""
        return digest_of(self.model)

    def check(self, services: Services) -> None:
        """Raise if a file of the model, or a package that runs it, is missing or damaged."""
        check_runnable(self.model, "minilm")

    @cached_property
    def dimension(self) -> int:
        """Length of a vector."""
        size: int = json.loads(model_file(self.model, "config").read_bytes())["hidden_size"]
        return size

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterable[Outcome[Any]]:
        """Return one vector of length 1 per text."""
        prefix = self.query_prefix if role == "query" else self.passage_prefix
        prefixed = [prefix + text for text in texts]
        return map(Outcome, self._encoder.run_all(prefixed, "mean", self.threads, ROLES[role]))

    @cached_property
    def _encoder(self) -> Encoder:
        return load_minilm(self.model, self.precision, self.max_tokens)


def load_minilm(model: str, precision: Precision, max_tokens: int) -> Encoder:
    """Return a sentence encoder with the outputs `mean` and `tokens`."""

    def graph_of(weights: Mapping[str, Matrix], config: Mapping[str, Any]) -> bytes:
        heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
        return write_bert(weights, heads=heads, epsilon=epsilon, precision=precision)

    return Encoder.load(model, max_tokens, graph_of, "minilm")
