"""Any dense encoder that sentence-transformers runs: BERT's kind, and decoders' (E5-Mistral)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from ragstone.models.sentence_transformers import StModel

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(frozen=True)
class SentenceTransformers(StModel):
    """Vectors by sentence-transformers, from a model of its own kind or a plain one and a pooling.

    Args:
        model: a folder, or a name of the hub, `owner/name`.
        max_tokens: a longer text is cut here, and counted; the model's own limit by default.
        query_prefix: put before each query: E5 wants "query: ", E5-Mistral and NV-Embed an
            instruction.
        passage_prefix: put before each passage, as E5's "passage: ".
        dtype: of the numbers the model computes with.
        hub_revision: a commit, tag or branch of the hub.
        pooling: how the vectors of tokens become one, in place of what the model says: `lasttoken`
            for decoders that say nothing (RepLLaMA), `mean`, `cls`, `max`.
        normalise: whether vectors are brought to length 1.
        batch: texts computed together.
        device: where, as torch names it; a GPU where there is one by default.
    """

    pooling: Literal["", "mean", "cls", "max", "lasttoken"] = ""
    normalise: bool = True
    version: ClassVar[int] = 1
    name: ClassVar[str] = "sentence-transformers"
    at_once: ClassVar[int] = 256
    """Texts that are best handed over together: they are put into batches by length."""

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension)."""
        return self._embed([self.query_prefix + text for text in texts], "queries")

    def embed_passages(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return an array of shape (len(texts), dimension)."""
        return self._embed([self.passage_prefix + text for text in texts], "passages")

    def _embed(self, texts: Sequence[str], what: str) -> npt.NDArray[np.float32]:
        if not texts:
            return np.zeros((0, self._loaded.get_embedding_dimension()), dtype=np.float32)
        self.note_cut(self._loaded, texts, what)
        vectors = self._loaded.encode(
            list(texts),
            batch_size=self.batch,
            normalize_embeddings=self.normalise,
            show_progress_bar=False,
            convert_to_tensor=True,
            prompt="",
        )
        found: npt.NDArray[np.float32] = vectors.float().cpu().numpy()
        return found

    @cached_property
    def _loaded(self) -> Any:
        return self.load(self._make)

    def _make(self, folder: str, **given: Any) -> Any:
        import sentence_transformers
        from sentence_transformers.sentence_transformer.modules import Pooling

        loaded = sentence_transformers.SentenceTransformer(folder, **given)
        if not self.pooling and (Path(folder) / "modules.json").is_file():
            return loaded
        pooling = Pooling(loaded[0].get_embedding_dimension(), pooling_mode=self.pooling or "mean")
        return sentence_transformers.SentenceTransformer(
            modules=[loaded[0], pooling], device=given["device"]
        )
