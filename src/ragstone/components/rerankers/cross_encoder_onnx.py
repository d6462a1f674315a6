"""Cross-encoders as ONNX graphs: no torch, one pair at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.components.rerankers.query_passage_pairs import Pair, PairReranker, one_score
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.progress import track
from ragstone.core.resources import available_cpus
from ragstone.models.onnx_folder import OnnxFolder
from ragstone.models.reading import reading_notes
from ragstone.protocols import Services


@dataclass(frozen=True)
class CrossEncoderOnnx(PairReranker):
    """Orders passages by the scores of a model that reads the query and the passage together.

    A pair is computed alone, never in a batch, so that its score depends on no other pair.

    Args:
        model: a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.
        top_k: maximum length of a ranking.
        depth: number of passages of a ranking that are reranked.
        max_tokens: a longer pair is cut here, the longer of its texts first, and counted.
        threads: pairs computed at a time; by default the number of cores.
    """

    model: str
    top_k: int = 10
    depth: int = 100
    max_tokens: int = 512
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "local"
    sizes = ("top_k", "max_tokens", "threads")

    def __post_init__(self) -> None:
        """Check the ranges."""
        super().__post_init__()
        _ = self._model

    @cached_property
    def content_revision(self) -> str:
        """The digest of the model's files."""
        return self._model.digest

    def check(self, services: Services) -> None:
        """Raise if a file of the model, or a package that runs it, is missing."""
        self._model.check("the reranker 'cross-encoder-onnx'")

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return a note if the encoder cannot read the queries or the passages."""
        return reading_notes(self.model, self._model.files[1], dataset)

    def score(self, pairs: Sequence[Pair]) -> tuple[list[float], int]:
        """Return one score per (query, passage), in order, and the number of cut pairs."""
        self._model.load()
        with ThreadPoolExecutor(self.threads or available_cpus()) as pool:
            done = pool.map(self._score, pairs)
            found = list(track(done, "Reranking pairs", len(pairs)))
        return [score for score, _ in found], sum(cut for _, cut in found)

    def _score(self, pair: Pair) -> tuple[float, bool]:
        logits, cut = self._model.run(*pair)
        return float(one_score(logits, self.model)[0]), cut

    @cached_property
    def _model(self) -> OnnxFolder:
        return OnnxFolder.beside(self.model, self.max_tokens, "cross-encoder")
