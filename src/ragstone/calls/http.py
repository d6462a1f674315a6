"""One attempt at one call over HTTP, and what each thing that can go wrong with it means."""

from __future__ import annotations

import asyncio
import datetime as dt
import re
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

import orjson

from ragstone.calls.rate_control import ConcurrencyLimiter, pause_wanted
from ragstone.calls.types import AttemptError, Endpoint, Reply, Request, ServerAddresses, shown_url
from ragstone.calls.wire_formats import format_for
from ragstone.core.offline import is_loopback
from ragstone.errors import CallError

if TYPE_CHECKING:
    import aiohttp

LARGEST_REPLY: Final = 32 * 2**20
"""Bytes of a reply's body at most."""

_OVERLOADED: Final = {429, 503, 529}
_PASSING: Final = {408, 409, 425, 500, 502, 504, 520, 521, 522, 523, 524} | _OVERLOADED
_NO_MONEY: Final = ("insufficient_quota", "billing", "credit balance")
_TOO_LONG: Final = re.compile(
    r"context.{0,20}(length|size|window)|exceed_context|too many tokens|prompt is too long"
    r"|maximum.{0,20}tokens|too long",
    re.IGNORECASE,
)
_LIMIT_HEADERS: Final = ("x-ratelimit-remaining-requests", "anthropic-ratelimit-requests-remaining")
_REST_SECONDS: Final = 5.0
_LONGEST_REST_SECONDS: Final = 300.0
_REACH_SECONDS: Final = 10.0


@dataclass
class _Server:
    url: Any
    shown: str
    busy: int = 0
    missed: int = 0
    """Calls in a row that got no reply."""
    resting_until: float = 0.0

    def rest(self, now: float) -> None:
        """Stand back behind other servers, longer each time."""
        self.resting_until = now + min(_REST_SECONDS * 2**self.missed, _LONGEST_REST_SECONDS)
        self.missed = min(self.missed + 1, 30)


@dataclass
class ChatClient:
    """Sends requests to the least busy server of an endpoint. Lives in one event loop."""

    endpoint: Endpoint
    servers: ServerAddresses
    pace: ConcurrencyLimiter
    _pool: list[_Server] = field(init=False, repr=False)
    _session: aiohttp.ClientSession | None = field(init=False, default=None, repr=False)

    def __post_init__(self) -> None:
        """Prepare what is the same for all requests."""
        from yarl import URL

        self._wire = format_for(self.endpoint)
        self._pool = [
            _Server(URL(self._wire.url(url), encoded=True), shown_url(url))
            for url in self.servers.urls
        ]
        self._headers = {
            "Content-Type": "application/json",
            **self._wire.headers(self.servers.api_key),
        }

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def attempt(self, request: Request) -> Reply:
        """Return the reply to one request, or raise a `AttemptError`."""
        import aiohttp

        try:
            body = self._wire.body(self.endpoint.model, request)
        except TypeError as error:
            raise AttemptError(f"the prompt cannot be sent: {error}") from error
        server = self._least_busy()
        server.busy += 1
        try:
            async with self._opened().post(
                server.url, data=body, headers=self._headers, allow_redirects=False
            ) as response:
                raw = await _read(response)
                server.missed = 0
                return self._understood(server, response, raw)
        except asyncio.CancelledError:
            # Out of time: the next attempt is not to wait for the same silent server.
            server.rest(asyncio.get_running_loop().time())
            raise
        except aiohttp.ClientError as error:
            server.rest(asyncio.get_running_loop().time())
            raise self._unconnected(server, error) from error
        finally:
            server.busy -= 1

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            self._session = aiohttp.ClientSession(
                # How many calls are made at once is decided by the pace alone.
                connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=300),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=30),
                # Proxies of the environment are for the world outside, not for this machine.
                trust_env=not all(is_loopback(s.url.host or "") for s in self._pool),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        return self._session

    def _least_busy(self) -> _Server:
        """Return the server with the fewest calls; one that just failed only if all did."""
        if len(self._pool) == 1:
            return self._pool[0]
        now = asyncio.get_running_loop().time()
        return min(self._pool, key=lambda server: (server.resting_until > now, server.busy))

    def _understood(self, server: _Server, response: aiohttp.ClientResponse, raw: bytes) -> Reply:
        if self.servers.api_key:
            # A server that echoes our key must not carry it into the log or into an error.
            raw = raw.replace(self.servers.api_key.encode(), b"***")
        if response.status != 200:  # noqa: PLR2004 - the one status that means a reply
            raise self._refused(server, response, raw)
        try:
            payload = self._wire.decode(raw)
        except ValueError as error:
            kind = response.headers.get("Content-Type", "no content type")
            raise AttemptError(
                f"{server.shown} answered with {kind} that is not JSON "
                f"({_start(raw)}); is this the base_url of a model server?",
                status=200,
                retryable=True,
            ) from error
        if isinstance(payload, dict) and payload.get("error"):
            message, _ = _error_text(raw)
            raise AttemptError(f"{server.shown} reports: {message}", status=200, retryable=True)
        try:
            reply = self._wire.reply(payload)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise AttemptError(
                f"{server.shown} answered in an unexpected shape: {error} ({_start(raw)})",
                status=200,
                retryable=True,
            ) from error
        if any(name in response.headers for name in _LIMIT_HEADERS):
            pause = pause_wanted(response.headers, dt.datetime.now(dt.UTC))
            self.pace.hold(pause or 0.0, asyncio.get_running_loop().time())
        return reply

    def _refused(
        self, server: _Server, response: aiohttp.ClientResponse, raw: bytes
    ) -> AttemptError:
        status = response.status
        message, code = _error_text(raw)
        unpaid = status == 429 and any(word in f"{code} {message}" for word in _NO_MONEY)  # noqa: PLR2004
        cause = _cause(status, message, self.endpoint, response.headers, unpaid=unpaid)
        return AttemptError(
            f"{server.shown} refused with {status}: {message or response.reason}{cause}",
            status=status,
            retryable=status in _PASSING and not unpaid,
            overload=status in _OVERLOADED and not unpaid,
            fatal=status in {401, 404, 405} or unpaid,
            pause=pause_wanted(response.headers, dt.datetime.now(dt.UTC))
            if status in _PASSING
            else None,
        )

    def _unconnected(self, server: _Server, error: Exception) -> AttemptError:
        import aiohttp

        if isinstance(error, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
            return AttemptError(f"{server.shown} has no certificate that can be trusted: {error}")
        if isinstance(error, aiohttp.InvalidURL):
            return AttemptError(f"{server.shown} is not an address", fatal=True)
        if isinstance(error, aiohttp.ClientConnectorError):
            why = error.strerror or str(error.os_error)
            return AttemptError(
                f"cannot connect to {server.shown} ({why}); is the server running there?",
                retryable=True,
            )
        what = str(error) or type(error).__name__
        return AttemptError(f"{server.shown} cut the connection: {what}", retryable=True)


def check_reachable(endpoint: Endpoint) -> None:
    """Raise `CallError` unless somebody listens at one of an endpoint's addresses.

    Behind a proxy only the proxy could be reached from here: then nothing is checked.
    """
    refused = []
    for url in endpoint.base_urls:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        if not is_loopback(host) and getproxies().get(parts.scheme):
            return
        try:
            socket.create_connection((host, port), timeout=_REACH_SECONDS).close()
        except OSError as error:
            refused.append(f"cannot connect to {shown_url(url)} ({error.strerror or error})")
        else:
            return
    raise CallError(f"{'; '.join(refused)}; is the server of {endpoint.model!r} running there?")


async def _read(response: aiohttp.ClientResponse) -> bytes:
    """Return the body, or raise a `AttemptError` before more than `LARGEST_REPLY` is taken in."""
    length = response.content_length
    if (
        length is not None
        and length <= LARGEST_REPLY
        and "Content-Encoding" not in response.headers
    ):
        return await response.read()
    parts, taken = [], 0
    async for part in response.content.iter_any():
        taken += len(part)
        if taken > LARGEST_REPLY:
            response.close()
            raise AttemptError(
                f"the reply is larger than {LARGEST_REPLY // 2**20} MiB",
                status=response.status,
                retryable=True,
            )
        parts.append(part)
    return b"".join(parts)


def _error_text(raw: bytes) -> tuple[str, str]:
    """Return the message and the code that an error's body holds.

    >>> _error_text(b'{"error": {"message": "no such model", "code": "model_not_found"}}')
    ('no such model', 'model_not_found')
    """
    try:
        payload = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return _start(raw), ""
    if not isinstance(payload, dict):
        return _start(raw), ""
    error = payload.get("error", payload)
    if isinstance(error, dict):
        text = error.get("message") or error.get("detail") or _start(raw)
        return " ".join(str(text).split())[:500], str(error.get("code") or error.get("type") or "")
    return " ".join(str(error).split())[:500], ""


def _start(raw: bytes) -> str:
    """Return how a body begins, on one line."""
    text = " ".join(raw[:400].decode("utf-8", "replace").split())
    return f"{text[:117]}..." if len(text) > 120 else text or "an empty body"  # noqa: PLR2004


def _cause(
    status: int, message: str, endpoint: Endpoint, headers: Mapping[str, str], *, unpaid: bool
) -> str:
    """Return the tail of a reason that names the likely cause and the way out."""
    variable = endpoint.api_key_env
    if unpaid:
        return "; the account has no credit left"
    if status == 401:  # noqa: PLR2004
        way = f"the value of {variable} is wrong" if variable else "name it with api_key_env"
        return f"; the server wants an API key: {way}"
    if status == 404:  # noqa: PLR2004
        return f"; check base_url (it usually ends in /v1) and the model name {endpoint.model!r}"
    if status in {400, 413, 422} and _TOO_LONG.search(message):
        return (
            "; the prompt is longer than the model's context: give fewer or shorter passages, or "
            "serve the model with a longer context"
        )
    if 300 <= status < 400:  # noqa: PLR2004
        return f"; it redirects to {shown_url(headers.get('Location', '?'))}: use that as base_url"
    return ""
