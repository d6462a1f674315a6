"""Retrieval by Elasticsearch or OpenSearch: words, vectors, ELSER, or words and vectors joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import orjson

from ragstone.calls.scheduler import RetryPolicy
from ragstone.calls.types import Endpoint, Failure, Reply, Request
from ragstone.components.embedders.nested import nested_embedder
from ragstone.components.retrievers.elastic_fields import (
    OPTIONS,
    check_dimension,
    check_fields,
    check_id_field,
)
from ragstone.components.retrievers.elastic_searches import SearchFormat, packed, requests_of
from ragstone.components.retrievers.external_index import ExternalIndex
from ragstone.components.retrievers.fusion import Fusion
from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.spec import ComponentSpec
from ragstone.errors import CallError, ConfigError
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.indexes.elastic_client import TEXT, VECTOR, Flavour, OwnElasticIndex, SearchEngine
from ragstone.indexes.embed import embed_texts
from ragstone.indexes.own_index import Rows, own_name
from ragstone.protocols import Embedder, Services
from ragstone.types import Ranking, Search


@dataclass(frozen=True)
class Elasticsearch(ExternalIndex):
    """Ranks passages by a search engine: Elasticsearch from 8.4, or OpenSearch from 2.16.

    Without `index`, an index of its own is filled from the corpus. With `index`, the index is only
    read; its documents have the passage ids of the corpus.

    Args:
        url: address of the server.
        index: name of an index or alias of yours; "" fills an index from the corpus.
        query: bm25 (the engine's own ranking by words), dense (vectors of `embedder`), elser
            (words weighted by a model that the server runs), or hybrid (bm25 and dense, joined
            here by the retriever `fusion`).
        text_weight: weight of bm25 in a hybrid, between 0 and 1; None joins by reciprocal rank.
        id_field: field of the passage ids; `_id` is the document's own.
        text_field: field that bm25 searches; several, separated by spaces, count by the best.
        vector_field: field that dense searches.
        expansion_field: field that elser searches.
        model: id of the model (or inference endpoint) on the server that expands queries.
        embedder: an embedder with one vector per text, the one that made the vectors.
        candidates: vectors per shard that an approximate search compares; None compares all.
        api_key_env: environment variable that contains an API key, or NAME:PASSWORD.
        flavour: elasticsearch or opensearch; "" asks the server.
        batch: searches per request.
        timeout: timeout of a request that writes an index, in seconds.
        concurrency: maximum number of parallel requests.
    """

    url: str = field(metadata=NOT_IN_CACHE_KEY)
    index: str = ""
    query: Literal["bm25", "dense", "elser", "hybrid"] = "bm25"
    text_weight: float | None = None
    id_field: str = "_id"
    text_field: str = "text"
    vector_field: str = "vector"
    expansion_field: str = "ml.tokens"
    model: str = ".elser-2-elasticsearch"
    embedder: ComponentSpec = "minilm"
    candidates: int | None = None
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    flavour: Flavour | Literal[""] = field(default="", metadata=NOT_IN_CACHE_KEY)
    batch: int = field(default=16, metadata=NOT_IN_CACHE_KEY)
    timeout: float = field(default=60.0, metadata=NOT_IN_CACHE_KEY)
    concurrency: int = field(default=4, metadata=NOT_IN_CACHE_KEY)
    engine_name = "elasticsearch"
    sizes = ("top_k", "batch", "candidates", "concurrency")

    def __post_init__(self) -> None:
        """Check the parameters and the address, and create the embedder."""
        super().__post_init__()
        if self.query == "elser" and not self.index:
            raise ConfigError("query: elser needs an index whose passages the server expanded")
        if self.text_weight is not None and self.query != "hybrid":
            raise ConfigError(f"text_weight belongs to query: hybrid, not to {self.query}")
        if self.candidates is not None and not self.top_k <= self.candidates <= self.longest:
            raise ConfigError(
                f"candidates must be between top_k ({self.top_k}) and {self.longest:,}, found "
                f"{self.candidates}"
            )
        if not self.index:
            # The fields of an own index have these names.
            names = {"id_field": "_id", "text_field": TEXT, "vector_field": VECTOR}
            for name, own in names.items():
                if getattr(self, name) != own:
                    raise ConfigError(f"{name} names a field of an index of yours; add index")
        _ = self._embedder, self._fusion, self._endpoint("")

    @property
    def longest(self) -> int:
        """Maximum length of a ranking."""
        return limits.ELASTIC_RANKING

    @property
    def existing(self) -> str:
        """The name of the user's index, or ""."""
        return self.index

    @property
    def address(self) -> str:
        """The address of the server."""
        return self.url

    @property
    def made_of(self) -> Mapping[str, Any]:
        """The cache key of the embedder, if vectors are searched."""
        return {"embedder": cache_key_parts(self._embedder)} if self._embedder else {}

    @property
    def parts(self) -> tuple[Elasticsearch, ...]:
        """The searches of a hybrid: by words and by vectors."""
        return self._fusion.retrievers if self._fusion else ()

    def fuse(self, rankings: Sequence[Sequence[Ranking]]) -> list[Ranking]:
        """Return one ranking per search from those by words and by vectors."""
        return [] if self._fusion is None else self._fusion.fuse(rankings)

    def check(self, services: Services) -> None:
        """Raise if the server is unreachable, or if an index of yours cannot be searched so."""
        if services.calls.replay_only:
            return
        if self._embedder is not None:
            self._embedder.check(services)
        services.calls.check(self._endpoint(""))
        _ = self._engine.kind
        if self.index and not self.parts:
            self._check_index()

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking]]:
        """Return one ranking per search, in order."""
        if not len(services.corpus) or not searches:
            return [Outcome(Ranking()) for _ in searches]
        if self._fusion is not None:
            return self._fusion.retrieve(searches, services)
        if self.declared_release == "" and not self.run:
            return self.of_run(services.calls.run).retrieve(searches, services)
        return self._ranked(searches, services)

    def _ranked(self, searches: Sequence[Search], services: Services) -> Iterator[Outcome[Ranking]]:
        wanted = list(self._wanted([search.text for search in searches], services))
        asked = [outcome.value for outcome in wanted if outcome.value is not None]
        found = iter(self._found(asked, services) if asked else ())
        for outcome in wanted:
            yield next(found) if outcome.value is not None else replace(outcome, value=Ranking())

    def _wanted(self, texts: Sequence[str], services: Services) -> Iterator[Outcome[Any]]:
        """Yield the search of each text as plain data; None with the reason without a vector."""
        shared: dict[str, Any] = {"size": self.requested, "fields": self._fields}
        if self._embedder is None:
            shared |= {"model": self.model} if self.query == "elser" else {}
            yield from (Outcome({**shared, "text": text}) for text in texts)
            return
        size = self.requested if self.candidates is None else min(self.requested, self.candidates)
        shared |= {"size": size, "candidates": self.candidates}
        outcomes = embed_texts(self._embedder, texts, "query", services)
        known = next((o.value for o in outcomes if o.value is not None), None)
        if self.index and known is not None and not services.calls.replay_only:
            has = self._check_index()
            check_dimension(self.index, has, self.vector_field, len(known), self.embedder)
        for outcome in outcomes:
            vector = outcome.value
            value = None if vector is None else {**shared, "vector": packed(vector)}
            yield replace(outcome, value=value)

    def _found(
        self, searches: Sequence[Mapping[str, Any]], services: Services
    ) -> Iterator[Outcome[Ranking]]:
        """Yield the ranking of each search; empty with the reason if it failed."""
        endpoint = self._endpoint(self._filled(services))
        requests = requests_of(searches, self.batch)
        replies = services.calls.ask(endpoint, requests, title="searches with Elasticsearch")
        entries: list[dict[str, Any]] = []
        for request, reply in zip(requests, replies, strict=True):
            found = _entries(request, reply)
            refused = [one["error"] for one in found if "error" in one]
            if refused and isinstance(reply, Reply):
                services.calls.reject([reply.key], refused[0])
            entries += found
        if all("error" in entry for entry in entries):
            raise CallError(f"{endpoint.name}: {entries[0]['error']}")
        rankings = self.rankings([entry.get("hits", ()) for entry in entries], services.corpus)
        for entry, ranking in zip(entries, rankings, strict=True):
            yield Outcome(ranking, entry.get("error", ""), retry="error" in entry)

    def _filled(self, services: Services) -> str:
        """Return the name of the index to search, after an own one was filled."""
        if not services.calls.replay_only:
            # Asked here, because searches are written in the loop that sends them.
            _ = self._engine.kind
        if self.index:
            return self.index
        graph = self.candidates is not None
        made_of = self._embedder, self._embedder is not None and graph
        name = own_name(services.corpus, embedder=made_of[0], graph=made_of[1])
        if not services.calls.replay_only:
            own = OwnElasticIndex(self._engine, name, len(services.corpus), made_of[1])
            own.fill_if_needed(lambda: self._rows(services), to="Elasticsearch")
        return name

    def _rows(self, services: Services) -> tuple[Rows, int | None]:
        """Return the function that makes some documents, and the length of their vectors."""
        if self._embedder is None:
            texts = services.corpus.full_texts
            return lambda start, stop: [{TEXT: text} for text in texts(start, stop)], None
        vectors = embed_corpus(self._embedder, services)
        return (
            lambda start, stop: [{VECTOR: vector} for vector in vectors.slice(start, stop)],
            vectors.dimension,
        )

    def _check_index(self) -> Mapping[str, Any]:
        """Return the fields of the user's index; raise `ConfigError` if a needed one is absent."""
        has = self._engine.fields(self.index)
        check_fields(self.index, has, self.query, self._fields)
        check_id_field(self.index, has, self.id_field)
        return has

    @property
    def _fields(self) -> list[str]:
        """The fields that are searched."""
        written: str = getattr(self, OPTIONS[self.query])
        return written.split() if self.query == "bm25" else [written]

    @cached_property
    def _fusion(self) -> Fusion | None:
        if self.query != "hybrid":
            return None
        parts = [replace(self, query=kind, text_weight=None) for kind in ("bm25", "dense")]
        return Fusion(tuple(parts), text_weight=self.text_weight, top_k=self.top_k)

    @cached_property
    def _embedder(self) -> Embedder | None:
        """The embedder of queries, if vectors are searched."""
        if self.query not in {"dense", "hybrid"}:
            return None
        return nested_embedder(self.embedder, "dense", where="retriever 'elasticsearch', embedder")

    @cached_property
    def _engine(self) -> SearchEngine:
        policy = RetryPolicy(timeout=self.timeout)
        return SearchEngine(self.url, self.api_key_env, self.flavour, policy)

    def _endpoint(self, name: str) -> Endpoint:
        identity = self.content_revision.get("identity", name)
        return Endpoint(
            name or self.index or "elasticsearch",
            (self.url,),
            api_key_env=self.api_key_env,
            protocol="elasticsearch",
            identity=f"{identity} {self.id_field} {self.release} {self.run}",
            wire=SearchFormat(self._engine, name or self.index, self.id_field),
            concurrency=self.concurrency,
            is_free=True,
        )


def _entries(request: Request, reply: Reply | Failure) -> list[dict[str, Any]]:
    """Return the entry of each search of a request; see `SearchFormat`."""
    if isinstance(reply, Failure):
        return [{"error": reply.reason} for _ in request.messages]
    found: list[dict[str, Any]] = orjson.loads(reply.text)
    return found
