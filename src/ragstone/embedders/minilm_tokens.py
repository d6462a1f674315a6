"""MiniLM's vectors of single tokens, for late interaction: the bundled encoder before its mean."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

import numpy as np

from ragstone.cores import usable_cores
from ragstone.embedders.bert_onnx import Precision
from ragstone.embedders.minilm import Encoder, MiniLM, check_runnable
from ragstone.embedders.token_vectors import TokenVectors
from ragstone.notes import note
from ragstone.protocols import NOT_IN_KEY

if TYPE_CHECKING:
    import numpy.typing as npt

    from ragstone.calls import Calls

    Matrix: TypeAlias = npt.NDArray[np.float32]

_MARKS: Final = 1
"""Marks at each end of a text, [CLS] and [SEP]."""


@dataclass(frozen=True)
class MiniLMTokens:
    """all-MiniLM-L6-v2: one vector of length 1 for each token of a text (384 dimensions).

    The marks that begin and end every text are left out: on nq_singlehop they made late interaction
    worse. A text without a word has no vector. As in `minilm`, a text is computed alone.

    Args:
        model: the bundled model, or a folder with a BERT encoder of the same form.
        precision: of the network; `int8` is about three times as fast as `float32`.
        max_tokens: a longer text is cut here, marks included.
        threads: texts computed at a time; as many as there are cores by default.
    """

    model: str = "all-minilm-l6-v2"
    precision: Precision = "int8"
    max_tokens: int = 512
    threads: int | None = field(default=None, metadata=NOT_IN_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges."""
        _ = self._whole

    @cached_property
    def revision(self) -> str:
        """Digest of the model's files."""
        return self._whole.revision

    def check(self, calls: Calls) -> None:
        """Raise unless the model's files are there and right, and the packages that run it."""
        check_runnable(self.model)

    def query_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each query's tokens; queries that are cut are noted."""
        found = self.passage_tokens(texts)
        note(f"queries cut to {self.max_tokens} tokens", found.cut)
        return found

    def passage_tokens(self, texts: Sequence[str]) -> TokenVectors:
        """Return the vectors of each passage's tokens."""
        if not texts:
            return TokenVectors.of([], self._encoder.dimension)
        with ThreadPoolExecutor(self.threads or usable_cores()) as pool:
            found = list(pool.map(self._tokens, texts))
        rows, cut = zip(*found, strict=True)
        return TokenVectors.of(rows, self._encoder.dimension, sum(cut))

    def _tokens(self, text: str) -> tuple[Matrix, bool]:
        """Return a text's vectors, and whether it was cut."""
        encoder = self._encoder
        encoded = encoder.tokenizer.encode(text)
        ids = np.array(encoded.ids, dtype=np.int64)
        (found,) = encoder.session.run(["tokens"], {"ids": ids})
        rows: Matrix = found[_MARKS : len(found) - _MARKS]
        length = np.linalg.norm(rows, axis=1, keepdims=True)
        return rows / np.maximum(length, np.finfo(np.float32).tiny), bool(encoded.overflowing)

    @cached_property
    def _whole(self) -> MiniLM:
        """The same model's embedder of whole texts, which checks the same fields."""
        return MiniLM(self.model, self.precision, self.max_tokens, threads=self.threads)

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder.load(self.model, self.precision, self.max_tokens)
