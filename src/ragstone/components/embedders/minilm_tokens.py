"""MiniLM's vectors of single tokens, for late interaction: the bundled encoder before its mean."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ragstone.components.embedders.minilm import load_minilm
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.step_notes import ROLES
from ragstone.models.bert_onnx import Precision
from ragstone.models.onnx_encoder import Encoder, check_ranges, check_runnable, digest_of
from ragstone.protocols import Embedder, Role, Services

if TYPE_CHECKING:
    from ragstone.models.bert_onnx import Matrix


@dataclass(frozen=True)
class MiniLMTokens(Embedder):
    """all-MiniLM-L6-v2: one L2-normalised vector per token (384 dimensions).

    The marks at both ends of a text have no vector, so a text without a word has none. As in
    `minilm`, a text is computed alone.

    Args:
        model: the bundled model, or a folder with a BERT encoder of the same form.
        precision: `int8` is about three times as fast as `float32`.
        max_tokens: a longer text is cut here, marks included.
        threads: texts computed at a time; by default the number of cores.
    """

    model: str = "all-minilm-l6-v2"
    precision: Precision = "int8"
    max_tokens: int = 512
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    output = "tokens"
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
        check_runnable(self.model, "minilm-tokens")

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield the vectors of each text, of shape (tokens, dimension)."""
        # [CLS] and [SEP], the first and the last token, are no tokens of the text.
        for states in self._encoder.run_all(texts, "tokens", self.threads, ROLES[role]):
            yield Outcome(_unit(states[1:-1]))

    @cached_property
    def _encoder(self) -> Encoder:
        return load_minilm(self.model, self.precision, self.max_tokens)


def _unit(states: Matrix) -> Matrix:
    length = np.linalg.norm(states, axis=1, keepdims=True)
    rows: Matrix = states / np.maximum(length, np.finfo(np.float32).tiny)
    return rows
