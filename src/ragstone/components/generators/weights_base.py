"""Base of generators that load weights by a library: quantised, and with a limit of tokens."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from ragstone.components.generators.adapted import AdaptedGenerator
from ragstone.components.generators.context_window import fit
from ragstone.components.generators.llm_base import SamplingGenerator
from ragstone.core.component import IN_CACHE_KEY_IF_SET, NOT_IN_CACHE_KEY
from ragstone.errors import ConfigError
from ragstone.models.causal_lm import check_quantization, count_chat_tokens
from ragstone.models.locate import TRANSFORMERS_LM, ModelKind, find_model, weights_digest
from ragstone.models.own_code import pin_code
from ragstone.protocols import Services
from ragstone.types import Task


@dataclass(frozen=True, kw_only=True)
class WeightsGenerator(AdaptedGenerator, SamplingGenerator):
    """A model whose folder a library loads.

    Args:
        hub_revision: commit, tag or branch of the hub.
        quantization: `int4` or `int8` rounds the weights while they are loaded (bitsandbytes). A
            folder of AWQ or GPTQ is loaded as it is.
        max_input_tokens: maximum length of a prompt, by the model's own tokenizer. The oldest
            turns and the last passages are dropped until it fits, as with a budget; a prompt that
            is too long without them is a failed call.
        model_code: commit of the hub whose code may run, 40 digits: for a model that needs code of
            its own. The code has all your rights; read it first.
    """

    hub_revision: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    quantization: Literal["int4", "int8"] | None = field(default=None, metadata=IN_CACHE_KEY_IF_SET)
    max_input_tokens: int | None = field(default=None, metadata=IN_CACHE_KEY_IF_SET)

    model_code: str = field(default="", metadata=IN_CACHE_KEY_IF_SET)

    kind: ClassVar[ModelKind] = TRANSFORMERS_LM

    def __post_init__(self) -> None:
        """Raise `ConfigError` if two parameters limit the prompt, or `model_code` pins no code."""
        super().__post_init__()
        pin_code(self, self.model)
        if self.max_input_tokens is not None and self.budget is not None:
            raise ConfigError(
                "budget and max_input_tokens both limit the prompt; keep one of them", key="budget"
            )

    @property
    def files_kind(self) -> ModelKind:
        """The files that are read; with `model_code`, those of code too."""
        return self.kind.with_code(self.model_code)

    def weights(self) -> str:
        """Return the digest of the model's files; raise if the adapter has another base."""
        digest = weights_digest(self.model, self.hub_revision, self.files_kind)
        if self.found_adapter:
            self.found_adapter.check_base(self.model, digest)
        return digest

    def check(self, services: Services) -> None:
        """Raise if a package or the model is missing, or the adapter has another base."""
        if services.calls.replay_only:
            return
        self.kind.require()
        path = find_model(self.model, self.hub_revision, self.files_kind)
        self.weights()
        if self.quantization:
            check_quantization(path, self.model)

    def fitted(self, task: Task) -> tuple[Task, str]:
        """Return a task whose prompt fits, and the parts that were dropped."""
        if self.max_input_tokens is None:
            return super().fitted(task)
        return fit(task, self.max_input_tokens, self._prompt_tokens)

    def _prompt_tokens(self, task: Task) -> int:
        path = find_model(self.model, self.hub_revision, self.files_kind)
        return count_chat_tokens(
            path, self.model, self.prompt_choice.messages(task), own_code=self.files_kind.own_code
        )

    @property
    def loading(self) -> tuple[Any, ...]:
        """What decides about the model in memory besides its place."""
        found = self.found_adapter
        return self.weights(), self.quantization, self.max_input_tokens, found and found.digest
