"""A fake Elasticsearch: its protocol over real HTTP, and exact rankings by Ragstone's own code.

It speaks the part of the protocol that the retriever `elasticsearch` uses, in the forms of
Elasticsearch and of OpenSearch: indexes, aliases, mappings, `_bulk`, `_refresh`, `_count`
and `_msearch`. Words are ranked by the retriever `bm25`, vectors by the exact cosine, so
its rankings can be compared with those of `bm25` and `dense`. Documents are found after a refresh,
as in the real one. It identifies itself: the tagline of `GET /` names Ragstone.

A real engine stores the length of a text in one byte, and its scores in 32 bits: its rankings are
close to these and not equal to them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import orjson
from aiohttp import web

from ragstone.indexes.elastic_client import authorization
from ragstone.testing.fake_elastic_search import Refused, search
from ragstone.testing.threaded_server import ThreadedServer

_VERSIONS: Final = {"elasticsearch": "8.17.0", "opensearch": "2.19.0"}


def count_words(text: str) -> dict[str, float]:
    """Return word -> number of times that it occurs in `text`, in lower case."""
    return dict(Counter(text.lower().split()))


@dataclass
class FakeIndex:
    """One index: its fields, and its documents before and after a refresh."""

    fields: dict[str, Any] = field(default_factory=dict)
    written: dict[str, dict[str, Any]] = field(default_factory=dict)
    visible: dict[str, dict[str, Any]] = field(default_factory=dict)


@dataclass
class FakeElasticsearch(ThreadedServer):
    """A search engine for tests: a context manager, with its address in `url`.

    Args:
        flavour: elasticsearch or opensearch.
        version: the version that it reports; "" is a recent one.
        api_key: if given, requests without it are refused with 401; NAME:PASSWORD is allowed.
        expand: text -> weights of terms, the model of `sparse_vector`.
        script: statuses of the first requests of searches ("503", "429", "cut" closes the
            connection, "shards" fails a shard, "ok"), in the order of arrival.
        largest: maximum number of hits of a search.
    """

    flavour: Literal["elasticsearch", "opensearch"] = "elasticsearch"
    version: str = ""
    api_key: str = ""
    expand: Callable[[str], Mapping[str, float]] = count_words
    script: Sequence[str] = ()
    largest: int = 10_000
    indexes: dict[str, FakeIndex] = field(default_factory=dict)
    """Name -> fields and documents of an index."""
    aliases: dict[str, str] = field(default_factory=dict)
    """Alias -> index."""
    asked: Counter[str] = field(default_factory=Counter)
    """Kind of request, such as "_msearch" -> requests that arrived."""
    bodies: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=1000))
    """The last thousand searches, oldest first."""

    def __post_init__(self) -> None:
        """Begin the script."""
        self._scripted = iter(self.script)

    @property
    def url(self) -> str:
        """The address."""
        return f"http://127.0.0.1:{self.port}"

    def add_index(
        self, name: str, fields: Mapping[str, Any], documents: Mapping[str, Mapping[str, Any]]
    ) -> None:
        """Add an index as a user may have one.

        Args:
            name: the name.
            fields: field -> its mapping, such as {"type": "text"}.
            documents: id -> fields of the document.
        """
        rows = {key: dict(document) for key, document in documents.items()}
        self.indexes[name] = FakeIndex(dict(fields), rows, dict(rows))

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Return the response to a request."""
        raw = await request.content.read()
        index, _, verb = request.path.strip("/").partition("/")
        if index.startswith("_"):
            index, verb = "", f"{index}/{verb}"
        self.asked[verb or request.method] += 1
        fault = next(self._scripted, "ok") if verb == "_msearch" else "ok"
        if fault == "cut" and request.transport is not None:
            request.transport.close()
        if fault.isdigit():
            return _refusal(Refused(int(fault), "es_rejected_execution_exception", "too busy"))
        try:
            self._authorise(request)
            found = self._answer(request.method, index, verb, raw)
        except Refused as error:
            return _refusal(error)
        if fault == "shards":
            found["responses"][0]["_shards"] = {"total": 2, "successful": 1, "failed": 1}
        return _json(found)

    def _authorise(self, request: web.BaseRequest) -> None:
        expected = authorization(self.api_key).get("Authorization", "")
        if expected and request.headers.get("Authorization") != expected:
            raise Refused(401, "security_exception", "unable to authenticate")

    def _answer(self, method: str, index: str, verb: str, raw: bytes) -> Any:
        if not index:
            return self._about(verb)
        if method == "PUT" and not verb:
            return self._create(index, orjson.loads(raw))
        name = self.aliases.get(index, index)
        if name not in self.indexes:
            raise Refused(404, "index_not_found_exception", f"no such index [{index}]")
        return self._answer_of(name, verb, raw)

    def _answer_of(self, name: str, verb: str, raw: bytes) -> Any:
        """Return the response of an index that exists."""
        held = self.indexes[name]
        if verb == "_mapping":
            return {name: {"mappings": {"properties": held.fields}}}
        if verb == "_refresh":
            held.visible = dict(held.written)
            return {"_shards": {"total": 1, "successful": 1, "failed": 0}}
        if verb == "_bulk":
            return self._write(held, raw)
        if verb == "_count":
            return {"count": len(_matching(held, orjson.loads(raw or b"{}").get("query")))}
        if verb == "_msearch":
            lines = [orjson.loads(line) for line in raw.splitlines()]
            return {"responses": [self._searched(held, body) for body in lines[1::2]]}
        raise Refused(400, "illegal_argument_exception", f"{verb} is not supported here")

    def _about(self, verb: str) -> Any:
        if verb == "_cat/indices":
            return [{"index": name} for name in self.indexes]
        if verb == "_cat/aliases":
            return [{"alias": alias, "index": name} for alias, name in self.aliases.items()]
        version: dict[str, Any] = {"number": self.version or _VERSIONS[self.flavour]}
        if self.flavour == "opensearch":
            version["distribution"] = "opensearch"
        return {
            "name": "ragstone-fake",
            "version": version,
            "tagline": "Ragstone's fake search engine, for tests",
        }

    def _create(self, index: str, body: Mapping[str, Any]) -> Any:
        if index in self.indexes:
            raise Refused(400, "resource_already_exists_exception", f"index [{index}] exists")
        self.indexes[index] = FakeIndex(dict(body["mappings"]["properties"]))
        return {"acknowledged": True, "index": index}

    def _write(self, held: FakeIndex, raw: bytes) -> Any:
        lines = [orjson.loads(line) for line in raw.splitlines()]
        items = []
        for action, document in zip(lines[::2], lines[1::2], strict=True):
            entry: dict[str, Any] = {"_id": action["index"]["_id"], "status": 201}
            try:
                _check_vectors(held, document)
                held.written[entry["_id"]] = document
            except Refused as error:
                entry |= {"status": error.status, "error": error.document}
            items.append({"index": entry})
        return {"errors": any("error" in one["index"] for one in items), "items": items}

    def _searched(self, held: FakeIndex, body: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._found(held, body) | {"status": 200}
        except Refused as error:
            return {"error": error.document, "status": error.status}

    def _found(self, held: FakeIndex, body: dict[str, Any]) -> dict[str, Any]:
        self.bodies.append(body)
        if body["size"] > self.largest:
            reason = f"Result window is too large, must be less than {self.largest}"
            raise Refused(400, "illegal_argument_exception", reason)
        hits = search(body, held.fields, held.visible, self.expand, self.flavour)[: body["size"]]
        return {
            "timed_out": False,
            "_shards": {"total": 1, "successful": 1, "failed": 0},
            "hits": {"hits": [_hit(key, score, held, body) for key, score in hits]},
        }


def _hit(key: str, score: float, held: FakeIndex, body: Mapping[str, Any]) -> dict[str, Any]:
    document = held.visible[key]
    named = [name for name in body.get("fields", ()) if name in document]
    fields = {"fields": {name: [document[name]] for name in named}} if named else {}
    return {"_id": key, "_score": score, **fields}


def _matching(held: FakeIndex, query: Mapping[str, Any] | None) -> list[str]:
    """Return the ids of the documents in a range, or of all."""
    if query is None:
        return list(held.visible)
    ((name, edges),) = query["range"].items()
    rows = held.visible.items()
    return [key for key, row in rows if edges["gte"] <= row[name] < edges["lt"]]


def _check_vectors(held: FakeIndex, document: Mapping[str, Any]) -> None:
    for name, value in document.items():
        given = held.fields.get(name, {})
        length = given.get("dims") or given.get("dimension")
        if length and len(value) != length:
            reason = f"field [{name}] has {length} dimensions, found {len(value)}"
            raise Refused(400, "mapper_parsing_exception", reason)


def _refusal(error: Refused) -> web.Response:
    return _json({"error": error.document, "status": error.status}, error.status)


def _json(body: Any, status: int = 200) -> web.Response:
    raw = orjson.dumps(body)
    return web.Response(body=raw, status=status, content_type="application/json")
