"""Retrieval by Qdrant: a vector database, from a local folder up to a cluster."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.components.retrievers.vector_database import VectorDatabase
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.indexes.own_index import Hit, OwnIndex
from ragstone.indexes.qdrant_collection import (
    QdrantCollection,
    QdrantServer,
    dimension_of,
    nearest_points,
)


@dataclass(frozen=True)
class Qdrant(VectorDatabase):
    """Ranks passages by their vectors in a Qdrant database.

    Without `collection`, a collection of its own is filled from the corpus, and ranked by inner
    products, as `dense` does. With `collection`, it is only read.

    Args:
        uri: a folder (the embedded form, in this process), or http://host:6333.
        collection: name of a collection of yours; "" fills one from the corpus.
        id_field: field of the payload with the passage ids; "" takes the ids of the points.
        vector_field: name of the vector, if the points have several.
        api_key_env: environment variable that contains the API key.
        timeout: timeout of one reply, in seconds.
    """

    uri: str = field(metadata=NOT_IN_CACHE_KEY)
    collection: str = ""
    id_field: str = "passage_id"
    vector_field: str = ""
    api_key_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    timeout: float = field(default=60.0, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "qdrant"
    engine_name = "qdrant"

    def __post_init__(self) -> None:
        """Check the parameters and the address, and create the embedder."""
        super().__post_init__()
        _ = self._server

    @property
    def existing(self) -> str:
        """The name of the user's collection, or ""."""
        return self.collection

    @property
    def address(self) -> str:
        """The address or the folder."""
        return self.uri

    def check_server(self) -> None:
        """Raise if the package or the key is missing."""
        self._server.check()

    def opened(self) -> AbstractContextManager[Any]:
        """Return a context with a connected client."""
        return self._server.opened()

    def own_index(self, client: Any, name: str, rows: int) -> OwnIndex:
        """Return the collection of our own with some name."""
        return QdrantCollection(client, name, rows, self.exact)

    def dimension_of(self, client: Any) -> int | None:
        """Return the length of the vectors of the user's collection."""
        return dimension_of(client, self.collection, self.vector_field, self.id_field)

    def search(self, client: Any, name: str, vectors: Sequence[Any]) -> list[list[Hit]]:
        """Return the nearest points of each vector."""
        return nearest_points(
            client,
            name,
            vectors,
            self.requested,
            vector_name=self.vector_field if self.collection else "",
            id_field=self.id_field if self.collection else "",
            exact=None if self._server.is_folder else self.exact,
        )

    @cached_property
    def _server(self) -> QdrantServer:
        return QdrantServer(self.uri, self.api_key_env, self.timeout)
