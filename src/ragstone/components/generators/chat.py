"""A model behind a chat endpoint: vLLM, llama.cpp, Ollama, or a hosted service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.calls.types import Endpoint
from ragstone.calls.wire_formats import format_for
from ragstone.components.generators.llm_base import SamplingGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY


@dataclass(frozen=True)
class Chat(SamplingGenerator):
    """Answers with a model behind an OpenAI-style or Anthropic-style endpoint.

    Sampling, prompts and budget: see `LlmGenerator` and `SamplingGenerator`.

    Args:
        model: name of the model on the server.
        base_url: address up to `/v1`; several, separated by spaces, are a pool of equal servers.
        api_key_env: environment variable that contains the key.
        protocol: `openai` or `anthropic`.
        identity: name of the model in cache keys; by default protocol, model and host, without
            the port, so that a server may move to another port.
        extra: further fields of a request, by the server's names.
        concurrency: maximum number of parallel calls; None adapts it to the server.
    """

    model: str
    base_url: str = field(default="http://localhost:8000/v1", metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    protocol: str = "openai"
    identity: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    extra: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)

    def __post_init__(self) -> None:
        """Raise `ConfigError` if a template, the address or the protocol is wrong."""
        super().__post_init__()
        format_for(self.endpoint)

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model and its addresses."""
        return Endpoint(
            self.model,
            tuple(self.base_url.split()),
            api_key_env=self.api_key_env,
            protocol=self.protocol,
            identity=self.identity,
            concurrency=self.concurrency,
        )
