"""One attempt at one call over HTTP, and the cause of each possible failure."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

from ragstone.calls.rate_control import ConcurrencyLimiter, requested_pause
from ragstone.calls.types import (
    AttemptError,
    Endpoint,
    Reply,
    Request,
    ServerAddresses,
    shown_url,
)
from ragstone.calls.wire_formats import NO_ANSWER, format_for, join_url
from ragstone.core import limits
from ragstone.core.environment import resolved
from ragstone.core.offline import is_loopback
from ragstone.core.parsing import LimitError, parse_json
from ragstone.errors import CallError

if TYPE_CHECKING:
    import aiohttp

_OVERLOADED: Final = {429, 503, 529}
_TRANSIENT: Final = {408, 409, 425, 500, 502, 504, 520, 521, 522, 523, 524} | _OVERLOADED
_NO_CREDIT: Final = ("insufficient_quota", "billing", "credit balance")
_PROMPT_TOO_LONG: Final = re.compile(
    r"context.{0,20}(length|size|window)|exceed_context|too many tokens|prompt is too long"
    r"|maximum.{0,20}tokens|too long",
    re.IGNORECASE,
)
_LIMIT_HEADERS: Final = ("x-ratelimit-remaining-requests", "anthropic-ratelimit-requests-remaining")


@dataclass
class _Server:
    url: Any
    address: str
    active: int = 0
    """Calls in flight."""
    failures: int = 0
    """Consecutive calls without a response."""
    avoid_until: float = 0.0

    def failed(self, now: float) -> None:
        """Prefer other servers for a while, longer after each failure."""
        seconds = limits.SERVER_REST_SECONDS * 2.0**self.failures
        self.avoid_until = now + min(seconds, limits.MAX_SERVER_REST_SECONDS)
        self.failures = min(self.failures + 1, limits.MAX_DOUBLINGS)


@dataclass
class ChatClient:
    """Sends requests to the least busy server of an endpoint. Bound to one event loop."""

    endpoint: Endpoint
    servers: ServerAddresses
    pace: ConcurrencyLimiter
    _pool: list[_Server] = field(init=False, repr=False)
    _session: aiohttp.ClientSession | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        """Prepare the URLs and headers of all requests."""
        from yarl import URL

        self._format = format_for(self.endpoint)
        written = self.endpoint.base_urls or self.servers.urls
        self._pool = [
            _Server(URL(self._format.url(url), encoded=True), shown_url(name))
            for url, name in zip(self.servers.urls, written, strict=True)
        ]
        # From now on, what a server repeats of them is removed.
        self.endpoint.check_secrets()
        self._model = resolved(self.endpoint.model, "the model")
        self._headers = {
            "Content-Type": "application/json",
            **self._format.headers(self.servers.api_key),
        }

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    def body(self, request: Request) -> bytes:
        """Return the body of a request, or raise `AttemptError`."""
        sampling = request.sampling
        if self.endpoint.references:
            extra = resolved(sampling.extra, f"a field for {self.endpoint.name}")
            request = replace(request, sampling=replace(sampling, extra=extra))
        try:
            return self._format.body(self._model, request)
        except TypeError as error:
            raise AttemptError(f"the prompt cannot be encoded as JSON: {error}") from error

    async def exchange(
        self,
        method: str,
        path: str,
        data: Any = None,
        *,
        query: str = "",
        maximum: int | None = None,
    ) -> bytes:
        """Return the body of another address of the first server, or raise `AttemptError`.

        `data` is a form, or the bytes of a JSON document.
        """
        import aiohttp
        from yarl import URL

        server = self._pool[0]
        headers = dict(self._headers)
        if not isinstance(data, bytes):
            del headers["Content-Type"]
        url = join_url(self.servers.urls[0], path)
        url += f"{'&' if '?' in url else '?'}{query}" if query else ""
        try:
            async with self._open_session().request(
                method, URL(url, encoded=True), data=data, headers=headers, allow_redirects=False
            ) as response:
                raw = await _read(response, server.address, maximum)
                if response.status not in {200, 201}:
                    told, reason = response.headers, response.reason or ""
                    raise self.refusal(server.address, response.status, told, raw, reason)
                return raw
        except aiohttp.ClientError as error:
            raise self._connection_error(server, error) from error

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise `AttemptError`."""
        import aiohttp

        from ragstone.calls.connections import TimedBody

        began = asyncio.get_running_loop().time()
        body = TimedBody(self.body(request), began)
        server = self._least_busy()
        server.active += 1
        try:
            async with self._open_session().post(
                server.url, data=body, headers=self._headers, allow_redirects=False
            ) as response:
                raw = await _read(response, server.address)
                server.failures = 0
                reply = self._parse(server, response, raw)
                # Nobody else has the new reply yet; a copy would be 2 % of the cost of a call.
                object.__setattr__(reply, "queued", body.queued)
                return reply
        except asyncio.CancelledError:
            # After a time-out the next attempt should try another server.
            server.failed(asyncio.get_running_loop().time())
            raise
        except aiohttp.ClientError as error:
            server.failed(asyncio.get_running_loop().time())
            raise self._connection_error(server, error) from error
        finally:
            server.active -= 1

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            from ragstone.calls.connections import CheckedConnector

            self._session = aiohttp.ClientSession(
                # Only the scheduler limits concurrency and total time.
                connector=CheckedConnector(limit=0, ttl_dns_cache=limits.DNS_CACHE_SECONDS),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=limits.CONNECT_TIMEOUT_SECONDS
                ),
                # A proxy from the environment cannot reach this machine's loopback address.
                trust_env=not all(is_loopback(s.url.host or "") for s in self._pool),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _least_busy(self) -> _Server:
        """Return the server with the fewest calls; avoid servers that just failed."""
        now = asyncio.get_running_loop().time()
        return min(self._pool, key=lambda server: (server.avoid_until > now, server.active))

    def _parse(self, server: _Server, response: aiohttp.ClientResponse, raw: bytes) -> Reply:
        if response.status != 200:  # noqa: PLR2004 - the only status of a reply
            reason, headers = response.reason or "", response.headers
            raise self.refusal(server.address, response.status, headers, raw, reason)
        try:
            payload = self._format.decode(raw)
        except LimitError as error:
            raise AttemptError(
                f"the reply of {server.address}: {error}", status=200, kind="unreadable"
            ) from error
        except ValueError as error:
            kind = response.headers.get("Content-Type", "no content type")
            is_model = self.endpoint.wire is None
            advice = "; is this the base_url of a model server?" if is_model else ""
            raise AttemptError(
                f"{server.address} returned {kind} instead of JSON ({_excerpt(raw)}){advice}",
                status=200,
                retryable=True,
                kind="unreadable",
            ) from error
        reply = self.read(server.address, payload, raw)
        if any(name in response.headers for name in _LIMIT_HEADERS):
            pause = requested_pause(response.headers, dt.datetime.now(dt.UTC))
            self.pace.pause(pause or 0.0, asyncio.get_running_loop().time())
        return reply

    def read(self, address: str, payload: Any, raw: bytes) -> Reply:
        """Return the reply in the parsed body of a response, or raise `AttemptError`."""
        if isinstance(payload, dict) and payload.get("error"):
            message, _ = _error_text(raw)
            raise AttemptError(f"{address} reports: {message}", status=200, retryable=True)
        try:
            reply = self._format.reply(payload)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise AttemptError(
                f"{address} returned unexpected JSON: "
                f"{str(error)[: limits.MAX_CAUSE_CHARACTERS]} ({_excerpt(raw)})",
                status=200,
                retryable=True,
                kind="unreadable",
            ) from error
        if reply.finish_reason in NO_ANSWER:
            raise _without_answer(address, reply)
        return reply

    def refusal(
        self, address: str, status: int, headers: Mapping[str, str], raw: bytes, reason: str = ""
    ) -> AttemptError:
        """Return the error of a response whose status is not 200."""
        message, code = _error_text(raw)
        no_credit = status == 429 and any(word in f"{code} {message}" for word in _NO_CREDIT)  # noqa: PLR2004
        advice = _advice(status, message, self.endpoint, headers, no_credit=no_credit)
        return AttemptError(
            f"{address} refused with {status}: {message or reason}{advice}",
            status=status,
            retryable=status in _TRANSIENT and not no_credit,
            overload=status in _OVERLOADED and not no_credit,
            fatal=status in {401, 404, 405} or no_credit,
            outage=status in _OVERLOADED or status >= 500,  # noqa: PLR2004 - errors of the server
            kind="filtered" if code == "content_filter" else "failed",
            pause=requested_pause(headers, dt.datetime.now(dt.UTC))
            if status in _TRANSIENT
            else None,
        )

    def _connection_error(self, server: _Server, error: Exception) -> AttemptError:
        import aiohttp

        if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
            return AttemptError(f"{server.address} has an untrusted certificate: {error}")
        if isinstance(error, aiohttp.InvalidURL):
            return AttemptError(f"{server.address} is not a valid URL", fatal=True)
        if isinstance(error, aiohttp.ClientConnectorError):
            cause = error.strerror or str(error.os_error)
            return AttemptError(
                f"cannot connect to {server.address} ({cause}); is the server running there?",
                retryable=True,
                outage=True,
            )
        cause = str(error)[: limits.MAX_SERVER_ERROR_CHARACTERS] or type(error).__name__
        return AttemptError(
            f"{server.address} closed the connection: {cause}", retryable=True, outage=True
        )


def _without_answer(address: str, reply: Reply) -> AttemptError:
    """Return the error of a response that a filter stopped, or that calls a tool."""
    kind = NO_ANSWER[reply.finish_reason]
    what = "filtered its reply" if kind == "filtered" else "called a tool in place of an answer"
    return AttemptError(
        f"{address} {what} (finish reason {reply.finish_reason!r})", status=200, kind=kind
    )


def check_reachable(endpoint: Endpoint) -> None:
    """Raise `CallError` if no address of the endpoint accepts a connection.

    Checks nothing behind a proxy, because only the proxy can be reached directly.
    """
    errors = []
    for url, written in zip(endpoint.addresses(), endpoint.base_urls, strict=True):
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        if not is_loopback(host) and getproxies().get(parts.scheme):
            return
        try:
            socket.create_connection((host, port), timeout=limits.CHECK_TIMEOUT_SECONDS).close()
        except OSError as error:
            errors.append(f"cannot connect to {shown_url(written)} ({error.strerror or error})")
        else:
            return
    raise CallError(f"{'; '.join(errors)}; is the server of {endpoint.model!r} running there?")


async def _read(
    response: aiohttp.ClientResponse, address: str, maximum: int | None = None
) -> bytes:
    """Return the body; raise `AttemptError` once it exceeds the maximum response size."""
    length = response.content_length
    maximum = maximum or limits.MAX_RESPONSE_BYTES
    if length is not None and length <= maximum and "Content-Encoding" not in response.headers:
        return await response.read()
    parts, received = [], 0
    async for part in response.content.iter_any():
        received += len(part)
        if received > maximum:
            response.close()
            raise AttemptError(
                f"the response of {address} exceeds the maximum response size of {maximum:,} "
                "bytes; lower max_tokens, or check base_url",
                status=response.status,
                retryable=True,
            )
        parts.append(part)
    return b"".join(parts)


def _error_text(raw: bytes) -> tuple[str, str]:
    """Return the message and the code of an error response.

    >>> _error_text(b'{"error": {"message": "no such model", "code": "model_not_found"}}')
    ('no such model', 'model_not_found')
    """
    try:
        payload = parse_json(raw)
    except ValueError:
        payload = None
    error = payload.get("error", payload) if isinstance(payload, dict) else _excerpt(raw)
    if isinstance(error, dict):
        text = error.get("message") or error.get("detail") or _excerpt(raw)
        return _one_line(text), str(error.get("code") or error.get("type") or "")
    return _one_line(error), ""


def _one_line(text: object) -> str:
    return " ".join(str(text).split())[: limits.MAX_SERVER_ERROR_CHARACTERS]


def _excerpt(raw: bytes) -> str:
    """Return the start of a body, on one line."""
    maximum = limits.MAX_EXCERPT_CHARACTERS
    text = " ".join(raw[: 4 * maximum].decode("utf-8", "replace").split())
    return f"{text[: maximum - 3]}..." if len(text) > maximum else text or "an empty body"


def _advice(
    status: int, message: str, endpoint: Endpoint, headers: Mapping[str, str], *, no_credit: bool
) -> str:
    """Return the end of an error message: the likely cause and the remedy."""
    variable = endpoint.api_key_env
    if no_credit:
        return "; the account has no credit left"
    if status == 401:  # noqa: PLR2004
        remedy = f"the value of {variable} is wrong" if variable else "name it with api_key_env"
        return f"; the server requires an API key: {remedy}"
    if status == 404:  # noqa: PLR2004
        of_model = f"base_url (it usually ends in /v1) and the model name {endpoint.model!r}"
        return f"; check {'the address' if endpoint.wire else of_model}"
    if status in {400, 413, 422} and _PROMPT_TOO_LONG.search(message):
        return (
            "; the prompt is longer than the model's context: give fewer or shorter passages, or "
            "serve the model with a longer context"
        )
    if 300 <= status < 400:  # noqa: PLR2004
        return f"; it redirects to {shown_url(headers.get('Location', '?'))}: use that address"
    return ""
