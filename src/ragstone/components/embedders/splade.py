"""SPLADE on ONNX Runtime: a text as weights of terms, those that it contains and related ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.step_notes import ROLES
from ragstone.models.onnx_encoder import Encoder, check_ranges, check_runnable, digest_of
from ragstone.models.splade_onnx import write_splade
from ragstone.protocols import Embedder, Role, Services

if TYPE_CHECKING:
    from ragstone.models.bert_onnx import Matrix


@dataclass(frozen=True)
class Splade(Embedder):
    """SPLADE with a BERT (Formal and others, 2021), without torch; a text is computed alone.

    Other architectures (DistilBERT, a router, inference-free queries) run with the embedder
    `sentence-transformers-sparse`.

    Args:
        model: the bundled model, or a folder with a masked-language BERT in safetensors.
        query_model: a separate model for queries with the same vocabulary, if the model was
            trained with one; by default the model itself.
        max_tokens: a longer text is cut here.
        threads: texts computed at a time; by default the number of cores.
    """

    model: str = "splade-tiny"
    query_model: str = ""
    max_tokens: int = 512
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    output = "sparse"
    requires_extra = "local"
    needs_model = True
    texts_per_call = 256

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_ranges(self.max_tokens, self.threads)

    @cached_property
    def content_revision(self) -> list[str]:
        """The digests of the models' files."""
        return [digest_of(model) for model in self._models]

    def check(self, services: Services) -> None:
        """Raise if a file of a model, or a package that runs it, is missing or damaged."""
        for model in self._models:
            check_runnable(model, "splade")

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield the weights of each text; a term is a number of the model's vocabulary."""
        encoder = self._query_encoder if role == "query" else self._encoder
        for weights in encoder.run_all(texts, "weights", self.threads, ROLES[role]):
            terms = np.flatnonzero(weights)
            yield Outcome(dict(zip(terms.tolist(), weights[terms].tolist(), strict=True)))

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
