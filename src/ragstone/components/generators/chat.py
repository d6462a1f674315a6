"""A model behind a chat endpoint: vLLM, llama.cpp, Ollama, or a hosted service."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.calls.batch_client import check_batch
from ragstone.calls.identity import model_identity
from ragstone.calls.types import Endpoint, Request
from ragstone.calls.wire_formats import format_for
from ragstone.components.generators.llm_base import SamplingGenerator
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.environment import references_in
from ragstone.errors import ConfigError


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
        reasoning_effort: how much the model reasons before it answers, in the server's words, such
            as `low`; None does not send it.
        thinking_budget: maximum tokens of reasoning, besides the `max_tokens` of the answer; None
            does not send it.
        thinking_field: field of an OpenAI-style request with the thinking budget; a dot separates
            nested names; if empty, vLLM's `thinking_token_budget`.
        show: names of the query parameters of `base_url` whose values a record shows.
        batch: whether calls go through the server's batch endpoint, which may take a day and
            usually costs less.
    """

    model: str
    base_url: str = field(default="http://localhost:8000/v1", metadata=NOT_IN_CACHE_KEY)
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    protocol: str = "openai"
    identity: str | list[str] = field(default="", metadata=NOT_IN_CACHE_KEY)
    extra: Mapping[str, Any] = field(default_factory=dict)
    concurrency: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    # The revision has these parameters if they are set: without them, keys are as they were.
    reasoning_effort: str | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    thinking_budget: int | None = field(default=None, metadata=NOT_IN_CACHE_KEY)
    thinking_field: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    show: list[str] = field(default_factory=list, metadata=NOT_IN_CACHE_KEY)
    batch: bool = field(default=False, metadata=NOT_IN_CACHE_KEY)
    sizes = ("max_tokens", "thinking_budget")

    def __post_init__(self) -> None:
        """Raise `ConfigError` if a template, the address, the protocol or a parameter is wrong."""
        super().__post_init__()
        for name in ("reasoning_effort", "thinking_field"):
            text = getattr(self, name)
            if text and not all(part.strip() == part != "" for part in text.split(".")):
                raise ConfigError(f"{name} must be a name, found {text!r}", key=name, value=text)
        if self.reasoning_effort == "":
            raise ConfigError(
                "reasoning_effort is empty; leave it out, or write null, to send none",
                key="reasoning_effort",
            )
        if self.thinking_field and self.thinking_budget is None:
            raise ConfigError(
                "thinking_field names the field of a thinking_budget, and there is none",
                key="thinking_field",
            )
        if self.batch:
            check_batch(self.endpoint)
        # The body shows whether the protocol supports the parameters.
        format_for(self.endpoint).body(self.model, Request((), self.sampling))

    @property
    def content_revision(self) -> Any:
        """The identity of the model, with the parameters of its reasoning if they are set."""
        names = ("reasoning_effort", "thinking_budget", "thinking_field")
        given = {name: getattr(self, name) for name in names if getattr(self, name)}
        return {"model": self.endpoint.identity, **given} if given else self.endpoint.identity

    @cached_property
    def endpoint(self) -> Endpoint:
        """The model and its addresses."""
        urls = tuple(self.base_url.split())
        references = references_in([self.model, self.base_url, self.extra])
        identity = model_identity(
            self.protocol, self.model, urls, references, self.identity, where="chat"
        )
        return Endpoint(
            self.model,
            urls,
            api_key_env=self.api_key_env,
            protocol=self.protocol,
            identity=self.versioned(identity),
            references=references,
            concurrency=self.concurrency,
            batch=self.batch,
        )
