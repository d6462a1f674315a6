"""A fake model server: deterministic answers over real HTTP, and faults on demand.

It implements the OpenAI protocol (chat and embeddings) and Anthropic's (under `/v1/messages`) on a
port of this machine. Equal prompts have equal answers. The fault of a request depends on the seed,
the prompt and the number of its earlier requests. `GET /counts` returns the numbers of requests and
answers per prompt. `python -m ragstone.testing` runs the server as a separate process.

A request takes 0.11 to 0.14 ms of CPU time and a call of Ragstone's client 0.3 ms, so benchmarks of
calls measure the client.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import orjson
from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage

from ragstone.testing.threaded_server import ThreadedServer

_MALFORMED: Final = (
    *(AttributeError, KeyError, TypeError, ValueError),
    *(BadHttpMessage, web.RequestPayloadError),
)
"""Errors of a body that is not a request."""
Messages: TypeAlias = Sequence[Mapping[str, str]]

FAULTS: Final[Mapping[str, str]] = {
    "429": "rate limit reached, without Retry-After",
    "429-retry-after": "rate limit reached, with Retry-After",
    "500": "internal error",
    "503": "overloaded",
    "slow": "the correct reply after a delay",
    "hang": "no reply on an open connection",
    "cut": "a connection closed before the reply",
    "cut-body": "a connection closed in the middle of the reply",
    "truncated-json": "a complete reply whose JSON ends in the middle",
    "invalid-json": "a reply that is not JSON",
    "empty-choices": "a reply without choices",
    "wrong-type": "a page of HTML instead of JSON",
    "huge": "a reply of many megabytes",
    "400": "this request cannot be served",
    "400-context": "the request exceeds the context size",
    "401": "incorrect API key",
    "402-quota": "quota exceeded",
    "404": "the model does not exist",
    "302": "moved to another address",
}
"""Kind of fault -> its description, which is the message of an error."""

_ERRORS: Final[Mapping[str, tuple[int, str]]] = {
    "429": (429, "rate_limit_exceeded"),
    "429-retry-after": (429, "rate_limit_exceeded"),
    "500": (500, "internal_error"),
    "503": (503, "overloaded"),
    "400": (400, "invalid_request"),
    "400-context": (400, "exceed_context_size_error"),
    "401": (401, "invalid_api_key"),
    "402-quota": (429, "insufficient_quota"),
    "404": (404, "model_not_found"),
}
"""Kind of fault -> HTTP status and code of the error."""


def echo_digest(messages: Messages) -> str:
    """Return an answer that depends on the prompt of `messages` alone."""
    return f"answer {prompt_mark(messages)}"


def prompt_mark(messages: Messages) -> str:
    """Return the twelve hexadecimal digits that identify a prompt in `counts`.

    >>> prompt_mark([{"role": "user", "content": "Who?"}])
    '205f36cb9d73'
    """
    pairs = [(message["role"], message["content"]) for message in messages]
    return hashlib.sha256(orjson.dumps(pairs)).hexdigest()[:12]


def hashed_words(texts: Sequence[str]) -> list[list[float]]:
    """Return `texts` as vectors: counts of their words, each word at one of sixteen places.

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
class FakeModelServer(ThreadedServer):
    """An OpenAI-style server for tests: a context manager, with its address in `url`.

    Args:
        answer: messages -> text.
        embed: texts -> vectors, under `/v1/embeddings`.
        delay: seconds before each reply.
        faults: kind of fault (see `FAULTS`) -> share of the requests.
        script: kinds of fault (or "ok") for the first requests, in the order of arrival.
        fault_of: messages -> kind of fault, or "ok".
        seed: seed of the assignment of faults to requests.
        api_key: if given, requests without it are refused with 401.
        capacity: maximum number of concurrent requests (None: any number); more get a 429.
        retry_after: value of the header in "429-retry-after", in seconds.
        slow_seconds: delay of "slow", in seconds.
        huge_bytes: size of a "huge" reply, in bytes.
    """

    answer: Callable[[Messages], str] = echo_digest
    embed: Callable[[Sequence[str]], list[list[float]]] = hashed_words
    delay: float = 0.0
    faults: Mapping[str, float] = field(default_factory=dict)
    script: Sequence[str] = ()
    fault_of: Callable[[Messages], str] | None = None
    seed: int = 0
    api_key: str = ""
    capacity: int | None = None
    retry_after: str = "0.05"
    slow_seconds: float = 0.2
    huge_bytes: int = 40 * 2**20
    asked: Counter[str] = field(default_factory=Counter)
    """Prompt (see `prompt_mark`) -> requests that arrived."""
    answered: Counter[str] = field(default_factory=Counter)
    """Prompt -> correct replies that were sent completely."""
    met: Counter[str] = field(default_factory=Counter)
    """Kind of fault -> number of requests."""
    bodies: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=1000))
    """The bodies of the last thousand requests, oldest first."""
    peak: int = 0
    """Maximum number of concurrent requests so far."""
    _in_flight: int = 0

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

    def choose_fault(self, mark: str) -> str:
        """Return the fault of a request whose prompt has this `mark` (`prompt_mark`), or "ok"."""
        scripted = next(self._scripted, None)
        if scripted is not None:
            return scripted
        if not self.faults:
            return "ok"
        drawn = hashlib.sha256(f"{self.seed} {mark} {self.asked[mark]}".encode()).digest()
        place = int.from_bytes(drawn[:8], "big") / 2**64
        edges = itertools.accumulate(self.faults.values())
        return next((k for k, edge in zip(self.faults, edges, strict=True) if place < edge), "ok")

    def counts(self) -> dict[str, Any]:
        """Return the numbers of requests and answers per prompt, and of faults per kind."""
        return {"asked": self.asked, "answered": self.answered, "met": self.met, "peak": self.peak}

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the response to a request."""
        if request.path.endswith("/counts"):
            return _json(orjson.dumps(self.counts()))
        try:
            body = orjson.loads(await request.content.read())
            asked = _with_messages(body)
        except _MALFORMED as error:
            said = {
                "error": {
                    "message": f"the body is not a request: {error!r}",
                    "code": "invalid_request",
                }
            }
            return _json(orjson.dumps(said), status=400)
        self._in_flight += 1
        self.peak = max(self.peak, self._in_flight)
        self.bodies.append(body)
        try:
            return await self._respond(request, asked)
        finally:
            self._in_flight -= 1

    async def _respond(self, request: web.BaseRequest, asked: dict[str, Any]) -> web.StreamResponse:
        mark = prompt_mark(asked["messages"])
        self.asked[mark] += 1
        fault = self._refusal(request) or self.choose_fault(mark)
        if fault == "ok" and self.fault_of is not None:
            fault = self.fault_of(asked["messages"])
        if fault != "ok":
            self.met[fault] += 1
        await asyncio.sleep(self.delay + (self.slow_seconds if fault == "slow" else 0.0))
        if fault == "hang":
            await asyncio.Event().wait()
        if fault in _ERRORS:
            status, code = _ERRORS[fault]
            error = {"message": FAULTS[fault], "code": code}
            headers = {"Retry-After": self.retry_after} if fault == "429-retry-after" else {}
            return _json(orjson.dumps({"error": error}), status=status, headers=headers)
        if fault == "302":
            return web.Response(status=302, headers={"Location": "http://127.0.0.1:9/v1"})
        if fault == "huge":
            return _json(b" " * self.huge_bytes)
        if fault == "cut":
            return _close(request, web.Response())
        return await self._reply(request, fault, mark, asked)

    def _refusal(self, request: web.BaseRequest) -> str:
        """Return the fault of a request without the key or beyond the capacity, or ""."""
        if self.api_key and not any(self.api_key in value for value in request.headers.values()):
            return "401"
        return "429" if self.capacity is not None and self._in_flight > self.capacity else ""

    async def _reply(
        self, request: web.BaseRequest, fault: str, mark: str, asked: dict[str, Any]
    ) -> web.StreamResponse:
        if request.path.endswith("/embeddings"):
            reply = _embeddings(asked, self.embed(asked["input"]))
        else:
            write = _anthropic if request.path.endswith("/messages") else write_openai
            reply = write(asked, self.answer(asked["messages"]))
        body = orjson.dumps(reply)
        if fault == "truncated-json":
            return _json(body[: len(body) // 2])
        if fault == "invalid-json":
            return _json(b"{'answer': nan}")
        if fault == "empty-choices":
            return _json(orjson.dumps(reply | {"choices": []}))
        if fault == "wrong-type":
            page = "<html><title>Welcome</title></html>"
            return web.Response(text=page, content_type="text/html")
        if fault == "cut-body":
            begun = web.StreamResponse(headers={"Content-Length": str(len(body))})
            await begun.prepare(request)
            await begun.write(body[: len(body) // 2])
            return _close(request, begun)
        self.answered[mark] += 1
        return _json(body)


def _with_messages(body: dict[str, Any]) -> dict[str, Any]:
    """Return a request, whose texts to embed are messages too; raise one of `_MALFORMED`."""
    found = body
    if "input" in body:
        texts = list(map(str, body["input"]))
        given = [{"role": "input", "content": text} for text in texts]
        found = {**body, "input": texts, "messages": given}
    prompt_mark(found["messages"])
    return found


def _json(
    body: bytes, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.Response(body=body, status=status, headers=headers, content_type="application/json")


def _close(request: web.BaseRequest, response: web.StreamResponse) -> web.StreamResponse:
    """Close a request's connection before its response is complete."""
    if request.transport is not None:
        request.transport.close()
    return response


def _embeddings(asked: dict[str, Any], vectors: Sequence[Sequence[float]]) -> dict[str, Any]:
    # In reverse order: clients must use the index.
    data = [{"object": "embedding", "index": n, "embedding": v} for n, v in enumerate(vectors)]
    used = {"prompt_tokens": _words(asked), "total_tokens": _words(asked)}
    return {"object": "list", "model": "fake", "data": data[::-1], "usage": used}


def write_openai(asked: Mapping[str, Any], text: str) -> dict[str, Any]:
    """Return the body of a chat completion with a text."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": text},
        "finish_reason": "stop",
    }
    if asked.get("logprobs"):
        tokens = [{"token": word, "logprob": -0.5, "top_logprobs": []} for word in text.split()]
        choice["logprobs"] = {"content": tokens}
    sent, written = _words(asked), len(text.split())
    return {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [choice],
        "usage": {
            "prompt_tokens": sent,
            "completion_tokens": written,
            "total_tokens": sent + written,
        },
    }


def _anthropic(asked: dict[str, Any], text: str) -> dict[str, Any]:
    return {
        "type": "message",
        "model": "fake",
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": _words(asked), "output_tokens": len(text.split())},
    }


def _words(asked: Mapping[str, Any]) -> int:
    return sum(len(message["content"].split()) for message in asked["messages"])
