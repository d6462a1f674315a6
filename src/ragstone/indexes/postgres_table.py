"""A table of vectors in PostgreSQL with pgvector: connecting, filling, searching."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Any, Final, Literal
from urllib.parse import parse_qs, urlsplit

from ragstone.core.environment import references_in, resolved, secret
from ragstone.core.offline import NetworkForbidden, is_loopback, network_forbidden
from ragstone.errors import ConfigError, MissingDependency, did_you_mean
from ragstone.indexes.own_index import Hit, OwnIndex, client_faults

Metric = Literal["inner_product", "cosine", "l2"]

_OPERATORS: Final[Mapping[str, str]] = {"inner_product": "<#>", "cosine": "<=>", "l2": "<->"}
"""Metric -> pgvector's operator, whose values are lower for nearer vectors."""


@dataclass(frozen=True)
class Postgres:
    """A database at an address; nothing is sent before `opened`."""

    uri: str
    password_env: str = ""
    timeout: float = 60.0

    def __post_init__(self) -> None:
        """Check the address without connecting, unless parts of it are secret."""
        if references_in(self.uri):
            return
        parts = urlsplit(self.uri)
        if parts.scheme not in {"postgresql", "postgres"}:
            raise ConfigError(
                f"uri must be an address such as postgresql://user@localhost:5432/database, found "
                f"{self.uri.split('@')[-1]!r}",
                key="uri",
            )
        if parts.password or "password" in parse_qs(parts.query):
            raise ConfigError(
                "uri must not contain a password; put it into an environment variable and name "
                "it with password_env",
                key="uri",
            )

    @property
    def host(self) -> str:
        """The host or the folder of the socket; "" for the socket of this machine."""
        parts = urlsplit(self._address())
        return parse_qs(parts.query).get("host", [""])[0] or parts.hostname or ""

    def check(self) -> None:
        """Raise if the package or the password is missing, or if offline forbids the server."""
        _package()
        self._password()
        # The offline guard does not see connections of compiled code.
        here = not self.host or self.host.startswith("/") or is_loopback(self.host)
        if network_forbidden() and not here:
            raise NetworkForbidden(f"offline: the PostgreSQL at {self.host} is not on this machine")

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """Return a context with a connection that commits each statement."""
        self.check()
        psycopg = _package()
        password = self._password()
        given = {"password": password} if password else {}
        seconds = max(2, int(self.timeout))
        limit = f"-c statement_timeout={int(self.timeout * 1000)}"
        with (
            self._faults(),
            psycopg.connect(
                self._address(), autocommit=True, connect_timeout=seconds, options=limit, **given
            ) as connection,
        ):
            yield connection

    def _address(self) -> str:
        address: str = resolved(self.uri, "the address of PostgreSQL")
        return address

    def _password(self) -> str:
        return secret(self.password_env, "the password of PostgreSQL")

    def _faults(self) -> AbstractContextManager[None]:
        """Return a context that turns errors of psycopg into a `CallError` with the way out."""
        where = f"PostgreSQL at {self.host or 'this machine'}"
        way_out = "is the server running, with the extension pgvector, and the password right?"
        return client_faults(_package().Error, where, way_out)


@dataclass(frozen=True)
class VectorTable(OwnIndex):
    """A table of our own: one row per passage, under its position."""

    connection: Any
    name: str
    rows: int
    exact: bool = True

    @property
    def shown(self) -> str:
        """The table, for messages."""
        return f"the table {self.name!r}"

    def exists(self) -> bool:
        """Return whether the table was created."""
        found = self.connection.execute("SELECT to_regclass(%s)", [self.name]).fetchone()
        return found[0] is not None

    def create(self, dimension: int | None) -> None:
        """Create the table, and the extension if the user may."""
        sql = _package().sql
        self.connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        statement = "CREATE TABLE {} (position integer PRIMARY KEY, embedding vector({}))"
        self.connection.execute(
            sql.SQL(statement).format(sql.Identifier(self.name), sql.Literal(dimension))
        )

    def count(self, start: int = 0, stop: int | None = None) -> int:
        """Return the number of rows, in total or from one position up to another."""
        sql = _package().sql
        statement = "SELECT count(*) FROM {} WHERE position >= %s AND (%s OR position < %s)"
        counted = sql.SQL(statement).format(sql.Identifier(self.name))
        found = self.connection.execute(counted, [start, stop is None, stop or 0])
        return int(found.fetchone()[0])

    def write(self, start: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the rows from a position on, in one transaction."""
        sql, name = _package().sql, _package().sql.Identifier(self.name)
        stop = start + len(rows)
        with self.connection.transaction(), self.connection.cursor() as cursor:
            between = "DELETE FROM {} WHERE position >= %s AND position < %s"
            cursor.execute(sql.SQL(between).format(name), [start, stop])
            with cursor.copy(sql.SQL("COPY {} (position, embedding) FROM STDIN").format(name)) as c:
                for place, row in enumerate(rows, start=start):
                    c.write_row([place, _written(row["vector"])])

    def finish(self) -> None:
        """Build the graph of an approximate search, unless it exists."""
        if self.exact:
            return
        sql = _package().sql
        statement = "CREATE INDEX IF NOT EXISTS {} ON {} USING hnsw (embedding vector_ip_ops)"
        graph, name = sql.Identifier(f"{self.name[:57]}_graph"), sql.Identifier(self.name)
        self.connection.execute(sql.SQL(statement).format(graph, name))


def check_table(connection: Any, table: str, id_field: str, vector_field: str) -> int | None:
    """Return the length of the vectors of a user's table; None if its column has no length.

    Raises:
        ConfigError: the table or a column is absent, or the table is empty.
    """
    found = connection.execute("SELECT to_regclass(%s)", [_quoted(table)]).fetchone()[0]
    if found is None:
        rows = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname NOT IN "
            "('pg_catalog', 'information_schema')"
        )
        names = [row[0] for row in rows]
        raise ConfigError(
            f"PostgreSQL has no table {table!r}{did_you_mean(table, names)}", key="table"
        )
    rows = connection.execute(
        "SELECT attname, format_type(atttypid, NULL), atttypmod FROM pg_attribute "
        "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped",
        [_quoted(table)],
    )
    columns = {name: (kind, length) for name, kind, length in rows}
    for option, name in (("id_field", id_field), ("vector_field", vector_field)):
        if name not in columns:
            raise ConfigError(
                f"the table {table!r} has no column {name!r}{did_you_mean(name, columns)}; name "
                f"it with {option}",
                key=option,
            )
    kind, length = columns[vector_field]
    if kind.rpartition(".")[2] != "vector":
        raise ConfigError(
            f"the column {vector_field!r} of {table!r} is of type {kind}, not vector",
            key="vector_field",
        )
    sql = _package().sql
    some = sql.SQL("SELECT 1 FROM {} LIMIT 1").format(_identifier(table))
    if connection.execute(some).fetchone() is None:
        raise ConfigError(f"the table {table!r} is empty", key="table")
    return length if length > 0 else None


def nearest_rows(
    connection: Any,
    table: str,
    vectors: Sequence[Any],
    limit: int,
    *,
    id_field: str,
    vector_field: str,
    metric: Metric,
    exact: bool,
) -> list[list[Hit]]:
    """Return score and id of the nearest rows of each vector.

    A score is the inner product, the cosine, or the distance with a minus sign.
    """
    sql = _package().sql
    nearest = sql.SQL(
        "SELECT {id}::text, {vector} {operator} %s::vector AS distance FROM {table} "
        "WHERE {vector} IS NOT NULL ORDER BY distance LIMIT %s"
    ).format(
        id=sql.Identifier(id_field),
        vector=sql.Identifier(vector_field),
        operator=sql.SQL(_OPERATORS[metric]),
        table=_identifier(table),
    )
    found = []
    with connection.transaction():
        if exact:
            connection.execute("SET LOCAL enable_indexscan = off")
        for vector in vectors:
            rows = connection.execute(nearest, [_written(vector), limit]).fetchall()
            found.append([(_score(distance, metric), key) for key, distance in rows])
    return found


def _score(distance: float, metric: Metric) -> float:
    return 1 - distance if metric == "cosine" else -distance


def _written(vector: Any) -> str:
    """Return a vector in pgvector's form; its numbers are in 32 bits and keep every digit."""
    return f"[{','.join(map(str, vector.tolist()))}]"


def _identifier(table: str) -> Any:
    """Return the name of a table, `schema.table` or `table`, as an identifier."""
    return _package().sql.Identifier(*table.split(".", 1))


def _quoted(table: str) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in table.split(".", 1))


def _package() -> Any:
    try:
        import psycopg
        import psycopg.sql
    except ImportError as error:
        raise MissingDependency("retriever 'pgvector'", "psycopg", "pgvector") from error
    return psycopg
