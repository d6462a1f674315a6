"""A causal language model run by transformers in this process."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Literal

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Sampling
from ragstone.components.generators.llm_base import Asking
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.prompts import (
    CLOSED_BOOK_SYSTEM,
    CLOSED_BOOK_USER,
    WITH_CONTEXT_SYSTEM,
    WITH_CONTEXT_USER,
)
from ragstone.errors import ConfigError
from ragstone.models.in_process import TextModel, hold, in_process
from ragstone.models.locate import find_model, weights_digest
from ragstone.models.transformers_lm import HfModel, check_installed


@dataclass(frozen=True)
class Hf(Asking):
    """Answers with any causal language model that transformers can load.

    Type, kind of device and whether prompts share a batch change the last digits of the arithmetic,
    and with them now and then an answer: they are part of the model's identity in keys, where the
    size of a batch and the number of a card are not.

    Args:
        model: a bundled model's name, the path of a GGUF file or of a folder, or a hub's name.
        hub_revision: a commit, tag or branch of the hub.
        dtype: of weights and arithmetic; a GGUF file's are unpacked to it.
        device: choose among several cards with CUDA_VISIBLE_DEVICES.
        batch_size: prompts answered together; more than 1 is faster on a GPU.
        temperature: 0 takes the likeliest token.
        budget: tokens for history and passages; what does not fit is dropped, and noted.
    """

    model: str = "smollm2-135m-instruct"
    hub_revision: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    dtype: Literal["float32", "bfloat16", "float16"] = field(
        default="float32", metadata=NOT_IN_CACHE_KEY
    )
    device: Literal["cpu", "cuda", "mps", "xpu"] = field(default="cpu", metadata=NOT_IN_CACHE_KEY)
    batch_size: int = field(default=1, metadata=NOT_IN_CACHE_KEY)
    temperature: float = 0.0
    top_p: float | None = None
    max_tokens: int = 256
    seed: int | None = None
    stop: tuple[str, ...] = ()
    system: str = WITH_CONTEXT_SYSTEM
    user: str = WITH_CONTEXT_USER
    closed_book_system: str = CLOSED_BOOK_SYSTEM
    closed_book_user: str = CLOSED_BOOK_USER
    budget: int | None = None
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check templates and sizes before anything is run."""
        self.prompts.check()
        if self.batch_size < 1 or self.max_tokens < 1:
            raise ConfigError(
                f"batch_size and max_tokens start at 1, found {self.batch_size} and "
                f"{self.max_tokens}"
            )

    @property
    def revision(self) -> str:
        """The model's identity: digest of the weights, type, device, alone or in batches."""
        return self.endpoint.identity

    @cached_property
    def sampling(self) -> Sampling:
        """How replies are drawn."""
        return Sampling(
            temperature=self.temperature,
            top_p=self.top_p,
            max_tokens=self.max_tokens,
            seed=self.seed,
            stop=self.stop,
        )

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model, known by the bytes of its files."""
        digest = weights_digest(self.model, self.hub_revision)
        together = "alone" if self.batch_size == 1 else "batched"
        return Endpoint(
            self.model,
            identity=f"hf:{digest}:{self.dtype}:{self.device}:{together}",
            protocol="transformers",
            client=lambda endpoint, pace: in_process(endpoint, pace, self._load, self.batch_size),
            concurrency=2 * self.batch_size,
        )

    def check(self, calls: Calls) -> None:
        """Raise unless the packages and the model are there."""
        if not calls.replay_only:
            check_installed()
            find_model(self.model, self.hub_revision)

    def _load(self) -> TextModel:
        path = find_model(self.model, self.hub_revision)
        return hold(
            ("hf", str(path.resolve()), self.dtype, self.device),
            lambda: HfModel(path, self.model, self.device, self.dtype),
        )
