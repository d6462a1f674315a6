"""SPLADE on ONNX Runtime: a text as weights of terms, those that it contains and related ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ragstone.components.embedders.onnx_base import OnnxEmbedder, load_encoder
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.step_notes import ROLES
from ragstone.models.onnx_encoder import Encoder, check_runnable, digest_of
from ragstone.models.splade_onnx import write_splade
from ragstone.protocols import Role, Services


@dataclass(frozen=True)
class Splade(OnnxEmbedder):
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
        return load_encoder(self.model, self.max_tokens, write_splade, "splade")

    @cached_property
    def _query_encoder(self) -> Encoder:
        if not self.query_model:
            return self._encoder
        return load_encoder(self.query_model, self.max_tokens, write_splade, "splade")
