"""The base of embedders that run a BERT on ONNX Runtime: no torch, one text at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from ragstone.core.builtins import name_of
from ragstone.models.files import model_file
from ragstone.models.onnx_encoder import Encoder, check_ranges, check_runnable, digest_of
from ragstone.models.reading import reading_notes
from ragstone.protocols import Embedder, Services


class OnnxEmbedder(Embedder):
    """An embedder by a model on ONNX Runtime; its fields are declared by each embedder."""

    model: str
    max_tokens: int
    threads: int | None
    requires_extra = "local"
    needs_model = True
    texts_per_call = 256

    def __post_init__(self) -> None:
        """Check the ranges."""
        check_ranges(self.max_tokens, self.threads)

    @cached_property
    def content_revision(self) -> str | list[str]:
        """The digest of the model's files."""
        return digest_of(self.model)

    def check(self, services: Services) -> None:
        """Raise if a file of the model, or a package that runs it, is missing or damaged."""
        check_runnable(self.model, name_of(type(self)).partition("/")[2])

    def data_notes(self, dataset: Any) -> Iterable[str]:
        """Return a note if the encoder cannot read the queries or the passages."""
        return reading_notes(self.model, model_file(self.model, "tokenizer"), dataset)


def load_encoder(
    model: str, max_tokens: int, write: Callable[..., bytes], embedder: str
) -> Encoder:
    """Return an encoder; `write` makes its graph from the weights, `heads` and `epsilon`."""

    def graph_of(weights: Mapping[str, Any], config: Mapping[str, Any]) -> bytes:
        heads, epsilon = config["num_attention_heads"], config["layer_norm_eps"]
        return write(weights, heads=heads, epsilon=epsilon)

    return Encoder.load(model, max_tokens, graph_of, embedder)
