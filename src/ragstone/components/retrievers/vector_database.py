"""The base of the retrievers by the vectors of a database."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from ragstone.components.embedders.nested import nested_embedder
from ragstone.components.retrievers.external_index import ExternalIndex
from ragstone.core.component import Outcome
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.progress import progress
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.indexes.embed import rank_embedded
from ragstone.indexes.own_index import Hit, OwnIndex, Rows, own_name
from ragstone.protocols import Embedder, Services
from ragstone.types import Ranking, Search

_QUERIES: Final = 64
"""Queries per request."""
_NAME_CHARACTERS: Final = 57
"""Maximum length of a name, the prefix and 48 digits of the fingerprint: PostgreSQL cuts at 63."""


@dataclass(frozen=True, kw_only=True)
class VectorDatabase(ExternalIndex):
    """A retriever by dense vectors in a database.

    Args:
        embedder: an embedder with one vector per text; of an index of yours, the one that made
            its vectors.
        exact: whether all vectors are compared; otherwise the database's own index is used.
    """

    embedder: ComponentSpec = "minilm"
    exact: bool = True

    def __post_init__(self) -> None:
        """Check the parameters, and create the embedder."""
        super().__post_init__()
        _ = self._embedder

    @abstractmethod
    def opened(self) -> AbstractContextManager[Any]:
        """Return a context with a connected client."""

    @abstractmethod
    def own_index(self, client: Any, name: str, rows: int) -> OwnIndex:
        """Return the index of our own with some name."""

    @abstractmethod
    def dimension_of(self, client: Any) -> int | None:
        """Return the length of the vectors of the user's index, or None if it is not known.

        Raises:
            ConfigError: there is no such index, it is empty, or a field is absent.
        """

    @abstractmethod
    def search(self, client: Any, name: str, vectors: Sequence[Any]) -> list[list[Hit]]:
        """Return the nearest rows of each vector, `requested` at most."""

    def check_server(self) -> None:
        """Raise if a package or a password is missing, or if offline forbids the server."""

    @cached_property
    def made_of(self) -> Mapping[str, Any]:
        """The cache key of the embedder."""
        return {"embedder": cache_key_parts(self._embedder)}

    def check(self, services: Services) -> None:
        """Raise if the embedder or the database cannot be used, or if your index does not fit."""
        self.check_server()
        self._embedder.check(services)
        with self.opened() as client:
            if self.existing:
                self.dimension_of(client)

    def retrieve(
        self, searches: Sequence[Search], services: Services
    ) -> Iterable[Outcome[Ranking]]:
        """Return one ranking per search, in order."""
        return rank_embedded(self._embedder, searches, services, self._rank)

    def _rank(self, queries: list[Any], services: Services) -> list[Ranking]:
        found: list[list[Hit]] = []
        with self.opened() as client:
            name = self._index(client, len(queries[0]), services)
            with progress(f"Searching with {self.engine_name}", len(queries)) as bar:
                for start in range(0, len(queries), _QUERIES):
                    part = queries[start : start + _QUERIES]
                    found += self.search(client, name, part)
                    bar.advance(len(part))
        return self.rankings(found, services.corpus)

    def _index(self, client: Any, dimension: int, services: Services) -> str:
        """Return the name of the index to search, after an own one was filled."""
        if self.existing:
            held = self.dimension_of(client)
            if held is not None and held != dimension:
                raise ConfigError(
                    f"the vectors of {self.existing!r} have {held} dimensions, and those of the "
                    f"embedder {self.embedder!r} have {dimension}; name the embedder that made "
                    "them",
                    key="embedder",
                )
            return self.existing
        name = own_name(services.corpus, embedder=self._embedder, exact=self.exact)
        own = self.own_index(client, name[:_NAME_CHARACTERS], len(services.corpus))
        own.fill_if_needed(lambda: self._rows(services), to=self.engine_name)
        return own.name

    def _rows(self, services: Services) -> tuple[Rows, int | None]:
        """Return the function that makes some rows, and the length of their vectors."""
        vectors = embed_corpus(self._embedder, services)

        def rows(start: int, stop: int) -> Iterator[dict[str, Any]]:
            return ({"vector": vector} for vector in vectors.slice(start, stop))

        return lambda start, stop: list(rows(start, stop)), vectors.dimension

    @cached_property
    def _embedder(self) -> Embedder:
        where = f"retriever {self.engine_name!r}, embedder"
        return nested_embedder(self.embedder, "dense", where=where)
