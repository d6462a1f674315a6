"""Retrieval by Milvus: the vector database that runs from a local file up to a cluster."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from ragstone.components.embedders.nested import Written, check_part, dense_embedder, sparse_encoder
from ragstone.components.retrievers.sparse import encode_slice
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import cache_key_parts, fingerprint
from ragstone.core.progress import progress
from ragstone.errors import ConfigError, did_you_mean
from ragstone.indexes.corpus_vectors import checked, embed_corpus
from ragstone.indexes.milvus_client import Collection, Rows, Server, ranker
from ragstone.indexes.top_k import check_top_k
from ragstone.protocols import CallingEmbedder, Embedder, SparseEncoder
from ragstone.types import Ranking, Search

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.core.vectors import SparseVectors
    from ragstone.data.corpus import Corpus

_MOST: Final = 16_384
"""Milvus's bound on the length of a ranking."""
_SPARE: Final = 64
"""Hits asked for beyond `top_k`, so that the order of the corpus decides ties at the end."""
_QUERIES: Final = 64
"""Queries in one request."""
_FILE_INDEXES: Final = ("FLAT", "HNSW", "HNSW_SQ", "IVF_FLAT", "IVF_SQ8")
_INDEXES: Final = (
    *_FILE_INDEXES,
    *("AUTOINDEX", "DISKANN", "HNSW_PQ", "HNSW_PRQ", "IVF_PQ", "IVF_RABITQ", "SCANN"),
    *("GPU_BRUTE_FORCE", "GPU_CAGRA", "GPU_IVF_FLAT", "GPU_IVF_PQ"),
)
_NO_WORD_PASSAGE: Final = 0
_NO_WORD_QUERY: Final = 1
_FIRST_WORD: Final = 2
"""Words count from 2 in the database: servers differ on whether a vector may be empty, so one
without a word holds 0 (a passage) or 1 (a query), which never meet."""


@dataclass(frozen=True)
class Milvus:
    """Ranks passages by their vectors in a Milvus database: dense, sparse, or both joined.

    The collection is made of the corpus and every parameter that shapes it, and has their
    fingerprint in its name: another corpus is another collection. It is written in batches, and an
    interrupted build goes on. With the index FLAT a dense search is exact, as that of `dense`.

    Args:
        uri: a file ending with .db (milvus-lite, in this process), or http://host:19530.
        top_k: length of a ranking at most.
        search: dense, sparse, or hybrid (both, joined inside Milvus).
        embedder: what makes the dense vectors: a name, with its parameters in brackets, or
            `module:Class`.
        encoder: what makes the sparse vectors, written the same way.
        index: Milvus's index over the dense vectors; FLAT is exact, the others are not.
        index_parameters: of that index, such as {M: 16, efConstruction: 200} for HNSW.
        search_parameters: of a search in it, such as {ef: 256}.
        fusion: of a hybrid search: rrf, or weighted (of scores that Milvus scales to 0..1).
        rrf_k: the constant of reciprocal rank fusion.
        dense_weight: of the dense scores in weighted fusion; the sparse ones get the rest.
        depth: passages that each search hands to the fusion.
        token_env: the environment variable that holds the token, or NAME:PASSWORD.
        timeout: seconds to wait for one reply.
    """

    uri: str = field(metadata=NOT_IN_CACHE_KEY)
    top_k: int = 100
    search: Literal["dense", "sparse", "hybrid"] = "dense"
    embedder: Written = "minilm"
    encoder: Written = "splade"
    index: str = "FLAT"
    index_parameters: Mapping[str, Any] = field(default_factory=dict)
    search_parameters: Mapping[str, Any] = field(default_factory=dict)
    fusion: Literal["rrf", "weighted"] = "rrf"
    rrf_k: int = 60
    dense_weight: float = 0.5
    depth: int = 100
    token_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    timeout: float = field(default=60.0, metadata=NOT_IN_CACHE_KEY)
    version: ClassVar[int] = 1

    def __post_init__(self) -> None:
        """Check the ranges, the address, and that embedder and encoder exist."""
        check_top_k(self.top_k)
        for name, value in (("top_k", self.top_k), ("depth", self.depth)):
            if not 1 <= value <= _MOST:
                raise ConfigError(f"{name} must be 1 to {_MOST:,} with Milvus, found {value}")
        if not 0 <= self.dense_weight <= 1:
            raise ConfigError(f"dense_weight must be between 0 and 1, found {self.dense_weight}")
        if self.rrf_k < 1:
            raise ConfigError(f"rrf_k must be 1 or more, found {self.rrf_k}")
        known = _FILE_INDEXES if self._server.is_file else _INDEXES
        if self.index not in known:
            # milvus-lite takes any name, and searches without an index where it does not know it.
            where = " in a local file" if self._server.is_file else ""
            raise ConfigError(f"no index {self.index!r}{where}{did_you_mean(self.index, known)}")
        if self.search == "hybrid" and self.top_k > 2 * self.depth:
            raise ConfigError(
                f"top_k is {self.top_k}, and two searches of depth {self.depth} find at most "
                f"{2 * self.depth} passages; raise depth"
            )
        _ = self.revision

    @cached_property
    def revision(self) -> dict[str, Any]:
        """The recipes of what makes the vectors."""
        return {name: cache_key_parts(maker) for name, maker in self._makers.items()}

    def check(self, calls: Calls) -> None:
        """Raise where a package, a token or a model is missing, or offline forbids the server."""
        self._server.check()
        for maker in self._makers.values():
            check_part(maker, calls)

    def with_calls(self, calls: Calls) -> Milvus:
        """Return the retriever with the way to its embedder's server, where it has one."""
        made = copy.copy(self)
        vars(made)["_makers"] = {
            name: maker.with_calls(calls) if isinstance(maker, CallingEmbedder) else maker
            for name, maker in self._makers.items()
        }
        return made

    def retrieve(self, searches: Sequence[Search], corpus: Corpus) -> list[Ranking]:
        """Return one ranking per search, in order."""
        if not searches or not len(corpus):
            return [Ranking() for _ in searches]
        with self._server.opened() as client:
            collection = self._collection(client, corpus)
            if not collection.is_full():
                self._fill(collection, corpus)
            with progress("Searching with Milvus", len(searches)) as bar:
                rankings: list[Ranking] = []
                for start in range(0, len(searches), _QUERIES):
                    part = searches[start : start + _QUERIES]
                    rankings.extend(self._rankings(part, collection, corpus))
                    bar.advance(len(part))
        return rankings

    @cached_property
    def _server(self) -> Server:
        return Server(self.uri, self.token_env, self.timeout)

    @cached_property
    def _makers(self) -> Mapping[str, Embedder | SparseEncoder]:
        """What makes the vectors of each field."""
        where = "retriever 'milvus', {}"
        made: dict[str, Embedder | SparseEncoder] = {}
        if self.search != "sparse":
            made["dense"] = dense_embedder(self.embedder, where=where.format("embedder"))
        if self.search != "dense":
            made["sparse"] = sparse_encoder(self.encoder, where=where.format("encoder"))
        return made

    def _collection(self, client: Any, corpus: Corpus) -> Collection:
        indexes: dict[str, dict[str, Any]] = {}
        if "dense" in self._makers:
            indexes["dense"] = {"index_type": self.index, "params": dict(self.index_parameters)}
        if "sparse" in self._makers:
            indexes["sparse"] = {"index_type": "SPARSE_INVERTED_INDEX"}
        made_of = fingerprint(
            {"corpus": corpus.digest, "makers": dict(self._makers), "indexes": indexes}
        )
        return Collection(client, f"ragstone_{made_of}", len(corpus), indexes)

    def _fill(self, collection: Collection, corpus: Corpus) -> None:
        batch, dimension = self._batches(corpus)
        with progress("Writing to Milvus", len(corpus)) as bar:
            collection.fill(dimension, batch, bar)

    def _batches(self, corpus: Corpus) -> tuple[Rows, int | None]:
        """Return what gives the vectors of some rows, and the number of dense dimensions."""
        dense, sparse = self._makers.get("dense"), self._makers.get("sparse")
        vectors = embed_corpus(corpus, dense) if isinstance(dense, Embedder) else None

        def batch(start: int, stop: int) -> list[dict[str, Any]]:
            held: list[dict[str, Any]] = [{} for _ in range(start, stop)]
            if vectors is not None:
                for row, vector in zip(held, vectors.slice(start, stop), strict=True):
                    row["dense"] = vector
            if isinstance(sparse, SparseEncoder):
                rows = encode_slice(corpus, sparse, start, stop)
                for row, words in zip(held, _shifted(rows, _NO_WORD_PASSAGE), strict=True):
                    row["sparse"] = words
            return held

        return batch, None if vectors is None else vectors.dimension

    def _rankings(
        self, searches: Sequence[Search], collection: Collection, corpus: Corpus
    ) -> Iterator[Ranking]:
        texts = [search.text for search in searches]
        limit = min(self.top_k + _SPARE, _MOST)
        requests = [
            {
                "data": data,
                "anns_field": name,
                "param": {"params": dict(self.search_parameters) if name == "dense" else {}},
                "limit": self.depth,
            }
            for name, data in self._query_vectors(texts)
        ]
        joined = ranker(self.fusion, self.rrf_k, self.dense_weight)
        for hits in collection.search(requests, joined, limit):
            ordered = sorted(hits, key=lambda hit: (-hit[0], hit[1]))[: self.top_k]
            yield Ranking([corpus.passage_ids[p] for _, p in ordered], [s for s, _ in ordered])

    def _query_vectors(self, texts: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
        for name, maker in self._makers.items():
            if isinstance(maker, SparseEncoder):
                yield name, list(_shifted(maker.encode_queries(texts), _NO_WORD_QUERY))
            else:
                yield name, list(checked(maker.embed_queries(texts), texts, maker))


def _shifted(vectors: SparseVectors, when_empty: int) -> Iterator[dict[int, float]]:
    """Yield rows as the database holds them."""
    for row in vectors.rows():
        yield {word + _FIRST_WORD: weight for word, weight in row.items()} or {when_empty: 1.0}
