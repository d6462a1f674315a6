"""A collection of a Milvus database: connecting, filling batch by batch, searching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from ragstone.core.environment import references_in, require, resolved, secret
from ragstone.core.offline import NetworkForbidden, is_loopback, network_forbidden
from ragstone.errors import ConfigError, MissingDependency
from ragstone.indexes.own_index import OwnIndex, client_faults

_SCHEMES: Final = ("http", "https", "tcp")
_POSITION: Final = "position"
_STRONG: Final = "Strong"
"""The consistency level at which everything written before is read."""


@dataclass(frozen=True)
class Server:
    """A Milvus database: a local file, or the address of a server or cluster."""

    uri: str
    token_env: str = ""
    timeout: float = 60.0

    def __post_init__(self) -> None:
        """Check the address without connecting, unless parts of it are secret."""
        if references_in(self.uri):
            return
        if self.is_file:
            if "://" in self.uri:
                raise ConfigError(f"uri is neither a file nor an address, found {self.uri!r}")
            return
        parts = urlsplit(self.uri)
        if parts.username or parts.password:
            raise ConfigError(
                "uri must not contain a name or a password; put NAME:PASSWORD, or a token, into an "
                "environment variable and name it with token_env"
            )
        if parts.scheme not in _SCHEMES or not parts.hostname:
            raise ConfigError(
                f"uri must be a local file that ends with .db (milvus-lite keeps a folder there), "
                f"or an address such as http://localhost:19530, found {self.uri!r}"
            )

    @property
    def is_file(self) -> bool:
        """Whether it is a file of milvus-lite, the embedded form."""
        return self.uri.endswith(".db")

    @property
    def is_here(self) -> bool:
        """Whether the database is on this machine."""
        return self.is_file or is_loopback(urlsplit(self._address()).hostname or "")

    def check(self) -> None:
        """Raise if a package or the token is missing, or if offline forbids the server."""
        _package()
        if self.is_file:
            require("retriever 'milvus' with a local file", "milvus", "milvus_lite")
        self._token()
        # The offline guard does not see connections of compiled code.
        if network_forbidden() and not self.is_here:
            raise NetworkForbidden(f"offline: the Milvus at {self.uri} is not on this machine")

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Return a context with a connected `MilvusClient`; its end unlocks a local file."""
        self.check()
        pymilvus = _package()
        options = {"grpc.enable_http_proxy": 0} if self.is_here else {}
        with self.faults():
            client = pymilvus.MilvusClient(
                self._place(), token=self._token(), timeout=self.timeout, grpc_options=options
            )
        try:
            with self.faults():
                yield client
        finally:
            client.close()
            if self.is_file:
                from milvus_lite.server_manager import server_manager_instance

                server_manager_instance.release_server(self._place())

    def _place(self) -> str:
        if not self.is_file:
            return self._address()
        path = Path(self.uri).expanduser().absolute()
        path.parent.mkdir(parents=True, exist_ok=True)
        return str(path)

    def _address(self) -> str:
        address: str = resolved(self.uri, "the address of Milvus")
        return address

    def _token(self) -> str:
        return secret(self.token_env, f"the token for {self.uri}")

    def faults(self) -> AbstractContextManager[None]:
        """Return a context that turns errors of pymilvus into a `CallError` with the way out."""
        way_out = "is the server running, and the token right?"
        if self.is_file:
            way_out = "another process may have the file open, or it is not a file of milvus-lite."
        errors = (_package().exceptions.MilvusException, OSError)
        return client_faults(errors, f"Milvus at {self.uri}", way_out)


@dataclass(frozen=True)
class Collection(OwnIndex):
    """One row per passage, under its position in the corpus."""

    client: Any
    name: str
    rows: int
    indexes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Vector field -> arguments of pymilvus's `add_index`."""

    @property
    def shown(self) -> str:
        """The collection, for messages."""
        return f"the Milvus collection {self.name!r}"

    def exists(self) -> bool:
        """Return whether the collection was created, after loading it."""
        if not self.client.has_collection(self.name):
            return False
        self.client.load_collection(self.name)
        return True

    def write(self, start: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows from a position on."""
        # Upsert: rows of an interrupted batch are replaced and not duplicated.
        self.client.upsert(self.name, [{_POSITION: start + n, **r} for n, r in enumerate(rows)])

    def finish(self) -> None:
        """Write the buffered rows."""
        self.client.flush(self.name)

    def count(self, start: int = 0, stop: int | None = None) -> int:
        """Return the number of rows, in total or from one position up to another."""
        where = "" if stop is None else f"{_POSITION} >= {start} and {_POSITION} < {stop}"
        found = self.client.query(
            self.name, filter=where, output_fields=["count(*)"], consistency_level=_STRONG
        )
        return int(found[0]["count(*)"])

    def search(
        self, requests: Sequence[Mapping[str, Any]], ranker: Any, limit: int
    ) -> list[list[tuple[float, int]]]:
        """Return score and position of the nearest rows of each query.

        Several requests (data, anns_field, param, limit) are joined by `ranker`.
        """
        shared = {"output_fields": [_POSITION], "consistency_level": _STRONG}
        if len(requests) == 1:
            (one,) = requests
            found = self.client.search(
                self.name,
                data=one["data"],
                anns_field=one["anns_field"],
                search_params=one["param"],
                limit=limit,
                **shared,
            )
        else:
            joined = [_package().AnnSearchRequest(**request) for request in requests]
            found = self.client.hybrid_search(self.name, joined, ranker, limit=limit, **shared)
        return [[(float(hit["distance"]), int(hit[_POSITION])) for hit in hits] for hits in found]

    def create(self, dimension: int | None) -> None:
        """Create the collection with its indexes."""
        types = _package().DataType
        schema = self.client.create_schema(auto_id=False, enable_dynamic_field=False)
        schema.add_field(_POSITION, types.INT64, is_primary=True)
        prepared = self.client.prepare_index_params()
        for name, arguments in self.indexes.items():
            if name == "dense":
                schema.add_field(name, types.FLOAT_VECTOR, dim=dimension)
            else:
                schema.add_field(name, types.SPARSE_FLOAT_VECTOR)
            prepared.add_index(name, metric_type="IP", **arguments)
        self.client.create_collection(self.name, schema=schema)
        # An empty collection has nothing to wait for, and milvus-lite does not support waiting.
        self.client.create_index(self.name, prepared, sync=False)
        self.client.load_collection(self.name)


def ranker(fusion: str, rrf_k: int, dense_weight: float) -> Any:
    """Return pymilvus's ranker for a hybrid search."""
    pymilvus = _package()
    if fusion == "rrf":
        return pymilvus.RRFRanker(rrf_k)
    return pymilvus.WeightedRanker(dense_weight, 1 - dense_weight)


def _package() -> Any:
    try:
        import pymilvus
    except ImportError as error:
        raise MissingDependency("retriever 'milvus'", "pymilvus", "milvus") from error
    return pymilvus
