"""MiniLM's vectors of single tokens, for late interaction: the bundled encoder before its mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

import numpy as np

from ragstone.components.embedders.minilm import load_minilm
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.vectors import TokenVectors
from ragstone.models.bert_onnx import Precision
from ragstone.models.onnx_encoder import Encoder, check_ranges, check_runnable, digest_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls.client import Calls

    Matrix: TypeAlias = npt.NDArray[np.float32]

_MARKS: Final = 1
"""Marks at each end of a text, [CLS] and [SEP]."""


@dataclass(frozen=True)
class MiniLMTokens:
    """all-MiniLM-L6-v2: one vector of length 1 for each token of a text (384 dimensions).

    The marks that begin and end every text are left out, and a text without a word has no vector.
    As in `minilm`, a text is computed alone.

    Args:
        model: the bundled model, or a folder with a BERT encoder of the same form.
        precision: of the network; `int8` is about three times as fast as `float32`.
        max_tokens: a longer text is cut here, marks included.
        threads: texts computed at a time; as many as there are cores by default.
    """

    model: str = "all-minilm-l6-v2"
    precision: Precision = "int8"
    max_tokens: int = 512
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
        check_runnable(self.model, "minilm-tokens")

    def query_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each query's tokens, of length 1."""
        return self._embed(texts, "queries")

    def passage_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each passage's tokens, of length 1."""
        return self._embed(texts, "passages")

    def _embed(self, texts: Sequence[str], what: str) -> TokenVectors:
        found = self._encoder.run_all(texts, "tokens", self.threads, what) if texts else []
        rows = [_unit(states[_MARKS : len(states) - _MARKS]) for states in found]
        return TokenVectors.of(rows, self._encoder.config["hidden_size"])

    @cached_property
    def _encoder(self) -> Encoder:
        return load_minilm(self.model, self.precision, self.max_tokens)


def _unit(states: Matrix) -> Matrix:
    length = np.linalg.norm(states, axis=1, keepdims=True)
    rows: Matrix = states / np.maximum(length, np.finfo(np.float32).tiny)
    return rows
