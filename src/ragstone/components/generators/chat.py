"""A model behind a chat endpoint: vLLM, llama.cpp, Ollama, or a hosted service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from ragstone.calls.client import Calls
from ragstone.calls.types import Endpoint, Sampling
from ragstone.calls.wire_formats import format_for
from ragstone.components.generators.llm_base import Asking
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.prompts import (
    CLOSED_BOOK_SYSTEM,
    CLOSED_BOOK_USER,
    WITH_CONTEXT_SYSTEM,
    WITH_CONTEXT_USER,
)


@dataclass(frozen=True)
class Chat(Asking):
    """Answers with a model behind an OpenAI-style or Anthropic-style endpoint.

    Args:
        model: the model's name as the server knows it.
        base_url: address up to `/v1`; several, separated by blanks, are a pool of equal servers.
        api_key_env: the environment variable that holds the key.
        identity: what the model is called in keys; model and host (without port) by default.
        budget: tokens for history and passages; what does not fit is dropped, and noted.
    """

    model: str
    base_url: str = field(default="http://localhost:8000/v1", metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    protocol: str = "openai"
    identity: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    temperature: float | None = 0.0
    top_p: float | None = None
    max_tokens: int = 256
    seed: int | None = None
    stop: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    system: str = WITH_CONTEXT_SYSTEM
    user: str = WITH_CONTEXT_USER
    closed_book_system: str = CLOSED_BOOK_SYSTEM
    closed_book_user: str = CLOSED_BOOK_USER
    budget: int | None = None
    concurrency: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check templates, address and protocol before anything is run."""
        self.prompts.check()
        format_for(self.endpoint)

    @property
    def revision(self) -> str:
        """The model's identity: an address may change without a reply becoming another."""
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
            extra=self.extra,
        )

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model and where it is."""
        return Endpoint(
            self.model,
            tuple(self.base_url.split()),
            api_key_env=self.api_key_env,
            protocol=self.protocol,
            identity=self.identity,
            concurrency=self.concurrency,
        )

    def check(self, calls: Calls) -> None:
        """Raise unless the key is set and somebody listens at the address."""
        calls.check(self.endpoint)
