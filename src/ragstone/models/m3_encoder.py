"""BGE-M3 (Chen and others, 2024): one encoder with a dense, a sparse and a multi-vector output.

The encoder is an XLM-RoBERTa; the sparse and the multi-vector output are a linear layer each, in
files of their own beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, Final

from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.errors import ConfigError
from ragstone.models.linear_file import linear_file, read_linear
from ragstone.models.locate import ENCODER, ModelKind
from ragstone.models.sentence_transformers import Dtype, StModel
from ragstone.models.text_classifier import load_encoder

_MARKS: Final = 2
"""Positions that XLM-RoBERTa numbers and gives to no token."""


@dataclass(frozen=True)
class M3Encoder(StModel):
    """The fields of the three embedders, and the states of a text's tokens."""

    model: str = "BAAI/bge-m3"
    max_tokens: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    dtype: Dtype = "float32"
    hub_revision: str = ""
    batch: int = field(default=8, metadata=NOT_IN_CACHE_KEY)
    device: str = field(default="", metadata=NOT_IN_CACHE_KEY)

    head: ClassVar[str] = ""
    """The linear layer of the output; "" if it needs none."""
    kind: ClassVar[ModelKind] = replace(
        ENCODER,
        purpose="BGE-M3",
        settings=(*ENCODER.settings, *(f"{n}_linear.*" for n in ("sparse", "colbert"))),
    )
    read: ClassVar[tuple[str, ...]] = (*kind.settings, *kind.weights)
    requires_extra = "hf"

    def check(self, services: Any) -> None:
        """Raise if the model, a layer of it, or a package that runs it is missing."""
        super().check(services)
        if self.head:
            linear_file(self._folder(), self.head)

    def outputs(
        self, texts: Sequence[str], role: str, finish: Callable[[Sequence[int], Any], Any]
    ) -> list[Any]:
        """Return for each text what `finish` makes of its tokens and their states, marks included.

        Texts of similar length are computed together; `finish` sees no padding.
        """
        import torch

        loaded = self.encoder
        prefixed = self.prefixed(texts, role, loaded)
        found: dict[int, Any] = {}
        order = sorted(range(len(prefixed)), key=lambda place: len(prefixed[place]))
        for start in range(0, len(order), self.batch):
            part = order[start : start + self.batch]
            given = loaded.tokenizer(
                [prefixed[place] for place in part],
                truncation=True,
                max_length=loaded.max_seq_length,
                padding=True,
                return_tensors="pt",
            ).to(loaded.net.device)
            with torch.inference_mode():
                states = loaded.net(**given).last_hidden_state
                for place, ids, mask, rows in zip(
                    part, given["input_ids"], given["attention_mask"], states, strict=True
                ):
                    kept = mask.bool()
                    found[place] = finish(ids[kept].tolist(), rows[kept])
        return [found[place] for place in range(len(prefixed))]

    @cached_property
    def encoder(self) -> Any:
        """The tokenizer, the network and the longest input."""
        import torch

        self._check_package()
        device = self.device or ("cuda" if torch.cuda.is_available() else "cpu")
        tokenizer, net = load_encoder(self._folder(), device)
        most = net.config.max_position_embeddings - _MARKS
        if self.max_tokens is not None and self.max_tokens > most:
            raise ConfigError(
                f"max_tokens is {self.max_tokens}, but the model {self.model!r} reads {most}"
            )
        limit = self.max_tokens or min(tokenizer.model_max_length, most)
        net = net.to(getattr(torch, self.dtype)).eval()
        return SimpleNamespace(tokenizer=tokenizer, net=net, max_seq_length=limit)

    @cached_property
    def layer(self) -> Any:
        """The linear layer of the output."""
        import torch

        net = self.encoder.net
        weight, bias = read_linear(Path(self._folder()), self.head)
        layer = torch.nn.Linear(weight.shape[1], weight.shape[0])
        layer.load_state_dict({"weight": torch.tensor(weight), "bias": torch.tensor(bias)})
        return layer.to(net.device, net.dtype).eval()
