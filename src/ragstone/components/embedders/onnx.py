"""Dense encoders as ONNX graphs: multilingual-e5, LaBSE, BGE-M3 and others without torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np

from ragstone.components.embedders.two_encoders import TwoEncoders
from ragstone.core.component import IN_CACHE_KEY_IF_SET, NOT_IN_CACHE_KEY, Outcome
from ragstone.core.resources import available_cpus
from ragstone.core.step_notes import ROLES, add_note
from ragstone.errors import ConfigError, did_you_mean
from ragstone.models.onnx_folder import OnnxFolder
from ragstone.models.reading import reading_notes
from ragstone.protocols import Role, Services

if TYPE_CHECKING:
    import numpy.typing as npt

    Matrix: TypeAlias = npt.NDArray[np.float32]

_TOKEN_AXES: Final = 3
"""Axes of an output with one vector per token: batch, token, dimension."""
_POOLED_AXES: Final = 2
_POOLINGS: Final = ("mean", "cls", "lasttoken")


@dataclass(frozen=True)
class OnnxDense(TwoEncoders):
    """Vectors by a graph in ONNX, without torch; a text is computed alone.

    Args:
        model: a folder with `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`.
        max_tokens: a longer text is cut here, and counted.
        query_prefix: text before each query, such as E5's "query: ".
        passage_prefix: text before each passage, such as E5's "passage: ".
        pooling: how the vectors of tokens become one (`mean`, `cls`, `lasttoken`), or the name of
            an output of the graph that is one vector per text, such as `sentence_embedding`.
        normalise: whether vectors are L2-normalised.
        query_model: the folder of a separate encoder for queries, if there is one (DRAGON+, DPR).
        threads: texts computed at a time; by default the number of cores.
    """

    model: str
    max_tokens: int = 512
    query_prefix: str = ""
    passage_prefix: str = ""
    pooling: str = "mean"
    normalise: bool = True
    query_model: str = field(default="", metadata=IN_CACHE_KEY_IF_SET)
    threads: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "local"
    needs_model = True
    texts_per_call = 256
    sizes = ("max_tokens", "threads")

    def __post_init__(self) -> None:
        """Check the ranges, and find the folders."""
        super().__post_init__()
        _ = self._folder

    def own_revision(self) -> str:
        """Return the digest of the model's files."""
        return self._folder.digest

    def own_check(self, services: Services) -> None:
        """Raise if a file or a package is missing, or if the graph has no such output."""
        self._folder.check("the embedder 'onnx'")
        self._folder.load()
        _ = self._output

    def own_notes(self, dataset: Any) -> Iterator[str]:
        """Yield a note if the encoder cannot read the queries or the passages."""
        yield from reading_notes(self.model, self._folder.files[1], dataset)

    def own_embed(
        self, texts: Sequence[str], role: Role, services: Services
    ) -> Iterable[Outcome[Any]]:
        """Return one vector per text."""
        self._folder.load()
        prefix = self.query_prefix if role == "query" else self.passage_prefix
        with ThreadPoolExecutor(self.threads or available_cpus()) as pool:
            found = list(pool.map(self._vector, [prefix + text for text in texts]))
        add_note(f"{ROLES[role]} cut to {self.max_tokens} tokens", sum(cut for _, cut in found))
        return [Outcome(vector) for vector, _ in found]

    def _vector(self, text: str) -> tuple[Matrix, bool]:
        found, cut = self._folder.run(text, output=self._output)
        state: Matrix = np.asarray(found[0], dtype=np.float32)
        if self.pooling == "mean":
            state = state.mean(axis=0)
        elif self.pooling in _POOLINGS:
            state = state[0 if self.pooling == "cls" else -1]
        if not self.normalise:
            return state, cut
        return state / np.maximum(np.linalg.norm(state), np.finfo(np.float32).tiny), cut

    @cached_property
    def _folder(self) -> OnnxFolder:
        return OnnxFolder.beside(self.model, self.max_tokens, "encoder")

    @cached_property
    def _output(self) -> str:
        """The output that is pooled, or that is already one vector per text."""
        outputs = self._folder.outputs
        per_token = [name for name, axes in outputs.items() if axes == _TOKEN_AXES]
        pooled = [name for name, axes in outputs.items() if axes == _POOLED_AXES]
        if self.pooling in _POOLINGS and per_token:
            return per_token[0]
        if self.pooling in pooled:
            return self.pooling
        known = [*_POOLINGS, *pooled] if per_token else pooled
        raise ConfigError(
            f"the graph {self._folder.files[0]} has no vectors for pooling={self.pooling!r}"
            f"{did_you_mean(self.pooling, known)}; with this graph it is one of: "
            f"{', '.join(known) or 'none'}"
        )
