"""SPLADE: a text as weights of words, those it uses and those it means, on ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.vectors import SparseVectors
from ragstone.models.onnx_encoder import Encoder, check_ranges, check_runnable, digest_of
from ragstone.models.splade_onnx import write_splade

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.models.bert_onnx import Matrix


@dataclass(frozen=True)
class Splade:
    """SPLADE with a BERT (Formal and others, 2021), torch-free; a text is computed alone.

    Models of another kind (DistilBERT, a router, inference-free queries) run by the embedder
    `sentence-transformers-sparse`.

    Args:
        model: the bundled model, or a folder with a BERT for masked words in safetensors.
        query_model: another model for queries, where the model was trained with one; the same
            vocabulary is a must. The model itself where empty.
        max_tokens: a longer text is cut here.
        threads: texts computed at a time; as many as there are cores by default.
    """

    model: str = "splade-tiny"
    query_model: str = ""
    max_tokens: int = 512
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_ranges(self.max_tokens, self.threads)

    @cached_property
    def revision(self) -> list[str]:
        """Digests of the models' files."""
        return [digest_of(model) for model in self._models]

    def check(self, calls: Calls) -> None:
        """Raise unless the models' files are there and right, and the packages that run them."""
        for model in self._models:
            check_runnable(model, "splade")

    def encode_queries(self, texts: Sequence[str]) -> SparseVectors:
        """Return one row per text: words are numbers of the model's vocabulary."""
        return self._encoded(self._query_encoder, texts, "queries")

    def encode_passages(self, texts: Sequence[str]) -> SparseVectors:
        """Return one row per text: words are numbers of the model's vocabulary."""
        return self._encoded(self._encoder, texts, "passages")

    def _encoded(self, encoder: Encoder, texts: Sequence[str], what: str) -> SparseVectors:
        dense = encoder.run_all(texts, "weights", self.threads, what) if texts else []
        words = [np.flatnonzero(row).astype(np.int32) for row in dense]
        weights = [row[held] for row, held in zip(dense, words, strict=True)]
        return SparseVectors.of_parts(words, weights)

    @property
    def _models(self) -> tuple[str, ...]:
        return (self.model, self.query_model) if self.query_model else (self.model,)

    @cached_property
    def _encoder(self) -> Encoder:
        return _load(self.model, self.max_tokens)

    @cached_property
    def _query_encoder(self) -> Encoder:
        return _load(self.query_model, self.max_tokens) if self.query_model else self._encoder


def _load(model: str, max_tokens: int) -> Encoder:
    def graph_of(weights: Mapping[str, Matrix], config: Mapping[str, Any]) -> bytes:
        heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
        return write_splade(weights, heads=heads, epsilon=epsilon)

    return Encoder.load(model, max_tokens, graph_of, "splade")
