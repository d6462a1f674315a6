"""Any sparse encoder that sentence-transformers runs: SPLADE of every kind, routers included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ragstone.core.vectors import SparseVectors
from ragstone.models.sentence_transformers import StModel


@dataclass(frozen=True)
class SentenceTransformersSparse(StModel):
    """Weights of words by sentence-transformers' `SparseEncoder`.

    A model with a part of its own for queries (a router, inference-free SPLADE) uses it.

    Args:
        model: a folder, or a name of the hub, `owner/name`.
        max_tokens: a longer text is cut here, and counted; the model's own limit by default.
        query_prefix: put before each query.
        passage_prefix: put before each passage.
        dtype: of the numbers the model computes with.
        hub_revision: a commit, tag or branch of the hub.
        batch: texts computed together.
        device: where, as torch names it; a GPU where there is one by default.
    """

    version: ClassVar[int] = 1
    name: ClassVar[str] = "sentence-transformers-sparse"

    def encode_queries(self, texts: Sequence[str]) -> SparseVectors:
        """Return one row per text: words are numbers of the model's vocabulary."""
        return self._encode("encode_query", [self.query_prefix + t for t in texts], "queries")

    def encode_passages(self, texts: Sequence[str]) -> SparseVectors:
        """Return one row per text: words are numbers of the model's vocabulary."""
        return self._encode("encode_document", [self.passage_prefix + t for t in texts], "passages")

    def _encode(self, way: str, texts: Sequence[str], what: str) -> SparseVectors:
        if not texts:
            return SparseVectors.of_parts([], [])
        self.note_cut(self._loaded, texts, what)
        rows = getattr(self._loaded, way)(
            list(texts),
            batch_size=self.batch,
            show_progress_bar=False,
            convert_to_tensor=False,
            convert_to_sparse_tensor=False,
            save_to_cpu=True,
        )
        dense = [np.asarray(row.float(), dtype=np.float32) for row in rows]
        words = [np.flatnonzero(row > 0).astype(np.int32) for row in dense]
        weights = [row[held] for row, held in zip(dense, words, strict=True)]
        return SparseVectors.of_parts(words, weights)

    @cached_property
    def _loaded(self) -> Any:
        return self.load(_make)


def _make(folder: str, **given: Any) -> Any:
    import sentence_transformers

    return sentence_transformers.SparseEncoder(folder, **given)
