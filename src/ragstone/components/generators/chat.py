"""A model behind a chat endpoint: vLLM, llama.cpp, Ollama, or a hosted service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.calls.identity import model_identity
from ragstone.calls.types import Endpoint
from ragstone.calls.wire_formats import format_for
from ragstone.components.generators.llm_base import SamplingGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.environment import variables_in


@dataclass(frozen=True)
class Chat(SamplingGenerator):
    """Answers with a model behind an OpenAI-style or Anthropic-style endpoint.

    Sampling, prompts and budget: see `LlmGenerator` and `SamplingGenerator`.

    Args:
        model: name of the model on the server.
        base_url: address up to `/v1`; several, separated by spaces, are a pool of equal servers.
        api_key_env: environment variable that contains the key.
        protocol: `openai` or `anthropic`.
        identity: the parts that distinguish this model from others: by default protocol, model
            and whole addresses; a text is a name in their place (docs/identity.md).
        extra: further fields of a request, by the server's names.
        concurrency: maximum number of parallel calls; None adapts it to the server.
    """

    model: str
    base_url: str = field(default="http://localhost:8000/v1", metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    protocol: str = "openai"
    identity: str | list[str] = field(default="", metadata=NOT_IN_CACHE_KEY)
    extra: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)

    def __post_init__(self) -> None:
        """Raise `ConfigError` if a template, the address or the protocol is wrong."""
        super().__post_init__()
        format_for(self.endpoint)

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model and its addresses."""
        urls = tuple(self.base_url.split())
        variables = variables_in([self.model, self.base_url, self.extra])
        identity = model_identity(
            self.protocol, self.model, urls, variables, self.identity, where="chat"
        )
        return Endpoint(
            self.model,
            urls,
            api_key_env=self.api_key_env,
            protocol=self.protocol,
            identity=self.versioned(identity),
            variables=variables,
            concurrency=self.concurrency,
        )
