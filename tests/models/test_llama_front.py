"""The front of a model server, before a server that only counts requests."""

from __future__ import annotations

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest

from ragstone.models.llama_front import ModelFront

if TYPE_CHECKING:
    from collections.abc import Iterator

CHAT = "/v1/chat/completions"


class Inner(ThreadingHTTPServer):
    """Answers each request with its path and body; a prompt "wait" only when it is released."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.paths: list[str] = []
        self.waiting, self.released = threading.Event(), threading.Event()
        threading.Thread(target=self.serve_forever, daemon=True).start()


class _Handler(BaseHTTPRequestHandler):
    server: Inner

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.paths.append(self.path)
        if b"wait" in body and self.path == CHAT:
            self.server.waiting.set()
            self.server.released.wait(20)
        status = 400 if self.path == "/apply-template" else 200
        content = json.dumps({"path": self.path, "body": body.decode(errors="replace")}).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object, **__: object) -> None:
        pass


@pytest.fixture
def inner() -> Iterator[Inner]:
    """A server that knows no chat template."""
    server = Inner()
    yield server
    server.released.set()
    server.shutdown()
    server.server_close()


@pytest.fixture
def front(inner: Inner) -> Iterator[ModelFront]:
    """A front of that server."""
    server = ModelFront(f"127.0.0.1:{inner.server_port}", "key")
    yield server
    server.shutdown()
    server.server_close()


def _ask(
    front: ModelFront, body: bytes, path: str = CHAT, key: str = "key"
) -> http.client.HTTPConnection:
    connection = http.client.HTTPConnection("127.0.0.1", front.server_port, timeout=20)
    connection.request("POST", path, body, {"Authorization": f"Bearer {key}"})
    return connection


def _reply(connection: http.client.HTTPConnection) -> tuple[int, dict[str, str]]:
    reply = connection.getresponse()
    found = reply.status, json.loads(reply.read())
    connection.close()
    return found


def test_a_chat_is_passed_on_without_a_cache_that_nobody_controls(front: ModelFront) -> None:
    """If the prompt cannot be cut, the server computes the whole of it."""
    status, reply = _reply(_ask(front, b'{"messages": [], "seed": 1}'))
    assert (status, reply["path"]) == (200, CHAT)
    assert json.loads(reply["body"]) == {"messages": [], "seed": 1, "cache_prompt": False}


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"messages": 3}', b"\xff"])
def test_a_malformed_chat_gets_the_servers_own_error(front: ModelFront, body: bytes) -> None:
    """The front adds no error of its own, and serves the next request."""
    assert _reply(_ask(front, body))[0] == 200
    assert _reply(_ask(front, b"{}"))[0] == 200


def test_other_paths_are_passed_on(front: ModelFront, inner: Inner) -> None:
    """Nothing is prepared for a request that is not a chat."""
    connection = http.client.HTTPConnection("127.0.0.1", front.server_port, timeout=20)
    connection.request("GET", "/v1/models", headers={"Authorization": "Bearer key"})
    assert _reply(connection)[1]["path"] == "/v1/models"
    assert inner.paths == ["/v1/models"]


@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}]
)
def test_pages_of_other_addresses_are_refused_even_with_the_key(
    front: ModelFront, inner: Inner, headers: dict[str, str]
) -> None:
    """The server behind the front sees no such request."""
    connection = http.client.HTTPConnection("127.0.0.1", front.server_port, timeout=20)
    connection.request("POST", CHAT, b"{}", {"Authorization": "Bearer key", **headers})
    status, reply = _reply(connection)
    assert (status, inner.paths) == (403, [])
    assert "evil.example" in str(reply) or "null" in str(reply)


@pytest.mark.parametrize("key", ["", "other", "ké"])
def test_a_wrong_key_is_refused_before_anything_is_asked(
    front: ModelFront, inner: Inner, key: str
) -> None:
    """The server behind the front sees no such request."""
    assert _reply(_ask(front, b"{}", key=key))[0] == 401
    assert inner.paths == []


def test_a_client_that_leaves_does_not_hold_up_the_next(front: ModelFront, inner: Inner) -> None:
    """Its request is given up while the server still computes."""
    gone = _ask(front, b'{"wait": 1}')
    assert inner.waiting.wait(20)
    gone.close()
    assert _reply(_ask(front, b"{}"))[0] == 200
