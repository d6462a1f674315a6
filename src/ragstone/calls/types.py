"""The types of a model call: request, sampling parameters, endpoint, reply and failure."""

from __future__ import annotations

import hashlib
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol, Self, TypeAlias, cast
from urllib.parse import urlsplit

import orjson

from ragstone.calls.identity import model_identity
from ragstone.calls.reply_json import parse_reply
from ragstone.core import limits
from ragstone.core.environment import references_in, referred, resolved, secret
from ragstone.core.likely_secrets import remember_likely
from ragstone.core.redaction import redacted
from ragstone.errors import ConfigError
from ragstone.types import AnswerStatus, ChatMessage, FailureKind, Reported, brief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.calls.rate_control import ConcurrencyLimiter


_KEY_VERSION: Final = 1
_CUT: Final = frozenset({"length", "max_tokens"})


class Totals:
    """The base of dataclasses that are added and subtracted by field; None is an unknown value."""

    __slots__ = ()

    def __add__(self, other: Self) -> Self:
        """Return the sum; a value unknown in one is unknown in the sum."""
        return self._joined(other, operator.add)

    def __sub__(self, other: Self) -> Self:
        """Return the difference, such as the calls between two readings."""
        return self._joined(other, operator.sub)

    def _joined(self, other: Self, join: Callable[[Any, Any], Any]) -> Self:
        names = (f.name for f in fields(cast("Any", self)))
        pairs = ((getattr(self, name), getattr(other, name)) for name in names)
        return type(self)(*(None if None in pair else join(*pair) for pair in pairs))


@dataclass(frozen=True)
class Sampling:
    """Sampling parameters. All are part of a call's key; None leaves a value to the server."""

    temperature: float | None = 0.0
    max_tokens: int | None = limits.REPLY_TOKENS
    top_p: float | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    logprobs: int | None = None
    """Alternatives to report per token; 0 reports the chosen token only."""
    json_schema: Mapping[str, Any] | None = None
    """JSON schema of the reply, if the server can enforce one."""
    grammar: str = ""
    """GBNF grammar of the reply (llama.cpp)."""
    reasoning_effort: str | None = None
    """How much the model reasons before it answers, in the server's words, such as `low`."""
    thinking_budget: int | None = None
    """Maximum tokens of reasoning, besides the `max_tokens` of the answer."""
    thinking_field: str = ""
    """Field of the request body with the thinking budget; a dot separates nested names."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request body, by the server's names."""

    @cached_property
    def canonical(self) -> bytes:
        """The parameters as JSON with sorted keys: equal for equal parameters."""
        set_values = {
            name: value for name, value in vars(self).items() if value not in (None, (), "", {})
        }
        return orjson.dumps(set_values, option=orjson.OPT_SORT_KEYS)


@dataclass(frozen=True)
class Request:
    """One call: the chat messages and the sampling parameters."""

    messages: tuple[ChatMessage, ...]
    sampling: Sampling = field(default_factory=Sampling)
    sample: int = 0
    """Number of the sample, for repeated calls with the same prompt and parameters."""

    @cached_property
    def rendered(self) -> bytes:
        """The messages as JSON, the input of `prompt_hash`."""
        try:
            return orjson.dumps(self.messages)
        except TypeError:
            # Lone surrogates cannot be sent to a server, but the call still needs a key.
            encoded = [(role, text.encode("utf-8", "replace")) for role, text in self.messages]
            return orjson.dumps([(role, text.decode()) for role, text in encoded])

    @cached_property
    def prompt_hash(self) -> str:
        """SHA-256 of the messages: equal for two back-ends that received the same text."""
        return hashlib.sha256(self.rendered).hexdigest()

    def key(self, identity: str) -> str:
        """Return the SHA-256 of the model's identity, the prompt, the parameters and the sample."""
        head = f"{_KEY_VERSION}\n{identity}\n{self.prompt_hash}\n{self.sample}\n"
        return hashlib.sha256(head.encode() + self.sampling.canonical).hexdigest()


def chat(user: str, system: str = "", **sampling: Any) -> Request:
    """Return a request with one user message, and a system message if one is given.

    >>> chat("Who?", system="Be brief.", max_tokens=8).messages
    (('system', 'Be brief.'), ('user', 'Who?'))
    """
    first = (("system", system),) if system else ()
    return Request((*first, ("user", user)), Sampling(**sampling))


@dataclass(frozen=True, slots=True)
class TokenLogprob:
    """One token of a reply: its natural log-probability and the most likely alternatives."""

    token: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer."""

    text: str
    finish_reason: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    seconds: float | None = None
    """Latency of the successful attempt, from its start in this process."""
    logprobs: tuple[TokenLogprob, ...] = ()
    reasoning: str = ""
    """Reasoning text, if the server reports it."""
    tokens_reasoning: int | None = None
    """Tokens of reasoning among `tokens_out`; None if the server does not report them."""
    batch: str = ""
    """Name of the batch that the reply came from; empty for a call of its own."""
    passage_ids: tuple[str, ...] | None = None
    """Ids of the passages that a system under test reports as retrieved, or None."""
    reported: Reported | None = None
    """Contexts, confidence, cost and time as a system under test reports them, or None."""
    served_by: str = ""
    """Model name as reported by the server."""
    attempts: int = 1
    key: str = ""
    rendered: str = ""
    """The prompt after the chat template, if the model runs in this process."""
    queued: float | None = None
    """Seconds from when the call was due until it was sent, without those of a new connection: the
    delay that this process added. None if it is not known."""
    made_at: float | None = field(default=None, compare=False)
    """Time of the reply in seconds since the epoch; None if the reply is not from a call log."""

    @property
    def status(self) -> AnswerStatus:
        """The class of the reply: `cut` at the maximum length, `empty` or `answered`."""
        if self.finish_reason in _CUT:
            return "cut"
        return "answered" if self.text.strip() else "empty"

    @property
    def rendered_hash(self) -> str:
        """SHA-256 of the rendered prompt; empty if the prompt is unknown."""
        return hashlib.sha256(self.rendered.encode()).hexdigest() if self.rendered else ""


@dataclass(frozen=True, slots=True)
class Failure:
    """The reason why a call has no reply. The next run makes the call again."""

    reason: str
    status: int | None = None
    """HTTP status of the last attempt, or None."""
    seconds: float | None = None
    attempts: int = 1
    key: str = ""
    kind: FailureKind = "failed"


Outcome: TypeAlias = Reply | Failure


@dataclass(frozen=True, slots=True)
class ServerAddresses:
    """Current base URLs of an endpoint, and the API key."""

    urls: tuple[str, ...]
    api_key: str = field(default="", repr=False)


class ServerPool(Protocol):
    """Running model servers on this machine."""

    @property
    def urls(self) -> Sequence[str]:
        """Base URLs, one per server."""

    @property
    def api_key(self) -> str:
        """The API key that the servers require."""

    def close(self) -> None:
        """Stop the servers."""


class WireFormat(Protocol):
    """The encoding of requests and replies for one kind of server."""

    def url(self, base_url: str) -> str:
        """Return the URL for POST requests."""

    def headers(self, api_key: str) -> Mapping[str, str]:
        """Return the headers with the API key."""
        return {"Authorization": f"Bearer {api_key}"} if api_key else {}

    def body(self, model: str, request: Request) -> bytes:
        """Return the request body."""

    def decode(self, raw: bytes) -> Any:
        """Parse a response body; raise `ValueError` if it is malformed."""
        return parse_reply(raw)

    def reply(self, payload: Any) -> Reply:
        """Return the reply of a parsed body; raise `ValueError` naming a missing field."""


class CallClient(Protocol):
    """Makes the attempts at calls to one endpoint, in the engine's event loop."""

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint that the client calls."""

    @property
    def pace(self) -> ConcurrencyLimiter:
        """Limit on concurrent calls."""

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise `AttemptError`; may be cancelled."""

    async def close(self) -> None:
        """Close the connections."""


class AttemptError(Exception):
    """A failed attempt: the reason, and how the scheduler should react."""

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        retryable: bool = False,
        overload: bool = False,
        fatal: bool = False,
        pause: float | None = None,
        outage: bool = False,
        kind: FailureKind = "failed",
    ) -> None:
        super().__init__(reason)
        # Without what a server repeats, or another library writes into its errors.
        self.reason, self.status = redacted(reason), status
        self.retryable = retryable
        """Whether another attempt may succeed."""
        self.overload = overload
        """Whether the server is overloaded."""
        self.fatal = fatal
        """Whether every other call to this endpoint would fail the same way."""
        self.pause = pause
        """Seconds to wait before the next call, as requested by the server."""
        self.outage = outage
        """Whether the server is down or overloaded; several in a row stop the run."""
        self.kind: FailureKind = kind
        """Class of the failure."""


@dataclass(frozen=True)
class Endpoint:
    """A model behind a protocol, on one server or on several equal servers.

    A call's key contains `identity`: by default protocol, model and whole addresses. Set it (to a
    checksum of the weights, for example) to keep replies valid at another address, or to separate
    two models of the same name at one address. A text may refer to secrets as `{env:NAME}` or
    `{file:PATH}`: they are sent, and neither stored nor shown.
    """

    model: str
    """The name of the model, as its server knows it."""
    base_urls: tuple[str, ...] = ()
    """Addresses of equal servers, such as `http://host:8000/v1`."""
    api_key_env: str = ""
    """Environment variable with the API key. The key itself is never stored or shown."""
    protocol: str = "openai"
    """`openai` or `anthropic`; any name if `wire` or `client` is set."""
    identity: str = ""
    wire: WireFormat | None = field(default=None, compare=False)
    serve: Callable[[], ServerPool] | None = field(default=None, compare=False)
    """Returns running local servers. Called before each batch of calls that are not in the log, so
    that servers start late and dead ones are replaced."""
    client: Callable[[Endpoint, ConcurrencyLimiter], CallClient] | None = field(
        default=None, compare=False
    )
    """Makes the client of an endpoint that is not a model server, such as a function."""
    concurrency: int | None = None
    """Maximum concurrent calls, or None for the default of `Calls`."""
    references: tuple[str, ...] = ()
    """References whose secrets are sent besides those of the addresses: `env:NAME`, `file:PATH`."""
    batch: bool = False
    """Whether calls go through the server's batch endpoint. It is not part of a call's key."""
    is_free: bool = False
    """Whether calls cost nothing, such as searches; a budget then needs no price."""

    def __post_init__(self) -> None:
        """Check the URLs, and set the default identity if none is given."""
        remember_likely(list(self.base_urls), f"the address of {self.model}")
        for url in self.base_urls:
            if not references_in(url):
                _check_url(url)
        if not self.base_urls and self.serve is None and self.client is None:
            raise ConfigError(f"the endpoint of model {self.model!r} has no base_url")
        if not self.identity:
            written = self.protocol, self.model, self.base_urls
            identity = model_identity(*written, (), "", where=self.model)
            object.__setattr__(self, "identity", identity)

    def __repr__(self) -> str:
        """Return one line: model and addresses, without the queries of URLs."""
        return brief(self, repr(self.name))

    @property
    def name(self) -> str:
        """Model and addresses, for messages."""
        addresses = ", ".join(shown_url(url) for url in self.base_urls) or "this machine"
        return f"{self.model} at {addresses}"

    def api_key(self) -> str:
        """Return the API key from the environment; raise `ConfigError` if it is not set."""
        return secret(self.api_key_env, f"the API key of {self.name}")

    def addresses(self) -> tuple[str, ...]:
        """Return the base URLs with the secrets that they refer to.

        Raises:
            ConfigError: a secret is missing, or a URL is malformed.
        """
        found = tuple(resolved(url, f"the address of {self.name}") for url in self.base_urls)
        for url in found:
            _check_url(url)
        return found

    def check_secrets(self) -> None:
        """Raise `ConfigError` if a secret that is sent is missing."""
        self.api_key()
        for reference in (*references_in(self.base_urls), *self.references):
            referred(reference, f"a value that is sent to {self.name}")


def shown_url(url: str) -> str:
    """Return a URL without its query, which may contain secrets.

    >>> shown_url("https://models.example/v1?sig=abc")
    'https://models.example/v1'
    """
    return url.split("?", 1)[0]


def _check_url(url: str) -> None:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ConfigError(
            f"base_url {shown_url(url)!r} is not a server address; "
            "write it as http://host:port/v1 or https://host/v1"
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"base_url on host {parts.hostname!r} contains a user name or password; "
            "put the key in an environment variable and name it with api_key_env"
        )
