"""MiniLM's vectors of single tokens, for late interaction: the bundled encoder before its mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ragstone.components.embedders.minilm import load_minilm
from ragstone.components.embedders.onnx_base import OnnxEmbedder
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.step_notes import ROLES
from ragstone.models.bert_onnx import Precision
from ragstone.models.onnx_encoder import Encoder
from ragstone.protocols import Role, Services


@dataclass(frozen=True)
class MiniLMTokens(OnnxEmbedder):
    """all-MiniLM-L6-v2: one L2-normalised vector per token (384 dimensions).

    The special tokens at both ends have no vector, so a text without a word has none. As in
    `minilm`, a text is computed alone.

    Args:
        model: the bundled model, or a folder with a BERT encoder of the same form.
        precision: `int8` is about three times as fast as `float32`.
        max_tokens: a longer text is cut here, special tokens included.
        threads: texts computed at a time; by default the number of cores.
    """

    model: str = "all-minilm-l6-v2"
    precision: Precision = "int8"
    max_tokens: int = 512
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    output = "tokens"

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield the vectors of each text, of shape (tokens, dimension)."""
        # The first and the last token, [CLS] and [SEP], are not part of the text.
        for states in self._encoder.run_all(texts, "tokens", self.threads, ROLES[role]):
            own = states[1:-1]
            length = np.linalg.norm(own, axis=1, keepdims=True)
            yield Outcome(own / np.maximum(length, np.finfo(np.float32).tiny))

    @cached_property
    def _encoder(self) -> Encoder:
        return load_minilm(self.model, self.precision, self.max_tokens)
