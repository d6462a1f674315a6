"""Sparse encoders by sentence-transformers: SPLADE of every kind, routers included."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ragstone.core.component import IN_CACHE_KEY_IF_SET, Outcome
from ragstone.models.sentence_transformers import StModel
from ragstone.protocols import Embedder, Role, Services


@dataclass(frozen=True)
class SentenceTransformersSparse(StModel, Embedder):
    """Weights of terms by sentence-transformers' `SparseEncoder`.

    A model with a separate part for queries (a router, inference-free SPLADE) uses that part.

    Args:
        model: a folder, or a name on the hub, `owner/name`.
        max_tokens: a longer text is cut here, and counted; by default the model's own limit.
        query_prefix: text before each query.
        passage_prefix: text before each passage.
        dtype: type of the numbers that the model computes with.
        hub_revision: a commit, tag or branch on the hub.
        batch: texts computed together.
        device: a device of torch; by default a GPU if there is one.
        model_code: commit of the hub whose code may run, 40 digits: for a model that needs code of
            its own. The code has all your rights; read it first.
    """

    model_code: str = field(default="", metadata=IN_CACHE_KEY_IF_SET)
    name = "sentence-transformers-sparse"
    output = "sparse"
    texts_per_call = 64

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Iterator[Outcome[Any]]:
        """Yield the weights of each text; a term is a number of the model's vocabulary."""
        model = self._loaded
        encode = model.encode_query if role == "query" else model.encode_document
        rows = encode(
            self.prefixed(texts, role, model),
            batch_size=self.batch,
            show_progress_bar=False,
            convert_to_tensor=False,
            convert_to_sparse_tensor=False,
            save_to_cpu=True,
        )
        for row in rows:
            weights = np.asarray(row.float(), dtype=np.float32)
            terms = np.flatnonzero(weights > 0)
            yield Outcome(dict(zip(terms.tolist(), weights[terms].tolist(), strict=True)))

    @cached_property
    def _loaded(self) -> Any:
        self.check(None)
        import sentence_transformers

        return self.load(sentence_transformers.SparseEncoder)
