"""The fake servers answer programs of this machine, not pages of other addresses."""

from __future__ import annotations

import http.client
import json

import pytest

from ragstone.testing import FakeModelServer
from ragstone.testing.fake_batch_server import FakeBatchServer
from ragstone.testing.fake_elasticsearch import FakeElasticsearch
from ragstone.testing.threaded_server import ThreadedServer

CHAT = json.dumps({"messages": [{"role": "user", "content": "Who?"}]})


def _status(server: ThreadedServer, method: str, path: str, **headers: str) -> int:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request(method, path, CHAT if method == "POST" else None, headers)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("kind", [FakeModelServer, FakeBatchServer])
def test_foreign_requests_reach_no_model(kind: type[FakeModelServer]) -> None:
    """A name that was made to point here and a page of another address get 403."""
    with kind() as server:
        chat = "/v1/chat/completions"
        assert _status(server, "POST", chat, Host=f"evil.example:{server.port}") == 403
        assert _status(server, "POST", chat, Origin="http://evil.example") == 403
        assert _status(server, "GET", "/counts", Host="evil.example") == 403
        assert server.counts()["asked"] == {}
        assert _status(server, "POST", chat) == 200
        assert _status(server, "POST", chat, Host=f"localhost:{server.port}") == 200


def test_foreign_requests_reach_no_index() -> None:
    """The fake search engine makes the same check."""
    with FakeElasticsearch() as server:
        assert _status(server, "GET", "/") == 200
        assert _status(server, "GET", "/", Host="evil.example") == 403
        assert _status(server, "POST", "/_bulk", Origin="null") == 403
