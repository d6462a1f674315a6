"""Retrieval by pgvector: vectors in a table of PostgreSQL."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ragstone.components.retrievers.vector_database import VectorDatabase
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.errors import ConfigError
from ragstone.indexes.own_index import Hit, OwnIndex
from ragstone.indexes.postgres_table import (
    Metric,
    Postgres,
    VectorTable,
    check_table,
    nearest_rows,
)


@dataclass(frozen=True)
class Pgvector(VectorDatabase):
    """Ranks passages by their vectors in PostgreSQL with the extension pgvector.

    Without `table`, a table of its own is filled from the corpus, and ranked by inner products, as
    `dense` does. With `table`, it is only read.

    Args:
        uri: address of the database, such as postgresql://user@localhost:5432/database.
        table: name of a table of yours, or schema.table; "" fills one from the corpus.
        id_field: column of the passage ids.
        vector_field: column of the vectors.
        metric: inner_product, cosine or l2; the one that your table is made for.
        password_env: environment variable that contains the password.
        timeout: timeout of a connection and of a statement, in seconds.
    """

    uri: str = field(metadata=NOT_IN_CACHE_KEY)
    table: str = ""
    id_field: str = "passage_id"
    vector_field: str = "embedding"
    metric: Metric = "inner_product"
    password_env: str = field(default="", metadata=NOT_IN_CACHE_KEY)
    timeout: float = field(default=60.0, metadata=NOT_IN_CACHE_KEY)
    requires_extra = "pgvector"
    engine_name = "pgvector"

    def __post_init__(self) -> None:
        """Check the parameters and the address, and create the embedder."""
        super().__post_init__()
        if self.metric != "inner_product" and not self.table:
            raise ConfigError("metric is that of a table of yours; add table", key="metric")
        _ = self._database

    @property
    def existing(self) -> str:
        """The name of the user's table, or ""."""
        return self.table

    @property
    def address(self) -> str:
        """The address of the database."""
        return self.uri

    def check_server(self) -> None:
        """Raise if the package or the password is missing, or if offline forbids the server."""
        self._database.check()

    def opened(self) -> AbstractContextManager[Any]:
        """Return a context with a connection."""
        return self._database.opened()

    def own_index(self, client: Any, name: str, rows: int) -> OwnIndex:
        """Return the table of our own with some name."""
        return VectorTable(client, name, rows, self.exact)

    def dimension_of(self, client: Any) -> int | None:
        """Return the length of the vectors of the user's table."""
        return check_table(client, self.table, self.id_field, self.vector_field)

    def search(self, client: Any, name: str, vectors: Sequence[Any]) -> list[list[Hit]]:
        """Return the nearest rows of each vector."""
        return nearest_rows(
            client,
            name,
            vectors,
            self.requested,
            id_field=self.id_field if self.table else "position",
            vector_field=self.vector_field if self.table else "embedding",
            metric=self.metric,
            exact=self.exact,
        )

    @cached_property
    def _database(self) -> Postgres:
        return Postgres(self.uri, self.password_env, self.timeout)
