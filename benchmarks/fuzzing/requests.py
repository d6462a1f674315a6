"""A passport of one run and that of a later one, and requests to local servers."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any, Final

from .traces import TRACES

_JSON: Final = ("Content-Type", "application/json")
_FORM: Final = ("Content-Type", "application/x-www-form-urlencoded")
_USUAL: Final = [("Host", "127.0.0.1:8321"), ("Connection", "close")]
_CHAT: Final = {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}
REQUESTS: Final[tuple[tuple[str, str, bytes, list[tuple[str, str]]], ...]] = (
    ("view", "POST /v1/traces", json.dumps(TRACES).encode(), [_JSON, *_USUAL]),
    ("view", "GET /alive", b"", [("Accept", "*/*"), *_USUAL]),
    ("view", "GET /traces?page=1", b"", [("Accept", "text/html"), *_USUAL]),
    ("view", "POST /ask", b"token=x&basis=y&query=z", [_FORM, *_USUAL]),
    ("model", "POST /v1/chat/completions", json.dumps(_CHAT).encode(), [_JSON, *_USUAL]),
    ("model", "POST /v1/embeddings", b'{"model": "m", "input": ["a"]}', [_JSON, *_USUAL]),
)
"""Server, method and path, body and headers of each request."""
PASSPORT: Final[dict[str, Any]] = json.loads(
    Path(__file__).with_name("passport.json").read_text(encoding="utf-8")
)


def _later() -> dict[str, Any]:
    """Return the passport of a later run, with another corpus and other means."""
    from ragstone.results.passport_file import digest

    made = copy.deepcopy(PASSPORT)
    del made["checksum"]
    made["finished"] = "2026-03-09T10:04:31+00:00"
    made["data"]["corpus_digest"] = "1" * 64
    for row in made["numbers"]["leaderboard"]:
        row["mean"] = 0.5
    return {**made, "checksum": digest(made)}


LATER: Final = _later()
