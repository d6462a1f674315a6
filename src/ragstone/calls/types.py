"""The nouns of a model call: what is asked, of whom, and how it ends."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias
from urllib.parse import urlsplit

import orjson

from ragstone.errors import ConfigError
from ragstone.types import ChatMessage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.calls.rate_control import ConcurrencyLimiter


_KEY_VERSION: Final = 1


@dataclass(frozen=True)
class Sampling:
    """How a reply is drawn; all of it is part of a call's key. None leaves it to the server."""

    temperature: float | None = 0.0
    max_tokens: int | None = 512
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    """How many alternatives to report beside each token; 0 reports the chosen token alone."""
    json_schema: Mapping[str, Any] | None = None
    """The reply must be JSON of this schema, where the server can enforce it."""
    grammar: str = ""
    """A GBNF grammar for the reply (llama.cpp)."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request's body, as the server names them."""

    @cached_property
    def canonical(self) -> bytes:
        """The parameters as JSON with sorted keys: equal for equal parameters."""
        given = {
            name: value for name, value in vars(self).items() if value not in (None, (), "", {})
        }
        return orjson.dumps(given, option=orjson.OPT_SORT_KEYS)


@dataclass(frozen=True)
class Request:
    """One call: the messages as the model is to see them, and how its reply is drawn."""

    messages: tuple[ChatMessage, ...]
    sampling: Sampling = field(default_factory=Sampling)
    sample: int = 0
    """Tells apart repeated draws with the same prompt and parameters."""

    @cached_property
    def rendered(self) -> bytes:
        """The messages as JSON: what `prompt_hash` is made of."""
        try:
            return orjson.dumps(self.messages)
        except TypeError:
            # Lone surrogates: no server can be sent them, but the call still needs a key.
            readable = [(role, text.encode("utf-8", "replace")) for role, text in self.messages]
            return orjson.dumps([(role, text.decode()) for role, text in readable])

    @cached_property
    def prompt_hash(self) -> str:
        """SHA-256 of the messages: equal for two back-ends that received the same text."""
        return hashlib.sha256(self.rendered).hexdigest()

    def key(self, identity: str) -> str:
        """Return the call's key: the model's identity, the prompt, the parameters, the sample."""
        made_of = f"{_KEY_VERSION}\n{identity}\n{self.prompt_hash}\n{self.sample}\n"
        return hashlib.sha256(made_of.encode() + self.sampling.canonical).hexdigest()


def chat(user: str, system: str = "", **sampling: Any) -> Request:
    """Return a request with one user message, and a system message where one is given.

    >>> chat("Who?", system="Be brief.", max_tokens=8).messages
    (('system', 'Be brief.'), ('user', 'Who?'))
    """
    before = (("system", system),) if system else ()
    return Request((*before, ("user", user)), Sampling(**sampling))


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply: its natural log-probability, and the likeliest alternatives."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered."""

    text: str
    finish_reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    """Latency of the attempt that succeeded, when it was made."""
    logprobs: tuple[TokenLogprob, ...] = ()
    reasoning: str = ""
    """What a reasoning model thought before, where the server reports it."""
    passage_ids: tuple[str, ...] | None = None
    """What a system under test says it retrieved."""
    served_by: str = ""
    """The model's name as the server reports it."""
    attempts: int = 1
    key: str = ""
    rendered: str = ""
    """The prompt as the chat template wrote it, where a model of this process answered."""

    @property
    def rendered_hash(self) -> str:
        """SHA-256 of the rendered prompt; empty where it is not known."""
        return hashlib.sha256(self.rendered.encode()).hexdigest() if self.rendered else ""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a call has no reply; it is asked again on the next run."""

    reason: str
    status: int | None = None
    """The HTTP status, where there was one."""
    seconds: float | None = None
    attempts: int = 1
    key: str = ""


Outcome: TypeAlias = Reply | Failure


@dataclass(frozen=True, slots=True)
class ServerAddresses:
    """Where an endpoint can be reached now."""

    urls: tuple[str, ...]
    api_key: str = field(default="", repr=False)


class ServerPool(Protocol):
    """What a pool of model servers on this machine says about itself."""

    @property
    def urls(self) -> Sequence[str]:
        """Base URLs, one per server."""
        ...

    @property
    def api_key(self) -> str:
        """What the servers want to be sent."""
        ...

    def close(self) -> None:
        """Stop the servers."""
        ...


class WireFormat(Protocol):
    """How requests and replies are written on the way to one kind of server."""

    def url(self, base_url: str) -> str:
        """Return where a request is posted."""
        ...

    def headers(self, api_key: str) -> Mapping[str, str]:
        """Return the headers that carry the key."""
        ...

    def body(self, model: str, request: Request) -> bytes:
        """Return the request's body."""
        ...

    def decode(self, raw: bytes) -> Any:
        """Read a reply's body; raise `ValueError` where it is not what it should be."""
        ...

    def reply(self, payload: Any) -> Reply:
        """Return the reply that a body holds; raise `ValueError` saying what is missing."""
        ...


class CallClient(Protocol):
    """What makes the attempts at calls to one endpoint, in the engine's event loop."""

    @property
    def endpoint(self) -> Endpoint:
        """Whom it asks."""
        ...

    @property
    def pace(self) -> ConcurrencyLimiter:
        """How many calls it bears at once."""
        ...

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise a `AttemptError`; may be cancelled."""
        ...

    async def close(self) -> None:
        """Let go of what it holds."""
        ...


class AttemptError(Exception):
    """Why an attempt gave no reply, and what may be done about it."""

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        overload: bool = False,
        fatal: bool = False,
        pause: float | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason, self.status = reason, status
        self.retryable = retryable
        """Another attempt may end otherwise."""
        self.overload = overload
        """The server has too much to do."""
        self.fatal = fatal
        """Every other call to this endpoint would end the same way."""
        self.pause = pause
        """Seconds for which the server asks to be left alone."""


@dataclass(frozen=True)
class Endpoint:
    """A model behind a protocol, on one server or on several equal ones.

    The key of a call holds `identity`, not the address: by default model and host without the
    port, so that a server may move to another port. Give an identity of your own (a checksum of
    the weights, say) where replies should outlive a move to another host, or where two models of
    the same name are served on one host.
    """

    model: str
    base_urls: tuple[str, ...] = ()
    api_key_env: str = ""
    """The environment variable that holds the key; the key itself is never written anywhere."""
    protocol: str = "openai"
    """`openai` or `anthropic`, or what `wire` speaks."""
    identity: str = ""
    wire: WireFormat | None = field(default=None, compare=False)
    serve: Callable[[], ServerPool] | None = field(default=None, compare=False)
    """Returns running servers on this machine, started when the first reply is wanted that is not
    kept; asked before every batch of calls, so that servers that died are replaced."""
    client: Callable[[Endpoint, ConcurrencyLimiter], CallClient] | None = field(
        default=None, compare=False
    )
    """Makes the client of an endpoint that is no model server: a function, a command."""
    concurrency: int | None = None
    """Calls at once at most, where it differs from the default of `Calls`."""

    def __post_init__(self) -> None:
        """Check the URLs, and make the identity where none is given."""
        for url in self.base_urls:
            _check_url(url)
        if not self.base_urls and self.serve is None and self.client is None:
            raise ConfigError(f"the endpoint of model {self.model!r} has no base_url")
        if not self.identity:
            hosts = sorted({urlsplit(url).hostname or "" for url in self.base_urls})
            made = f"{self.protocol}:{self.model}@{','.join(hosts)}"
            object.__setattr__(self, "identity", made)

    @property
    def name(self) -> str:
        """The model and where it is, for messages."""
        where = ", ".join(shown_url(url) for url in self.base_urls) or "this machine"
        return f"{self.model} at {where}"

    def api_key(self) -> str:
        """Return the key from the environment; a `ConfigError` says if it is unset."""
        if not self.api_key_env:
            return ""
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise ConfigError(
                f"the key for {self.name} is looked for in the environment variable "
                f"{self.api_key_env!r}, which is not set; set it: export {self.api_key_env}=..."
            )
        return key


def shown_url(url: str) -> str:
    """Return a URL as it may be shown: without its query, which can hold secrets.

    >>> shown_url("https://models.example/v1?sig=abc")
    'https://models.example/v1'
    """
    return url.split("?", 1)[0]


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(
            f"base_url {shown_url(url)!r} is not an address of a server; "
            "write it as http://host:port/v1 or https://host/v1"
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"base_url on host {parts.hostname!r} holds a user name or password; "
            "put the key in an environment variable and name it with api_key_env"
        )
