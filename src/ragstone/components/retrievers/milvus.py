"""Retrieval by Milvus: a vector database that runs from a local file up to a cluster."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, Literal

from ragstone.components.embedders.nested import nested_embedder
from ragstone.core import limits
from ragstone.core.component import NOT_IN_CACHE_KEY, Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import progress
from ragstone.core.spec import ComponentSpec
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, did_you_mean
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.indexes.embed import embed_texts, rank_vectors
from ragstone.indexes.milvus_client import Collection, Server, ranker
from ragstone.indexes.own_index import Rows, by_position, own_name
from ragstone.indexes.sparse_vectors import sparse_rows
from ragstone.protocols import Embedder, Retriever, Services
from ragstone.types import Ranking, Search

_SPARE: Final = 64
"""Hits requested beyond `top_k`, so that the order of the corpus decides ties at the end."""
_QUERIES: Final = 64
"""Queries per request."""
_FILE_INDEXES: Final = ("FLAT", "HNSW", "HNSW_SQ", "IVF_FLAT", "IVF_SQ8")
_INDEXES: Final = (
    *_FILE_INDEXES,
    *("AUTOINDEX", "DISKANN", "HNSW_PQ", "HNSW_PRQ", "IVF_PQ", "IVF_RABITQ", "SCANN"),
    *("GPU_BRUTE_FORCE", "GPU_CAGRA", "GPU_IVF_FLAT", "GPU_IVF_PQ"),
)
_NO_TERM_PASSAGE: Final = 0
_NO_TERM_QUERY: Final = 1
_FIRST_TERM: Final = 2
"""Terms are numbered from 2 in the database: some servers refuse an empty vector, so a passage
without a term has term 0 and such a query term 1, which never match."""


@dataclass(frozen=True)
class Milvus(Retriever):
    """Ranks passages by their vectors in a Milvus database: dense, sparse, or both joined.

    A collection belongs to one corpus and one choice of the parameters that shape it; its name
    contains their fingerprint. It is written in batches, and an interrupted build continues. With
    the index FLAT a dense search is exact, like that of `dense`.

    Args:
        uri: a file ending with .db (milvus-lite, in this process), or http://host:19530.
        top_k: maximum length of a ranking.
        search: dense, sparse, or hybrid (both, joined inside Milvus).
        embedder: an embedder with one vector per text.
        encoder: an embedder with sparse vectors.
        index: Milvus's index over the dense vectors; FLAT is exact, the others are approximate.
        index_parameters: parameters of the index, such as {M: 16, efConstruction: 200} for HNSW.
        search_parameters: parameters of a search in the index, such as {ef: 256}.
        fusion: method of a hybrid search: rrf, or weighted (scores are scaled to 0..1).
        rrf_k: constant of reciprocal rank fusion.
        dense_weight: weight of the dense scores in weighted fusion; the sparse ones have the rest.
        depth: passages that each search returns to the fusion.
        token_env: environment variable that contains the token, or NAME:PASSWORD.
        timeout: timeout of one reply, in seconds.
    """

    uri: str = field(metadata=NOT_IN_CACHE_KEY)
    top_k: int = 100
    search: Literal["dense", "sparse", "hybrid"] = "dense"
    embedder: ComponentSpec = "minilm"
    encoder: ComponentSpec = "splade"
    index: str = "FLAT"
    index_parameters: Mapping[str, Any] = field(default_factory=dict)
    search_parameters: Mapping[str, Any] = field(default_factory=dict)
    fusion: Literal["rrf", "weighted"] = "rrf"
    rrf_k: int = 60
    dense_weight: float = 0.5
    depth: int = 100
    token_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    timeout: float = field(default=60.0, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "milvus"
    sizes = ("top_k", "depth", "rrf_k")
    needs_model = True

    def __post_init__(self) -> None:
        """Check the ranges and the address, and create the embedders."""
        super().__post_init__()
        for name, value in (("top_k", self.top_k), ("depth", self.depth)):
            if value > limits.MILVUS_RANKING:
                raise ConfigError(
                    f"{name} must be 1 to {limits.MILVUS_RANKING:,} with Milvus, found {value}"
                )
        if not 0 <= self.dense_weight <= 1:
            raise ConfigError(f"dense_weight must be between 0 and 1, found {self.dense_weight}")
        known = _FILE_INDEXES if self._server.is_file else _INDEXES
        if self.index not in known:
            # milvus-lite accepts any name, and searches without an index if it does not know it.
            where = " in a local file" if self._server.is_file else ""
            raise ConfigError(f"no index {self.index!r}{where}{did_you_mean(self.index, known)}")
        if self.search == "hybrid" and self.top_k > 2 * self.depth:
            raise ConfigError(
                f"top_k is {self.top_k}, and two searches of depth {self.depth} find at most "
                f"{2 * self.depth} passages; raise depth"
            )
        _ = self._embedders

    @cached_property
    def content_revision(self) -> dict[str, Any]:
        """The cache keys of the embedders, by vector field."""
        return {name: cache_key_parts(embedder) for name, embedder in self._embedders.items()}

    def check(self, services: Services) -> None:
        """Raise if a package, a token or a model is missing, or if offline forbids the server."""
        self._server.check()
        for embedder in self._embedders.values():
            embedder.check(services)

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking]]:
        """Return one ranking per search, in order."""
        if not len(services.corpus):
            return [Outcome(Ranking()) for _ in searches]
        texts = [search.text for search in searches]
        return rank_vectors(list(self._embedded(texts, services)), services, self._rank)

    def _embedded(
        self, texts: Sequence[str], services: Services
    ) -> Iterator[Outcome[dict[str, Any]]]:
        """Yield the vectors of each query by field, or the outcome of the field that failed."""
        found = [embed_texts(e, texts, "query", services) for e in self._embedders.values()]
        for outcomes in zip(*found, strict=True):
            failed = next((outcome for outcome in outcomes if outcome.value is None), None)
            values = [outcome.value for outcome in outcomes]
            yield failed or Outcome(dict(zip(self._embedders, values, strict=True)))

    def _rank(self, queries: list[dict[str, Any]], services: Services) -> list[Ranking]:
        rankings: list[Ranking] = []
        with self._server.opened() as client:
            collection = self._collection(client, services.corpus)
            collection.fill_if_needed(lambda: self._rows(services), to="Milvus")
            with progress("Searching with Milvus", len(queries)) as bar:
                for start in range(0, len(queries), _QUERIES):
                    part = queries[start : start + _QUERIES]
                    rankings.extend(self._rankings(part, collection, services.corpus))
                    bar.advance(len(part))
        return rankings

    @cached_property
    def _server(self) -> Server:
        return Server(self.uri, self.token_env, self.timeout)

    @cached_property
    def _embedders(self) -> Mapping[str, Embedder]:
        """The embedder of each vector field."""
        made = {}
        if self.search != "sparse":
            where = "retriever 'milvus', embedder"
            made["dense"] = nested_embedder(self.embedder, "dense", where=where)
        if self.search != "dense":
            where = "retriever 'milvus', encoder"
            made["sparse"] = nested_embedder(self.encoder, "sparse", where=where)
        return made

    def _collection(self, client: Any, corpus: Corpus) -> Collection:
        indexes: dict[str, dict[str, Any]] = {}
        if "dense" in self._embedders:
            indexes["dense"] = {"index_type": self.index, "params": dict(self.index_parameters)}
        if "sparse" in self._embedders:
            indexes["sparse"] = {"index_type": "SPARSE_INVERTED_INDEX"}
        name = own_name(corpus, makers=dict(self._embedders), indexes=indexes)
        return Collection(client, name, len(corpus), indexes)

    def _rows(self, services: Services) -> tuple[Rows, int | None]:
        """Return the function that makes some rows, and the length of the dense vectors."""
        dense, sparse = self._embedders.get("dense"), self._embedders.get("sparse")
        vectors = None if dense is None else embed_corpus(dense, services)

        def rows(start: int, stop: int) -> list[dict[str, Any]]:
            fields: dict[str, Iterable[Any]] = {}
            if vectors is not None:
                fields["dense"] = vectors.slice(start, stop)
            if sparse is not None:
                found = sparse_rows(sparse, services, start, stop)
                fields["sparse"] = (_shifted(terms, _NO_TERM_PASSAGE) for terms in found)
            values = zip(*fields.values(), strict=True)
            return [dict(zip(fields, row, strict=True)) for row in values]

        return rows, None if vectors is None else vectors.dimension

    def _rankings(
        self, queries: Sequence[Mapping[str, Any]], collection: Collection, corpus: Corpus
    ) -> Iterator[Ranking]:
        limit = min(self.top_k + _SPARE, limits.MILVUS_RANKING)
        requests = [self._request(name, queries) for name in self._embedders]
        joined = ranker(self.fusion, self.rrf_k, self.dense_weight)
        for hits in collection.search(requests, joined, limit):
            yield by_position(hits, corpus, self.top_k)

    def _request(self, name: str, queries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the search of one vector field, in the form of pymilvus's `AnnSearchRequest`."""
        data = [query[name] for query in queries]
        sparse = name == "sparse"
        return {
            "data": [_shifted(terms, _NO_TERM_QUERY) for terms in data] if sparse else data,
            "anns_field": name,
            "param": {"params": {} if sparse else dict(self.search_parameters)},
            "limit": self.depth,
        }


def _shifted(terms: Mapping[int, float], when_empty: int) -> dict[int, float]:
    """Return a sparse vector in the database's numbers."""
    return {term + _FIRST_TERM: weight for term, weight in terms.items()} or {when_empty: 1.0}
