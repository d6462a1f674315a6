"""A collection of a Qdrant database: connecting, filling batch by batch, searching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ragstone.core.environment import references_in, resolved, secret
from ragstone.errors import ConfigError, MissingDependency, did_you_mean
from ragstone.indexes.own_index import Hit, OwnIndex, client_faults

_POSITION: Final = "position"


@dataclass(frozen=True)
class QdrantServer:
    """A Qdrant database: a local folder, or the address of a server."""

    uri: str
    api_key_env: str = ""
    timeout: float = 60.0

    def __post_init__(self) -> None:
        """Check the address without connecting, unless parts of it are secret."""
        if references_in(self.uri):
            return
        parts = urlsplit(self.uri)
        if parts.username or parts.password:
            raise ConfigError(
                "uri must not contain a name or a password; put the API key into an environment "
                "variable and name it with api_key_env",
                key="uri",
            )
        if not self.uri or (not self.is_folder and not parts.hostname):
            raise ConfigError(
                f"uri must be a folder, or an address such as http://localhost:6333, found "
                f"{self.uri!r}",
                key="uri",
            )

    @property
    def is_folder(self) -> bool:
        """Whether it is the embedded form, which runs in this process."""
        return not self.uri.startswith(("http://", "https://", "{env:", "{file:"))

    def check(self) -> None:
        """Raise if the package or the key is missing."""
        _package()
        self._key()

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Return a context with a connected `QdrantClient`; its end unlocks a folder."""
        package, key = _package(), self._key()
        with self._faults():
            if self.is_folder:
                folder = Path(self.uri).expanduser().absolute()
                client = package.QdrantClient(path=str(folder))
            else:
                client = package.QdrantClient(
                    url=resolved(self.uri, "the address of Qdrant"),
                    api_key=key or None,
                    timeout=int(self.timeout),
                    check_compatibility=False,
                )
        try:
            with self._faults():
                yield client
        finally:
            client.close()

    def _key(self) -> str:
        return secret(self.api_key_env, f"the API key for {self.uri}")

    def _faults(self) -> AbstractContextManager[None]:
        """Return a context that turns errors of the client into a `CallError` with the way out."""
        way_out = "is the server running, and the API key right?"
        if self.is_folder:
            way_out = "another process may have the folder open."
        # Client, HTTP and folder have errors of their own, without a common class.
        return client_faults(Exception, f"Qdrant at {self.uri}", way_out)


@dataclass(frozen=True)
class QdrantCollection(OwnIndex):
    """A collection of our own: one point per passage, whose id is its position."""

    client: Any
    name: str
    rows: int
    exact: bool = True

    @property
    def shown(self) -> str:
        """The collection, for messages."""
        return f"the Qdrant collection {self.name!r}"

    def exists(self) -> bool:
        """Return whether the collection was created."""
        return bool(self.client.collection_exists(self.name))

    def create(self, dimension: int | None) -> None:
        """Create the collection, ranked by inner products; without a graph if it is exact."""
        models = _package().models
        vectors = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        graph = models.HnswConfigDiff(m=0) if self.exact else None
        self.client.create_collection(self.name, vectors_config=vectors, hnsw_config=graph)

    def count(self, start: int = 0, stop: int | None = None) -> int:
        """Return the number of points, in total or from one position up to another."""
        models = _package().models
        between = None
        if stop is not None:
            edges = models.Range(gte=start, lt=stop)
            between = models.Filter(must=[models.FieldCondition(key=_POSITION, range=edges)])
        return int(self.client.count(self.name, count_filter=between, exact=True).count)

    def write(self, start: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the points from a position on, in place of the existing ones."""
        places = list(range(start, start + len(rows)))
        points = _package().models.Batch(
            ids=places,
            vectors=[row["vector"].tolist() for row in rows],
            payloads=[{_POSITION: place} for place in places],
        )
        self.client.upsert(self.name, points, wait=True)

    def finish(self) -> None:
        """Do nothing: points are visible when they are written."""


def dimension_of(client: Any, name: str, vector_name: str, id_field: str) -> int | None:
    """Return the length of the vectors of a user's collection.

    Raises:
        ConfigError: there is no such collection or vector, it is empty, or its points have no
            `id_field`.
    """
    names = [one.name for one in client.get_collections().collections]
    if not client.collection_exists(name):
        raise ConfigError(
            f"Qdrant has no collection {name!r}{did_you_mean(name, names)}", key="collection"
        )
    vectors = client.get_collection(name).config.params.vectors or {}
    if not isinstance(vectors, dict):
        vectors = {"": vectors}
    if vector_name not in vectors:
        what = f"vector {vector_name!r}" if vector_name else "vector without a name"
        raise ConfigError(
            f"the collection {name!r} has no {what}{did_you_mean(vector_name, vectors)}; name one "
            "with vector_field",
            key="vector_field",
        )
    points, _ = client.scroll(name, limit=1, with_payload=True)
    if not points:
        raise ConfigError(f"the collection {name!r} is empty", key="collection")
    payload = points[0].payload or {}
    if id_field and id_field not in payload:
        raise ConfigError(
            f"the points of the collection {name!r} have no {id_field!r} with passage ids"
            f"{did_you_mean(id_field, payload)}; name it with id_field",
            key="id_field",
        )
    return int(vectors[vector_name].size)


def nearest_points(
    client: Any,
    name: str,
    vectors: Sequence[Any],
    limit: int,
    *,
    vector_name: str = "",
    id_field: str = "",
    exact: bool | None = True,
) -> list[list[Hit]]:
    """Return score and id of the nearest points of each vector.

    Args:
        client: the connected client.
        name: the collection.
        vectors: the vectors of the queries.
        limit: maximum number of points per vector.
        vector_name: the vector that is searched, if the points have several.
        id_field: the field of the passage ids; "" for the points' own ids.
        exact: whether all points are compared; None for the embedded form, which always does.
    """
    models = _package().models
    requests = [
        models.QueryRequest(
            query=vector.tolist(),
            using=vector_name or None,
            limit=limit,
            with_payload=[id_field] if id_field else False,
            params=None if exact is None else models.SearchParams(exact=exact),
        )
        for vector in vectors
    ]
    found = client.query_batch_points(name, requests)
    return [[(p.score, _id_of(p, id_field, name)) for p in one.points] for one in found]


def _id_of(point: Any, id_field: str, name: str) -> str:
    if not id_field:
        return str(point.id)
    if id_field not in (point.payload or {}):
        raise ConfigError(
            f"the point {point.id!r} of the collection {name!r} has no {id_field!r}",
            key="id_field",
        )
    return str(point.payload[id_field])


def _package() -> Any:
    try:
        import qdrant_client
    except ImportError as error:
        raise MissingDependency("retriever 'qdrant'", "qdrant-client", "qdrant") from error
    return qdrant_client
