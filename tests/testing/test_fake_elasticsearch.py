"""The fake search engine speaks the protocol: what it finds, when, and what it refuses."""

from __future__ import annotations

import json
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from ragstone.testing import FakeElasticsearch

FIELDS: dict[str, Any] = {
    "text": {"type": "text"},
    "vector": {"type": "dense_vector", "dims": 2},
    "terms": {"type": "rank_features"},
}


def _ask(server: FakeElasticsearch, method: str, path: str, *lines: Any) -> Any:
    body = "\n".join(json.dumps(line) for line in lines) + "\n" if lines else ""
    request = Request(f"{server.url}/{path}", body.encode(), method=method)  # noqa: S310 - ours
    with urlopen(request) as response:  # noqa: S310 - ours
        return json.loads(response.read())


def _search(server: FakeElasticsearch, body: dict[str, Any], index: str = "wiki") -> Any:
    found = _ask(server, "POST", f"{index}/_msearch", {}, {"size": 10, **body})
    (response,) = found["responses"]
    if "error" in response:
        return response["error"]["reason"]
    return [(hit["_id"], round(hit["_score"], 4)) for hit in response["hits"]["hits"]]


def _filled(server: FakeElasticsearch) -> None:
    _ask(server, "PUT", "wiki", {"mappings": {"properties": FIELDS}})
    documents = [
        {"text": "tagus lisbon", "vector": [1, 0], "terms": {"river": 2.0}},
        {"text": "porto", "vector": [0, 2], "terms": {"city": 1.0}},
    ]
    actions = [({"index": {"_id": f"d{n}"}}, row) for n, row in enumerate(documents)]
    _ask(server, "POST", "wiki/_bulk", *(line for pair in actions for line in pair))


def test_it_says_who_it_is() -> None:
    """Version and distribution are those that clients look for."""
    with FakeElasticsearch(flavour="opensearch", version="2.1.0") as server:
        found = _ask(server, "GET", "")
    assert found["tagline"] == "Ragstone's fake search engine, for tests"
    assert found["version"] == {"number": "2.1.0", "distribution": "opensearch"}


def test_documents_are_found_after_a_refresh() -> None:
    """As in the real engine, a count before it is 0."""
    with FakeElasticsearch() as server:
        _filled(server)
        assert _ask(server, "POST", "wiki/_count", {})["count"] == 0
        _ask(server, "POST", "wiki/_refresh")
        assert _ask(server, "POST", "wiki/_count", {})["count"] == 2


def test_each_kind_of_query_ranks() -> None:
    """Words by BM25, vectors by the cosine, terms by the product of weights."""
    vector = {"field": "vector", "query_vector": [1.0, 1.0], "k": 1, "num_candidates": 5}
    script = {
        "source": "cosineSimilarity(params.query_vector, 'vector') + 1.0",
        "params": {"query_vector": [0.0, 1.0]},
    }
    with FakeElasticsearch(expand=lambda _: {"river": 3.0}) as server:
        _filled(server)
        _ask(server, "POST", "wiki/_refresh")
        ((found, _),) = _search(server, {"query": {"match": {"text": {"query": "Lisbon"}}}})
        assert found == "d0"
        assert _search(server, {"knn": vector}) == [("d0", 0.8536)]
        exact = {"script_score": {"query": {"match_all": {}}, "script": script}}
        assert _search(server, {"query": exact}) == [("d1", 2.0), ("d0", 1.0)]
        expanded = {"sparse_vector": {"field": "terms", "inference_id": "m", "query": "x"}}
        assert _search(server, {"query": expanded}) == [("d0", 6.0)]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"query": {"match": {"vector": {"query": "x"}}}}, "[vector] is not text"),
        ({"query": {"neural_sparse": {"terms": {}}}}, "unknown query [neural_sparse]"),
        ({"query": {"script_score": {"script": {"source": "1", "params": {}}}}}, "compile error"),
        ({"knn": {"field": "vector", "query_vector": [1.0], "k": 1}}, "different dimension [1]"),
        ({"size": 20_000, "query": {}}, "Result window is too large"),
    ],
)
def test_a_wrong_search_is_an_error_of_its_own(body: dict[str, Any], reason: str) -> None:
    """The other searches of the request are answered."""
    with FakeElasticsearch() as server:
        _filled(server)
        assert reason in _search(server, body)


def test_an_absent_index_and_a_wrong_key_are_refused() -> None:
    """With the statuses of the real engine."""
    with FakeElasticsearch() as server, pytest.raises(HTTPError, match="404") as absent:
        _ask(server, "POST", "wiki/_count", {})
    absent.value.close()
    with FakeElasticsearch(api_key="a-key") as server, pytest.raises(HTTPError, match="401") as key:
        _ask(server, "GET", "")
    key.value.close()
