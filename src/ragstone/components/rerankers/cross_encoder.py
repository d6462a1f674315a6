"""Cross-encoders by sentence-transformers: any sequence classifier that scores pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

from ragstone.components.rerankers.query_passage_pairs import Pair, PairReranker, one_score
from ragstone.core.component import IN_CACHE_KEY_IF_SET, NOT_IN_CACHE_KEY
from ragstone.core.environment import require
from ragstone.core.progress import progress
from ragstone.core.registry import locate
from ragstone.models.locate import (
    FROM_FILES,
    SENTENCE_TRANSFORMERS,
    WITH_CODE,
    ModelKind,
    find_model,
    weights_digest,
)
from ragstone.models.own_code import pin_code
from ragstone.models.reading import reading_notes
from ragstone.protocols import Services

_AT_ONCE: Final = 2048
"""Pairs per call of the model, which batches them by length."""


@dataclass(frozen=True)
class CrossEncoder(PairReranker):
    """Orders passages by the scores of a model that reads the query and the passage together.

    Scores are the model's logits: a sigmoid would not change the order.

    Args:
        model: a folder as transformers saves it, or a name on the hub, `owner/name`.
        top_k: maximum length of a ranking.
        depth: number of passages of a ranking that are reranked.
        max_tokens: a longer pair is cut here, the longer of its texts first, and counted.
        hub_revision: a commit, tag or branch on the hub.
        dtype: type of the numbers that the model computes with.
        batch: pairs computed together.
        device: a device of torch; by default a GPU if there is one.
        model_code: commit of the hub whose code may run, 40 digits: for a model that needs code of
            its own. The code has all your rights; read it first.
    """

    model: str
    top_k: int = 10
    depth: int = 100
    max_tokens: int = 512
    hub_revision: str = ""
    dtype: Literal["float32", "float16", "bfloat16"] = "float32"
    batch: int = field(default=32, metadata=NOT_IN_CACHE_KEY)
    device: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    model_code: str = field(default="", metadata=IN_CACHE_KEY_IF_SET)
    requires_extra = "st"

    def __post_init__(self) -> None:
        """Check the ranges, and that `model_code` pins code."""
        super().__post_init__()
        pin_code(self, self._name)

    @cached_property
    def content_revision(self) -> str:
        """The digest of the model's files."""
        return weights_digest(self._name, self.hub_revision, self._kind)

    def check(self, services: Services) -> None:
        """Raise if the model, or the package that runs it, is missing."""
        require("the reranker 'cross-encoder'", self.requires_extra, "sentence_transformers")
        find_model(self._name, self.hub_revision, self._kind)

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return a note if the model cannot read the queries or the passages."""
        tokenizer = find_model(self._name, self.hub_revision, self._kind)
        tokenizer /= "tokenizer.json"
        return reading_notes(self.model, tokenizer, dataset) if tokenizer.is_file() else ()

    def score(self, pairs: Sequence[Pair]) -> tuple[list[float], int]:
        """Return one score per (query, passage), in order, and the number of cut pairs."""
        import torch

        found: list[float] = []
        cut = 0
        with progress("Reranking pairs", len(pairs)) as bar:
            for start in range(0, len(pairs), _AT_ONCE):
                part = list(pairs[start : start + _AT_ONCE])
                logits = self._loaded.predict(
                    part,
                    batch_size=self.batch,
                    activation_fn=torch.nn.Identity(),
                    show_progress_bar=False,
                    convert_to_numpy=True,
                )
                outputs = np.asarray(logits, dtype=np.float64).reshape(len(part), -1)
                found += one_score(outputs, self.model).tolist()
                cut += self._cut(part)
                bar.advance(len(part))
        return found, cut

    def _cut(self, pairs: Sequence[Pair]) -> int:
        """Return the number of pairs that are longer than `max_tokens`."""
        queries, passages = zip(*pairs, strict=True)
        whole = self._loaded.tokenizer(
            list(queries), list(passages), truncation=False, padding=False, verbose=False
        )
        return sum(len(ids) > self.max_tokens for ids in whole["input_ids"])

    @cached_property
    def _loaded(self) -> Any:
        require("the reranker 'cross-encoder'", self.requires_extra, "sentence_transformers")
        import sentence_transformers

        folder = find_model(self._name, self.hub_revision, self._kind)
        return sentence_transformers.CrossEncoder(
            str(folder),
            max_length=self.max_tokens,
            device=self.device or None,
            **(WITH_CODE if self.model_code else FROM_FILES),
            model_kwargs={"use_safetensors": True, "dtype": self.dtype},
        )

    @property
    def _kind(self) -> ModelKind:
        """The files that are read; with `model_code`, those of code too."""
        return SENTENCE_TRANSFORMERS.with_code(self.model_code)

    @cached_property
    def _name(self) -> str:
        """The model's folder, looked for beside the experiment file first, or its name."""
        beside = locate(Path(self.model).expanduser())
        return str(beside) if beside.is_dir() else self.model
