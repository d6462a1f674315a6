"""The client of search engines, against servers that answer in unusual ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from ragstone.calls.scheduler import RetryPolicy
from ragstone.core import limits
from ragstone.errors import CallError, ConfigError
from ragstone.indexes.elastic_client import OwnElasticIndex, SearchEngine, error_text
from ragstone.testing import FakeElasticsearch
from ragstone.testing.threaded_server import ThreadedServer

QUICK = RetryPolicy(attempts=3, first_wait=0.001, longest_wait=0.002, timeout=5)


@dataclass
class Replies(ThreadedServer):
    """A server that sends one reply after another, the last one again and again."""

    replies: list[web.Response | None] = field(default_factory=list)
    seen: list[Mapping[str, str]] = field(default_factory=list)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the next reply; None closes the connection."""
        self.seen.append(dict(request.headers))
        place = min(len(self.seen), len(self.replies)) - 1
        reply = self.replies[place]
        if reply is None and request.transport is not None:
            request.transport.close()
        given = web.Response() if reply is None else reply  # 3.11: one is falsy
        return web.Response(
            body=given.body,
            status=given.status,
            headers={k: v for k, v in given.headers.items() if k != "Content-Length"},
        )

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.port}"


def _json(text: str, status: int = 200) -> web.Response:
    return web.Response(text=text, status=status, content_type="application/json")


OK = _json('{"count": 7}')


@pytest.mark.parametrize("status", [429, 502, 503, 504, None])
def test_a_busy_server_is_asked_again(status: int | None) -> None:
    """So is one that closes the connection."""
    fault = None if status is None else _json("{}", status)
    with Replies(replies=[fault, fault, OK]) as server:
        assert SearchEngine(server.url, retry_policy=QUICK).count("wiki") == 7
        assert len(server.seen) == 3
    with Replies(replies=[fault]) as server:
        engine = SearchEngine(server.url, retry_policy=QUICK)
        with pytest.raises(CallError, match=f"refused with {status}|closed the connection"):
            engine.count("wiki")
        assert len(server.seen) == 3


def test_a_refusal_is_not_repeated() -> None:
    """The server's own reason is in the error, on one line."""
    reason = '{"error": {"type": "security_exception", "reason": "no\\npermission"}}'
    with Replies(replies=[_json(reason, 403)]) as server:
        told = r"refused with 403: security_exception: no permission; name an environment variable"
        with pytest.raises(CallError, match=told):
            SearchEngine(server.url, retry_policy=QUICK).count("wiki")
        assert len(server.seen) == 1


def test_a_redirect_is_not_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key would be sent to another server."""
    monkeypatch.setenv("KEY", "name:password")
    with FakeElasticsearch() as other:
        moved = web.Response(status=302, headers={"Location": f"{other.url}/wiki/_count"})
        with Replies(replies=[moved]) as server:
            engine = SearchEngine(server.url, "KEY", retry_policy=QUICK)
            with pytest.raises(CallError, match="refused with 302"):
                engine.count("wiki")
            assert server.seen[0]["Authorization"] == "Basic bmFtZTpwYXNzd29yZA=="
        assert not other.asked


def test_what_is_no_search_engine_is_told() -> None:
    """A page of HTML, and JSON without a version."""
    page = web.Response(text="<html>", content_type="text/html")
    for reply, told in ((page, "did not return JSON"), (_json("[]"), "reports no version")):
        with Replies(replies=[reply]) as server:
            engine = SearchEngine(server.url, retry_policy=QUICK)
            with pytest.raises((CallError, ConfigError), match=told):
                _ = engine.kind


def test_a_response_without_end_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """The maximum is that of all responses."""
    monkeypatch.setattr(limits, "MAX_RESPONSE_BYTES", 5)
    with Replies(replies=[OK]) as server:
        engine = SearchEngine(server.url, retry_policy=QUICK)
        with pytest.raises(CallError, match="exceeds the maximum response size of 5 bytes"):
            engine.count("wiki")


def test_a_refused_passage_is_told() -> None:
    """The number of refused passages and the first reason."""
    with FakeElasticsearch() as server:
        index = OwnElasticIndex(SearchEngine(server.url), "own", 2)
        assert not index.exists()
        index.create(3)
        rows: list[dict[str, Any]] = [{"vector": [1.0, 2.0, 3.0]}, {"vector": [1.0]}]
        with pytest.raises(CallError, match=r"refused 1 of 2 passages: .*3 dimensions, found 1"):
            index.write(0, rows)
        assert index.exists()
        assert (index.count(), index.count(0, 1), index.count(1, 2)) == (1, 1, 0)


def test_the_cause_of_an_error_is_shown() -> None:
    """The root cause may say more than the outer error; equal reasons are told once."""
    cause = {"type": "inner", "reason": "the cause"}
    outer = {"type": "outer", "reason": "failed", "root_cause": [cause, cause], "caused_by": cause}
    assert error_text(outer) == "outer: failed; inner: the cause"
    assert error_text("a\ntext") == "a text"
