"""Dense encoders by sentence-transformers: BERT-like ones, and decoders such as E5-Mistral."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from ragstone.components.embedders.two_encoders import TwoEncoders
from ragstone.core.component import IN_CACHE_KEY_IF_SET, Outcome
from ragstone.models.sentence_transformers import StModel
from ragstone.protocols import Role, Services


@dataclass(frozen=True)
class SentenceTransformers(TwoEncoders, StModel):
    """Vectors by sentence-transformers, from a model in its own format or from a plain one.

    Args:
        model: a folder, or a name on the hub, `owner/name`.
        max_tokens: a longer text is cut here, and counted; by default the model's own limit.
        query_prefix: text before each query: E5 requires "query: ", E5-Mistral and NV-Embed an
            instruction.
        passage_prefix: text before each passage, such as E5's "passage: ".
        dtype: type of the numbers that the model computes with.
        hub_revision: a commit, tag or branch on the hub.
        pooling: how the vectors of tokens become one, if not as the model's files define:
            `lasttoken` for decoders without a definition (RepLLaMA), `mean`, `cls`, `max`.
        normalise: whether vectors are L2-normalised.
        batch: texts computed together.
        device: a device of torch; by default a GPU if there is one.
        query_model: a separate encoder for queries, if there is one (DRAGON+, DPR).
        model_code: commit of the hub whose code may run, 40 digits: for a model that needs code of
            its own. The code has all your rights; read it first.
    """

    pooling: Literal["", "mean", "cls", "max", "lasttoken"] = ""
    normalise: bool = True
    query_model: str = field(default="", metadata=IN_CACHE_KEY_IF_SET)
    model_code: str = field(default="", metadata=IN_CACHE_KEY_IF_SET)
    name = "sentence-transformers"
    texts_per_call = 256

    def own_revision(self) -> str:
        """Return the digest of the model's files."""
        return self.digest()

    def own_check(self, services: Services) -> None:
        """Raise if the model, or the package that runs it, is missing."""
        StModel.check(self, services)

    def own_notes(self, dataset: Any) -> Iterator[str]:
        """Yield a note if the encoder cannot read the queries or the passages."""
        yield from StModel.data_notes(self, dataset)

    def query_fields(self) -> dict[str, Any]:
        """Return the fields in which the encoder of queries differs.

        Its revision is the newest, and none of its code is allowed.
        """
        return super().query_fields() | {"hub_revision": "", "model_code": ""}

    def own_embed(
        self, texts: Sequence[str], role: Role, services: Services
    ) -> Iterable[Outcome[Any]]:
        """Return one vector per text."""
        vectors = self._loaded.encode(
            self.prefixed(texts, role, self._loaded),
            batch_size=self.batch,
            normalize_embeddings=self.normalise,
            show_progress_bar=False,
            convert_to_tensor=True,
            prompt="",
        )
        return map(Outcome, vectors.float().cpu().numpy())

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
