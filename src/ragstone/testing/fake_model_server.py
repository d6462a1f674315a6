"""A model server that is no model: deterministic answers over real HTTP, and faults on demand.

It speaks the OpenAI protocol (chat and embeddings; Anthropic's, under `/v1/messages`) on a port of
this machine. The
same prompt gets the same answer; which request meets which fault follows from the seed, the prompt
and how often that prompt was asked. `GET /counts` tells how often each prompt was asked and
answered. As a process of its own: `python -m ragstone.testing --help`.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import threading
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias, cast

import orjson

Messages: TypeAlias = Sequence[Mapping[str, str]]

FAULTS: Final[Mapping[str, str]] = {
    "429": "too many requests, without Retry-After",
    "429-retry-after": "too many requests, with Retry-After",
    "500": "internal error",
    "503": "overloaded",
    "slow": "the right reply, late",
    "hang": "no reply, the connection stays open",
    "cut": "the connection is closed before the reply",
    "cut-body": "the connection is closed in the middle of the reply",
    "truncated-json": "a whole reply whose JSON ends in the middle",
    "invalid-json": "a reply that is not JSON",
    "empty-choices": "a reply without choices",
    "wrong-type": "a page of HTML instead of JSON",
    "huge": "a reply of many megabytes",
    "400": "bad request",
    "400-context": "the prompt is longer than the context",
    "401": "wrong key",
    "402-quota": "429 because the account has no credit",
    "404": "unknown model",
    "302": "moved to another address",
}
"""Kind of fault -> what happens."""

_REASONS: Final = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized"} | {
    404: "Not Found",
    429: "Too Many Requests",
    500: "Internal Server Error",
    503: "Service Unavailable",
}
_ERRORS: Final[Mapping[str, tuple[int, dict[str, str]]]] = {
    "429": (429, {"message": "rate limit reached", "code": "rate_limit_exceeded"}),
    "429-retry-after": (429, {"message": "rate limit reached", "code": "rate_limit_exceeded"}),
    "500": (500, {"message": "something broke", "code": "internal_error"}),
    "503": (503, {"message": "overloaded", "code": "overloaded"}),
    "400": (400, {"message": "this request cannot be served", "code": "invalid_request"}),
    "400-context": (
        400,
        {"message": "the request exceeds the context size", "code": "exceed_context_size_error"},
    ),
    "401": (401, {"message": "incorrect API key", "code": "invalid_api_key"}),
    "402-quota": (429, {"message": "quota exceeded", "code": "insufficient_quota"}),
    "404": (404, {"message": "the model does not exist", "code": "model_not_found"}),
}
_READY_SECONDS: Final = 10.0
_TURNS_TO_ACCEPT: Final = 5


def echo_digest(messages: Messages) -> str:
    """Answer with a word that depends on the prompt alone."""
    return f"answer {prompt_mark(messages)}"


def prompt_mark(messages: Messages) -> str:
    """Return twelve hexadecimal digits that stand for a prompt in `counts`.

    >>> prompt_mark([{"role": "user", "content": "Who?"}])
    '205f36cb9d73'
    """
    said = [(message["role"], message["content"]) for message in messages]
    return hashlib.sha256(orjson.dumps(said)).hexdigest()[:12]


def hashed_words(texts: Sequence[str]) -> list[list[float]]:
    """Embed texts as counts of their words, each word at one of sixteen places.

    >>> hashed_words(["gold gold"])[0] == [2 * number for number in hashed_words(["gold"])[0]]
    True
    """
    vectors = []
    for text in texts:
        vector = [0.0] * 16
        for word in text.lower().split():
            vector[hashlib.sha256(word.encode()).digest()[0] % 16] += 1.0
        vectors.append(vector)
    return vectors


@dataclass
class FakeModelServer:
    """An OpenAI-style server for tests; use it as a context manager, and talk to `url`.

    Args:
        answer: messages -> text.
        embed: texts -> vectors, under `/v1/embeddings`.
        delay: seconds before each reply.
        faults: kind of fault -> share of the requests that meet it; see `FAULTS`.
        script: kinds of fault (or "ok") for the first requests, in the order of arrival.
        seed: which requests meet which fault.
        api_key: if given, requests without it are refused with 401.
        capacity: if given, more requests at once are refused with 429.
        retry_after: seconds that "429-retry-after" asks for.
        slow_seconds: how late "slow" is.
        huge_bytes: size of a "huge" reply.
    """

    answer: Callable[[Messages], str] = echo_digest
    embed: Callable[[Sequence[str]], list[list[float]]] = hashed_words
    delay: float = 0.0
    faults: Mapping[str, float] = field(default_factory=dict)
    script: Sequence[str] = ()
    seed: int = 0
    api_key: str = ""
    capacity: int | None = None
    retry_after: str = "0.05"
    slow_seconds: float = 0.2
    huge_bytes: int = 40 * 2**20
    asked: Counter[str] = field(default_factory=Counter)
    """Prompt (see `prompt_mark`) -> requests that arrived."""
    answered: Counter[str] = field(default_factory=Counter)
    """Prompt -> right replies that were sent whole."""
    met: Counter[str] = field(default_factory=Counter)
    """Kind of fault -> requests that met it."""
    bodies: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=1000))
    """The last thousand requests' bodies, oldest first."""
    peak: int = 0
    """Most requests at once so far."""
    port: int = 0
    _in_flight: int = 0
    _ready: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        """Check the kinds of faults."""
        for kind in (*self.faults, *self.script):
            if kind not in FAULTS and kind != "ok":
                raise ValueError(f"unknown fault {kind!r}; known: ok, {', '.join(FAULTS)}")
        self._scripted = iter(self.script)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        """Start to serve, in a thread."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name="fake-model-server", daemon=True)
        self._thread.start()
        if not self._ready.wait(_READY_SECONDS):
            raise RuntimeError("the fake model server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        """Stop, whatever is in flight."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        self._loop.run_until_complete(self.listen())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._hang_up())
        self._loop.close()

    async def listen(self) -> None:
        """Open the port in the running event loop."""
        loop = asyncio.get_running_loop()
        self._connections: set[_Connection] = set()
        self._listening = await loop.create_server(
            lambda: _Connection(self), "127.0.0.1", self.port, backlog=2048
        )
        self.port = self._listening.sockets[0].getsockname()[1]

    async def _hang_up(self) -> None:
        """Close the port and every connection, also those being accepted just now."""
        self._listening.close()
        for _ in range(_TURNS_TO_ACCEPT):
            for connection in list(self._connections):
                connection.drop()
            await asyncio.sleep(0)

    def choose_fault(self, mark: str) -> str:
        """Return the fault that this request meets, or "ok"."""
        scripted = next(self._scripted, None)
        if scripted is not None:
            return scripted
        if not self.faults:
            return "ok"
        drawn = hashlib.sha256(f"{self.seed} {mark} {self.asked[mark]}".encode()).digest()
        place = int.from_bytes(drawn[:8], "big") / 2**64
        edges = itertools.accumulate(self.faults.values())
        return next((k for k, edge in zip(self.faults, edges, strict=True) if place < edge), "ok")

    def enter(self) -> bool:
        """Count a request in; say whether there is room for it."""
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        return self.capacity is None or self._in_flight <= self.capacity

    def leave(self) -> None:
        """Count a request out."""
        self._in_flight -= 1

    def counts(self) -> dict[str, Any]:
        """Return how often each prompt was asked and answered, and what faults were met."""
        return {"asked": self.asked, "answered": self.answered, "met": self.met, "peak": self.peak}


class _Connection(asyncio.Protocol):
    """One connection: requests come one after the other, each is answered before the next."""

    def __init__(self, server: FakeModelServer) -> None:
        self.server = server
        self.buffer = b""
        self.timer: asyncio.TimerHandle | None = None
        self.busy = False

    @staticmethod
    def of(server: FakeModelServer) -> set[_Connection]:
        """Return a server's open connections."""
        return server._connections  # noqa: SLF001 - the two classes are one machine

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.of(self.server).add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.of(self.server).discard(self)
        if self.timer is not None:
            self.timer.cancel()
        self._end()

    def drop(self) -> None:
        """Close at once."""
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, found, rest = self.buffer.partition(b"\r\n\r\n")
        if not found:
            return
        length = _content_length(head)
        if len(rest) < length:
            return
        self.buffer = rest[length:]
        self._answer(head, rest[:length])

    def _answer(self, head: bytes, body: bytes) -> None:
        server = self.server
        path = head.split(b" ", 2)[1]
        if path.endswith(b"/counts"):
            self._send(200, orjson.dumps(server.counts()))
            return
        self.busy = True
        room = server.enter()
        asked = orjson.loads(body)
        server.bodies.append(asked)
        if path.endswith(b"/embeddings"):
            said = [{"role": "input", "content": text} for text in asked["input"]]
            asked = {**asked, "messages": said}
        mark = prompt_mark(asked["messages"])
        server.asked[mark] += 1
        fault = "429" if not room else server.choose_fault(mark)
        if server.api_key and server.api_key.encode() not in head:
            fault = "401"
        if fault != "ok":
            server.met[fault] += 1
        wait = server.delay + (server.slow_seconds if fault == "slow" else 0.0)
        reply: Reply = _anthropic if path.endswith(b"/messages") else _openai
        if path.endswith(b"/embeddings"):
            reply = self._embeddings
        loop = asyncio.get_running_loop()
        self.timer = loop.call_later(wait, self._finish, fault, mark, asked, reply)

    def _finish(self, fault: str, mark: str, asked: dict[str, Any], reply: Reply) -> None:
        server = self.server
        if fault == "hang":
            return
        if fault == "cut":
            self.drop()
        elif fault in _ERRORS:
            status, error = _ERRORS[fault]
            after = f"Retry-After: {server.retry_after}\r\n" if fault == "429-retry-after" else ""
            self._send(status, orjson.dumps({"error": error}), more=after)
        elif fault == "302":
            self._send(302, b"", more="Location: http://127.0.0.1:9/v1\r\n")
        elif fault == "huge":
            self._send(200, b" " * server.huge_bytes)
        else:
            self._send_reply(fault, mark, reply(asked, server.answer(asked["messages"])))
        self._end()

    def _embeddings(self, asked: dict[str, Any], _: str) -> dict[str, Any]:
        vectors = self.server.embed(asked["input"])
        # Backwards: the index counts, not the order.
        data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]
        used = {"prompt_tokens": _words(asked), "total_tokens": _words(asked)}
        return {"object": "list", "model": "fake", "data": data[::-1], "usage": used}

    def _send_reply(self, fault: str, mark: str, reply: dict[str, Any]) -> None:
        body = orjson.dumps(reply)
        if fault == "truncated-json":
            self._send(200, body[: len(body) // 2])
        elif fault == "invalid-json":
            self._send(200, b"{'answer': nan}")
        elif fault == "empty-choices":
            self._send(200, orjson.dumps(reply | {"choices": []}))
        elif fault == "wrong-type":
            self._send(200, b"<html><title>Welcome</title></html>", kind="text/html")
        elif fault == "cut-body":
            self.transport.write(_head(200, len(body), "application/json") + body[: len(body) // 2])
            self.transport.close()
        else:
            self._send(200, body)
            self.server.answered[mark] += 1

    def _send(
        self, status: int, body: bytes, *, kind: str = "application/json", more: str = ""
    ) -> None:
        self.transport.write(_head(status, len(body), kind, more) + body)

    def _end(self) -> None:
        if self.busy:
            self.busy = False
            self.server.leave()


Reply: TypeAlias = Callable[[dict[str, Any], str], dict[str, Any]]


def _head(status: int, length: int, kind: str, more: str = "") -> bytes:
    return (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\n"
        f"Content-Length: {length}\r\n{more}\r\n"
    ).encode()


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    return 0


def _openai(asked: dict[str, Any], text: str) -> dict[str, Any]:
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    if asked.get("logprobs"):
        tokens = [{"token": word, "logprob": -0.5, "top_logprobs": []} for word in text.split()]
        choice["logprobs"] = {"content": tokens}
    used = {"prompt_tokens": _words(asked), "completion_tokens": len(text.split())}
    return {"object": "chat.completion", "model": "fake", "choices": [choice], "usage": used}


def _anthropic(asked: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "model": "fake",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": _words(asked), "output_tokens": len(text.split())},
    }


def _words(asked: dict[str, Any]) -> int:
    return sum(len(message["content"].split()) for message in asked["messages"])
