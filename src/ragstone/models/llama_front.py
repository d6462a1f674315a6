"""The front of a local model server: it prepares the prompt cache, then passes a request on.

One request is answered at a time. A request whose client has gone is given up.
"""

from __future__ import annotations

import http.client
import json
import select
import socket
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from secrets import compare_digest
from typing import Any, Final

from ragstone.core.own_address import foreign_request, own_hosts
from ragstone.models.llama_parts import PromptCache

_CHAT: Final = "/v1/chat/completions"


class ModelFront(ThreadingHTTPServer):
    """Serves the protocol of a model server at another address, with one request at a time."""

    daemon_threads = True

    def __init__(self, inner: str, api_key: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.inner = inner
        """Host and port of the server that answers."""
        self.own = own_hosts(self.server_port)
        self.authorization = f"Bearer {api_key}"
        self.turn = threading.Lock()
        self.cache = PromptCache(self._post)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        """The address of the front."""
        return f"http://127.0.0.1:{self.server_port}"

    def send(self, method: str, path: str, body: bytes) -> http.client.HTTPConnection:
        """Send a request to the server; return the connection that its reply comes from."""
        connection = http.client.HTTPConnection(self.inner)
        headers = {"Authorization": self.authorization, "Content-Type": "application/json"}
        connection.request(method, path, body, headers)
        return connection

    def _post(self, path: str, body: Mapping[str, Any]) -> Mapping[str, Any] | None:
        connection = self.send("POST", path, json.dumps(body).encode())
        try:
            reply = connection.getresponse()
            found: Mapping[str, Any] = json.loads(reply.read())
            return found if reply.status == http.HTTPStatus.OK else None
        finally:
            connection.close()


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    server: ModelFront
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        """Pass a request on."""
        self._answer()

    def do_POST(self) -> None:
        """Answer a request, a chat after the preparation of its prompt."""
        self._answer()

    def log_message(self, *_: object, **__: object) -> None:
        """Write no log of requests."""

    def _answer(self) -> None:
        asked, origin = self.headers.get("Host"), self.headers.get("Origin")
        if why := foreign_request(self.command, asked, origin, self.server.own):
            self.close_connection = True
            self._reply(403, json.dumps({"error": {"message": why, "code": 403}}).encode())
            return
        given = self.headers.get("Authorization", "")
        if not compare_digest(given.encode(), self.server.authorization.encode()):
            self.close_connection = True
            self._reply(401, b'{"error": {"message": "wrong API key", "code": 401}}')
            return
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.turn:
            if not self._is_gone():
                self._pass_on(body)

    def _pass_on(self, body: bytes) -> None:
        if self.path == _CHAT:
            body = self._prepared(body)
        else:
            self.server.cache.forget()
        inner = self.server.send(self.command, self.path, body)
        try:
            while not select.select([inner.sock], [], [], 0)[0]:
                select.select([inner.sock, self.connection], [], [])
                if self._is_gone():
                    self.server.cache.forget()
                    self.close_connection = True
                    return
            reply = inner.getresponse()
            self._reply(reply.status, reply.read(), reply.headers.get("Content-Type", ""))
        finally:
            inner.close()

    def _prepared(self, body: bytes) -> bytes:
        """Return the body of a chat with its prompt prepared; one that is malformed as it is."""
        try:
            asked = json.loads(body)
            return json.dumps(self.server.cache.prepare(asked)).encode()
        except (ValueError, KeyError, TypeError, AttributeError):
            self.server.cache.forget()
            return body

    def _reply(self, status: int, content: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _is_gone(self) -> bool:
        """Return whether the client has closed its connection."""
        if not select.select([self.connection], [], [], 0)[0]:
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True
