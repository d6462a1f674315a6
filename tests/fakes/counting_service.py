"""A service over HTTP that counts its requests, and answers with its version."""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Service(ThreadingHTTPServer):
    """A service that counts its requests by path, tenant and model, and answers its version."""

    def __init__(self, version: str = "1", port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.version = version
        self.counts: Counter[str] = Counter()
        self.bodies: list[Any] = []
        self.off_after: int | None = None
        """Number of replies after which the service is off."""

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.server_port}/ask"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        service = self.server
        assert isinstance(service, Service)
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if service.off_after is not None and service.counts.total() >= service.off_after:
            self.close_connection = True
            return
        service.counts[f"{self.path} {self.headers.get('X-Tenant', '')}".strip()] += 1
        service.bodies.append(body)
        raw = json.dumps({"answer": f"version {service.version}"}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)
        if service.counts.total() == service.off_after:
            service.shutdown()
            service.socket.close()

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def serving(version: str = "1", port: int = 0) -> Iterator[Service]:
    """Yield a service that runs in a thread."""
    with Service(version, port) as service:
        thread = threading.Thread(target=service.serve_forever, daemon=True)
        thread.start()
        try:
            yield service
        finally:
            service.shutdown()
            thread.join()
