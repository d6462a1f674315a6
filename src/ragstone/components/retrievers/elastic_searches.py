"""Searches of Elasticsearch and OpenSearch as calls: several searches in one request (`_msearch`).

A search is plain data. The query in the language of the server is written when the search is sent.
The keys of kept searches therefore do not depend on the server's version.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import orjson

from ragstone.calls.types import AttemptError, Reply, Request, Sampling, WireFormat
from ragstone.indexes.elastic_client import SearchEngine, authorization, error_text, path_of

_SPARSE_VECTOR: Final = (8, 15)
"""The first Elasticsearch with the query `sparse_vector`; before, it is `text_expansion`."""
_BUSY: Final = 429
_REFUSED: Final = frozenset({401, 403, 404})
_NO_SAMPLING: Final = Sampling(temperature=None, max_tokens=None)


def packed(vector: Sequence[float]) -> str:
    """Return a vector as text: its numbers in 32 bits."""
    return base64.b64encode(np.asarray(vector, "<f4").tobytes()).decode()


def requests_of(searches: Sequence[Mapping[str, Any]], batch: int) -> list[Request]:
    """Return the calls that make some searches, `batch` in each."""
    lines = [("search", orjson.dumps(search).decode()) for search in searches]
    parts = (lines[start : start + batch] for start in range(0, len(lines), batch))
    return [Request(tuple(part), _NO_SAMPLING) for part in parts]


@dataclass(frozen=True)
class SearchFormat(WireFormat):
    """Writes searches for the server, and reads the hits of each.

    The text of a reply is a list with one entry per search: {"hits": [[score, id], ...]}, or
    {"error": reason}.
    """

    engine: SearchEngine
    index: str
    id_field: str = "_id"

    def url(self, base_url: str) -> str:
        """Return the address of the index's searches."""
        return f"{base_url.rstrip('/')}/{path_of(self.index)}/_msearch"

    def headers(self, api_key: str) -> Mapping[str, str]:
        """Return the headers with the key."""
        return {"Content-Type": "application/x-ndjson", **authorization(api_key)}

    def body(self, model: str, request: Request) -> bytes:
        """Return two lines per search: an empty header, and the search."""
        found = (self._written(orjson.loads(line)) for _, line in request.messages)
        return b"".join(b"{}\n" + orjson.dumps(body) + b"\n" for body in found)

    def reply(self, payload: Any) -> Reply:
        """Return the hits of each search; raise `AttemptError` if the server did not search."""
        found = [_entry(one, self.id_field) for one in payload["responses"]]
        return Reply(orjson.dumps(found).decode(), tokens_in=0, tokens_out=0)

    def _written(self, search: Mapping[str, Any]) -> dict[str, Any]:
        named = {} if self.id_field == "_id" else {"fields": [self.id_field]}
        shared = {"size": search["size"], "_source": False, "track_total_hits": False, **named}
        vector = None
        if "vector" in search:
            vector = np.frombuffer(base64.b64decode(search["vector"]), "<f4").tolist()
        return shared | self._query(search, vector)

    def _query(self, search: Mapping[str, Any], vector: list[float] | None) -> dict[str, Any]:
        flavour, version = self.engine.kind
        opensearch = flavour == "opensearch"
        if vector is not None:
            write = _knn if search["candidates"] else _exact
            return write(search, vector, opensearch=opensearch)
        if "model" not in search:
            return {"query": _match(search["fields"], search["text"])}
        (field,) = search["fields"]
        text, model = search["text"], search["model"]
        if opensearch:
            neural = {"query_text": text, "model_id": model}
            return {"query": {"neural_sparse": {field: neural}}}
        if version and version < _SPARSE_VECTOR:
            expansion = {"model_id": model, "model_text": text}
            return {"query": {"text_expansion": {field: expansion}}}
        return {"query": {"sparse_vector": {"field": field, "inference_id": model, "query": text}}}


def _match(fields: Sequence[str], text: str) -> dict[str, Any]:
    if len(fields) > 1:
        return {"multi_match": {"query": text, "fields": list(fields)}}
    return {"match": {fields[0]: {"query": text}}}


def _knn(search: Mapping[str, Any], vector: list[float], *, opensearch: bool) -> dict[str, Any]:
    """Return an approximate search of the nearest vectors."""
    (field,) = search["fields"]
    wanted = {"k": search["size"]}
    if opensearch:
        looked_at = {"method_parameters": {"ef_search": search["candidates"]}}
        return {"query": {"knn": {field: {"vector": vector, **wanted, **looked_at}}}}
    candidates = {"num_candidates": search["candidates"]}
    return {"knn": {"field": field, "query_vector": vector, **wanted, **candidates}}


def _exact(search: Mapping[str, Any], vector: list[float], *, opensearch: bool) -> dict[str, Any]:
    """Return a search that compares all vectors; a score is 1 + cosine."""
    (field,) = search["fields"]
    if opensearch:
        given = {"field": field, "query_value": vector, "space_type": "cosinesimil"}
        script = {"lang": "knn", "source": "knn_score", "params": given}
    else:
        source = f"cosineSimilarity(params.query_vector, '{field}') + 1.0"
        script = {"source": source, "params": {"query_vector": vector}}
    return {"query": {"script_score": {"query": {"exists": {"field": field}}, "script": script}}}


def _entry(found: Any, id_field: str) -> dict[str, Any]:
    """Return the entry of one search; raise `AttemptError` if another attempt may succeed."""
    if "error" in found:
        status, reason = int(found.get("status") or 400), error_text(found["error"])
        if status == _BUSY or status >= 500:  # noqa: PLR2004 - errors of the server
            busy = status == _BUSY
            raise AttemptError(reason, status=status, retryable=True, overload=busy, outage=True)
        if status in _REFUSED:
            raise AttemptError(reason, status=status, fatal=True)
        return {"error": reason}
    shards = found.get("_shards", {})
    if found.get("timed_out") or shards.get("failed"):
        searched = f"{shards.get('successful')} of {shards.get('total')} shards"
        raise AttemptError(f"the index was searched in part: {searched}", retryable=True)
    return {"hits": [_hit(hit, id_field) for hit in found["hits"]["hits"]]}


def _hit(hit: Mapping[str, Any], id_field: str) -> list[Any]:
    """Return the score of a hit and its passage id; `ValueError` if the field is missing."""
    if id_field == "_id":
        return [float(hit["_score"]), str(hit["_id"])]
    values = hit.get("fields", {}).get(id_field)
    if not values:
        raise ValueError(f"the document {hit['_id']!r} has no {id_field!r}")
    return [float(hit["_score"]), str(values[0])]
