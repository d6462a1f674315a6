"""The language models that components call, each described by the spec of a generator.

`LlmComponent` is the base of components with one model; judges may have several.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from ragstone.calls.types import Endpoint, Failure, Outcome, Reply, Request, Sampling
from ragstone.components.generators.llm_base import LlmGenerator
from ragstone.components.judges.reply_parsing import Unreadable, spoken
from ragstone.core.builtins import name_of
from ragstone.core.component import Component
from ragstone.core.prompts import Prompt
from ragstone.core.registry import create
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.types import ChatMessage

T = TypeVar("T")


@dataclass(frozen=True)
class LlmBackend:
    """A model and its sampling parameters."""

    generator: LlmGenerator
    sampling: Sampling

    @property
    def endpoint(self) -> Endpoint:
        """The model and its address."""
        return self.generator.endpoint

    @property
    def identity(self) -> Mapping[str, str]:
        """The model, without its address, and the sampling: its part of a cache key."""
        return {"model": self.endpoint.identity, "sampling": self.sampling.canonical.decode()}

    def with_sampling(self, **changes: Any) -> LlmBackend:
        """Return the same model with some sampling parameters replaced."""
        return replace(self, sampling=replace(self.sampling, **changes))

    def ask(
        self, requests: Sequence[Request], services: Services, *, title: str
    ) -> Iterator[Outcome]:
        """Yield a reply or a failure per request, in order."""
        return services.calls.ask(self.endpoint, requests, title=title)


def resolve_llm(written: object, *, where: str = "model") -> LlmBackend:
    """Return the model that `written` describes; raise `ConfigError` if it is not one."""
    made = create("generators", written, where=f"{where}, model")
    if not isinstance(made, LlmGenerator):
        raise ConfigError(
            f"{where}: {type(made).__name__} is not a language model; use local, or "
            "{name: chat, model: ...}"
        )
    return LlmBackend(made, made.sampling)


def read_reply(reply: Outcome, read: Callable[[Reply], T]) -> T | Unreadable | Failure:
    """Return the result of `read` for a reply, or the failure of the call or of `read`."""
    try:
        return reply if isinstance(reply, Failure) else read(reply)
    except Unreadable as error:
        return error


def read_text(reply: Outcome, read: Callable[[str], str]) -> tuple[str, str]:
    """Return the result of `read` for a reply without its thinking, and why it is "", or ""."""
    text = read_reply(reply, lambda one: read(spoken(one.text)))
    if isinstance(text, str):
        return text, "" if text else "the model wrote nothing"
    return "", text.reason if isinstance(text, Failure) else str(text)


class LlmComponent(Component):
    """A component with a field `model`: the model is resolved, checked and part of the cache key.

    Derive from this class and from a protocol. Each component declares the fields itself, because
    their order differs.
    """

    model: ComponentSpec
    max_tokens: int | None
    system: str
    user: str

    variables: ClassVar[frozenset[str]]
    """Variables that the templates must use."""
    optional_variables: ClassVar[frozenset[str]] = frozenset()
    needs_model = True
    sizes: ClassVar[tuple[str, ...]] = ("max_tokens",)

    def __post_init__(self) -> None:
        """Check the fields, and resolve the model while the experiment file's folder is known."""
        super().__post_init__()
        _ = self.model_as_written, self.prompt

    @cached_property
    def model_as_written(self) -> LlmBackend:
        """The model with its own sampling."""
        return resolve_llm(self.model, where=self._name)

    @property
    def sampling_changes(self) -> Mapping[str, Any]:
        """The component's sampling parameters, which replace the model's own."""
        return {"max_tokens": self.max_tokens}

    @cached_property
    def backend(self) -> LlmBackend:
        """The model with the component's sampling parameters."""
        return self.model_as_written.with_sampling(**self.sampling_changes)

    @cached_property
    def prompt(self) -> Prompt:
        """The templates with their variables checked."""
        return Prompt(self._name, self.system, self.user, self.variables, self.optional_variables)

    @property
    def content_revision(self) -> Mapping[str, Any]:
        """The model and its sampling."""
        return self.backend.identity

    def check(self, services: Services) -> None:
        """Raise if the model is unavailable: file or package missing, or server unreachable."""
        self.backend.generator.check(services)

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return one call per query, unless a component makes more."""
        return n_queries

    def ask(
        self, prompts: Sequence[tuple[ChatMessage, ...]], services: Services, *, title: str
    ) -> Iterator[Outcome]:
        """Yield a reply or a failure per prompt, in order."""
        requests = [Request(messages, self.backend.sampling) for messages in prompts]
        return self.backend.ask(requests, services, title=title)

    @property
    def _name(self) -> str:
        return name_of(type(self)).partition("/")[2] or type(self).__name__
