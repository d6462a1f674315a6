"""HTTP messages as bytes: first line, headers and body, whose framing is mutated."""

from __future__ import annotations

import copy
import gzip
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Final

from .damage import bomb
from .trees import TEXTS

ENDLESS: Final = "X-Endless"
"""Header that the server of the fuzzing repeats until the client closes the connection."""
_JSON: Final = "application/json"


_LONGEST: Final = 8_000_000
"""Characters of equal headers that are added at once."""


@dataclass
class Frame:
    """An HTTP message; its length is added unless it is chunked, or `length` is false."""

    first: str
    body: bytes
    headers: list[tuple[str, str]] = field(default_factory=lambda: [("Content-Type", _JSON)])
    chunked: Callable[[bytes], bytes] | None = None
    length: bool = True


def frame_bytes(frame: Frame) -> bytes:
    """Return a message as bytes."""
    body, headers = frame.body, list(frame.headers)
    if frame.chunked is not None:
        body = frame.chunked(body)
        headers.append(("Transfer-Encoding", "chunked"))
    if frame.length and frame.chunked is None:
        headers.append(("Content-Length", str(len(body))))
    lines = [frame.first, *(f"{name}: {value}" for name, value in headers), "", ""]
    return "\r\n".join(lines).encode("utf-8", "surrogatepass") + body


def _lengths(size: int) -> tuple[str, ...]:
    return (
        *(str(size - 1), str(size + 1), str(size + 10**6), "0", "-1", "+5", "abc", "", f" {size} "),
        *(f"{size}, {size}", f"{size}, 3", "9" * 30, "9" * 5000, "1e3", "0x10", "²", f"0{size}"),
    )


def _whole(
    body: bytes, size: bytes = b"", end: bytes = b"0\r\n\r\n", after: bytes = b"\r\n"
) -> bytes:
    half = len(body) // 2
    parts = (body[:half], body[half:])
    return b"".join((size or b"%x" % len(p)) + b"\r\n" + p + after for p in parts) + end


_CHUNKINGS: Final[tuple[Callable[[bytes], bytes], ...]] = (
    _whole,
    lambda body: _whole(body, size=b"0"),
    lambda body: _whole(body, size=b"-5"),
    lambda body: _whole(body, size=b"xyz"),
    lambda body: _whole(body, size=b"f" * 16),
    lambda body: _whole(body, size=b"f" * 5000),
    lambda body: _whole(body, size=b"0x10"),
    lambda body: _whole(body, size=b"1_0"),
    lambda body: _whole(body, size=b"%x;%s" % (len(body), b"a=b;" * 3000)),
    lambda body: _whole(body, size=b""),
    lambda body: _whole(body, end=b""),
    lambda body: _whole(body, end=b"0\r\n"),
    lambda body: _whole(body, after=b""),
    lambda body: _whole(body, after=b"\n"),
    lambda body: _whole(body, end=b"0\r\n" + b"T: x\r\n" * 20_000 + b"\r\n"),
    lambda body: _whole(body, end=b"0\r\nContent-Length: 5\r\n\r\n"),
    lambda body: b"".join(b"1\r\n%c\r\n" % one for one in body) + b"0\r\n\r\n",
    lambda body: _whole(body) * 2,
)
_TYPES: Final = (
    *("text/html", "", "application/json; charset=utf-16", "application/json; charset=nonsense"),
    *("application/json; charset=latin-1", 'application/json; charset="utf-8', "a" * 9000),
    *(
        "application/json;" * 500,
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "/",
        ";",
    ),
    *("application/x-protobuf", "application/x-www-form-urlencoded", "text/event-stream"),
)


def _gzip(body: bytes) -> bytes:
    return gzip.compress(body, 1, mtime=0)


_CODINGS: Final[tuple[tuple[str, Callable[[bytes], bytes]], ...]] = (
    ("gzip", _gzip),
    ("gzip", lambda body: body),
    ("gzip", lambda body: _gzip(body)[:-9]),
    ("gzip", lambda body: _gzip(body) * 2),
    ("gzip", lambda body: bomb(body, Random(0))),
    ("deflate", zlib.compress),
    ("deflate", lambda body: zlib.compress(body)[:5]),
    ("br", lambda body: body),
    ("zstd", lambda body: body),
    ("identity", lambda body: body),
    ("gzip, gzip", lambda body: _gzip(_gzip(body))),
    ("unknown", lambda body: body),
)
_HEADERS: Final = (
    *(("Content-Length", "5"), ("Transfer-Encoding", "chunked"), ("Transfer-Encoding", "gzip")),
    *(("Transfer-Encoding", "chunked, chunked"), ("Transfer-Encoding", "identity"), ("", "x")),
    *(("A b", "c"), ("A\0", "b"), ("A", "\0"), ("A", "b\r\n c"), ("A", "b\nC: d"), ("A", "b\rc")),
    *(
        ("A" * 70_000, "b"),
        ("A", "b" * 70_000),
        ("A", "b" * 3_000_000),
        ("é", "é"),
        ("A", "\ud800"),
    ),
    *(("Connection", "upgrade"), ("Upgrade", "websocket"), ("Connection", "keep-alive")),
    *(("Retry-After", v) for v in ("-1", "nan", "1e308", "9" * 400, "Fri, 99 Foo 2026", "²", "")),
    *(("x-ratelimit-reset-requests", v) for v in ("1s", "9" * 400 + "h", "-5m", "nan", "1h²")),
    *(("x-ratelimit-remaining-requests", v) for v in ("0", "-1", "²", "")),
    *(("Location", "http://127.0.0.1:1/"), ("Location", "/" * 9000), ("Set-Cookie", "a=b; ;;=")),
    *(("Expect", "100-continue"), ("Expect", "x"), ("Host", ""), ("Host", "evil.example")),
    *(
        ("Origin", "null"),
        ("Origin", "http://evil.example"),
        ("Cookie", ";" * 5000),
        (ENDLESS, "x"),
    ),
    *(("Range", "bytes=9-1"), ("If-Modified-Since", "x" * 99), ("Content-Encoding", "gzip")),
)
_FIRST: Final = (
    *("HTTP/1.0 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 \x1b[31mred", "HTTP/2.0 200 OK", "HTTP/0.9"),
    *("HTTP/1.1 2OO OK", "HTTP/1.1 99 x", "HTTP/1.1 1000 x", "HTTP/1.1 204 x", "HTTP/1.1 304 x"),
    *("HTTP/1.1 101 x", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK", "HTTP/1.1 302 Found", ""),
    *(
        "HTTP/1.1 429 x",
        "HTTP/1.1 503 x",
        f"HTTP/1.1 500 {'x' * 9000}",
        "HTTP/1.1 -200 x",
        "ICY 200",
    ),
    "HTTP/1.1 100 Continue\r\n\r\n" * 500 + "HTTP/1.1 200 OK",
)
_REQUESTS: Final = (
    *("GET / HTTP/1.1", "GET /../../etc/passwd HTTP/1.1", "GET /%00 HTTP/1.1"),
    "GET /%ff%fe HTTP/1.1",
    *("GET /?" + "a=b&" * 3000 + " HTTP/1.1", "GET http://[::1 HTTP/1.1", "OPTIONS * HTTP/1.1"),
    *("CONNECT a:1 HTTP/1.1", "PRI * HTTP/2.0", "GET /alive HTTP/9.9", "GET /alive"),
    "get / HTTP/1.1",
    *("HEAD / HTTP/1.1", "PUT /v1/traces HTTP/1.1", "POST /v1/logs HTTP/1.1", "GET  /  HTTP/1.1"),
    *(f"GET /{'x' * 9000} HTTP/1.1", "TRACE / HTTP/1.1", "G\0T / HTTP/1.1", "GET /é HTTP/1.1", ""),
    *("GET /assets/..%2f..%2fapp.py HTTP/1.1", "GET /traces.json?page=²&sort=x HTTP/1.1"),
    *("POST /v1/chat/completions HTTP/1.1", "POST /counts HTTP/1.1"),
    "POST /v1/embeddings HTTP/1.1",
)  # fmt: skip


def change_frame(frame: Frame, draw: Random) -> Frame:
    """Return a message with one mutation of its framing."""
    made = copy.copy(frame)
    made.headers = list(frame.headers)
    match draw.randrange(9):
        case 0:
            made.length = False
            if draw.random() < 0.8:
                made.headers += [("Content-Length", draw.choice(_lengths(len(made.body))))]
        case 1 | 2:
            made.chunked = draw.choice(_CHUNKINGS)
        case 3:
            made.headers[0] = ("Content-Type", draw.choice(_TYPES))
        case 4:
            name, pack = draw.choice(_CODINGS)
            made.headers.append(("Content-Encoding", name))
            made.body = pack(made.body)
        case 5:
            made.first = draw.choice(_FIRST if made.first.startswith("HTTP") else _REQUESTS)
        case 6:
            many = draw.choice((1, 2, 2, 50, 20_000))
            header = draw.choice(_HEADERS)
            made.headers += [header] * min(many, 1 + _LONGEST // len("".join(header)))
            made.headers = made.headers[:20_000]
        case 7:
            name, _ = draw.choice(made.headers)
            made.headers.append((name, draw.choice(TEXTS)[:5000]))
        case _:
            made.headers.insert(draw.randrange(len(made.headers) + 1), draw.choice(_HEADERS))
    return made
