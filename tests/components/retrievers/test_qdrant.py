"""Qdrant, in its embedded form: a real database in this process, in a folder of the test's own."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from tests.support import rankings

from ragstone import testing
from ragstone.components.retrievers.dense import Dense
from ragstone.components.retrievers.qdrant import Qdrant
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.offline import no_network
from ragstone.data.corpus import Corpus
from ragstone.errors import CallError, ConfigError, MissingDependency
from ragstone.indexes import own_index
from ragstone.protocols import Services
from ragstone.types import Passage, Ranking, Search

qdrant_client = pytest.importorskip("qdrant_client", reason="needs the extra qdrant")


@dataclass(frozen=True)
class AnyLength:
    """Draws a vector for a text from the text itself; `unit` is the number of dimensions."""

    unit: int = 24

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one drawn row per text."""
        seeds = [list(text.encode()) for text in texts]
        drawn = [np.random.default_rng(seed).standard_normal(self.unit) for seed in seeds]
        return np.array(drawn, dtype=np.float32)


EMBEDDER = f"{__name__}:AnyLength"
SEARCHES = [Search(f"q{n}", f"query {n}") for n in range(70)]


def _corpus(count: int = 90) -> Corpus:
    return Corpus.from_passages([Passage(f"p{n}", f"passage {n}") for n in range(count)])


def _same(found: Sequence[Ranking], expected: Sequence[Ranking]) -> None:
    assert [r.passage_ids for r in found] == [r.passage_ids for r in expected]
    assert [r.scores for r in found] == [pytest.approx(r.scores, abs=1e-4) for r in expected]


def _add(uri: str, name: str, corpus: Corpus, *, named: str = "", size: int = 24) -> None:
    """Add a collection as a user may have one."""
    models = qdrant_client.models
    vectors = AnyLength(size).embed(corpus.full_texts()).tolist() if len(corpus) else []
    space = models.VectorParams(size=size, distance=models.Distance.DOT)
    client = qdrant_client.QdrantClient(path=uri)
    client.create_collection(name, vectors_config={named: space} if named else space)
    points = [
        models.PointStruct(
            id=1000 + place,
            vector={named: vector} if named else vector,
            payload={"passage_id": passage_id},
        )
        for place, (passage_id, vector) in enumerate(zip(corpus.passage_ids, vectors, strict=True))
    ]
    if points:
        client.upsert(name, points)
    client.close()


def test_a_collection_of_its_own_ranks_as_dense_does(tmp_path: Path) -> None:
    """Passages, order and scores are the same, also for several requests; all of it is kept."""
    corpus, uri = _corpus(), str(tmp_path / "q")
    exact = rankings(Dense(20, EMBEDDER), SEARCHES, corpus)
    for _ in range(2):
        _same(rankings(Qdrant(uri, top_k=20, embedder=EMBEDDER), SEARCHES, corpus), exact)
    client = qdrant_client.QdrantClient(path=uri)
    assert len(client.get_collections().collections) == 1
    client.close()


def test_an_interrupted_collection_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing points are written, and more points than passages are refused."""
    monkeypatch.setattr(own_index, "BATCH", 20)
    corpus, uri = _corpus(), str(tmp_path / "q")
    retriever = Qdrant(uri, top_k=20, embedder=EMBEDDER)
    expected = rankings(retriever, SEARCHES, corpus)
    client = qdrant_client.QdrantClient(path=uri)
    (name,) = (one.name for one in client.get_collections().collections)
    client.delete(name, [25, 26])
    client.close()
    _same(rankings(retriever, SEARCHES, corpus), expected)
    client = qdrant_client.QdrantClient(path=uri)
    client.upsert(name, qdrant_client.models.Batch(ids=[500], vectors=[[0.0] * 24]))
    client.close()
    with pytest.raises(ConfigError, match=r"91 rows for 90 passages.*drop it"):
        rankings(retriever, SEARCHES, corpus)


@pytest.mark.parametrize("named", ["", "text"])
def test_a_collection_of_yours_is_read(tmp_path: Path, named: str) -> None:
    """Its points have ids of their own; the passage ids are in the payload."""
    corpus, uri = _corpus(), str(tmp_path / "q")
    _add(uri, "wiki", corpus, named=named)
    retriever = Qdrant(uri, top_k=20, collection="wiki", vector_field=named, embedder=EMBEDDER)
    retriever.check(Services(corpus=corpus))
    _same(rankings(retriever, SEARCHES, corpus), rankings(Dense(20, EMBEDDER), SEARCHES, corpus))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"collection": "wikis"}, r"no collection 'wikis'; did you mean 'wiki'\?"),
        ({"collection": "empty"}, "'empty' is empty"),
        ({"vector_field": "text"}, "no vector 'text'"),
        ({"id_field": "pid"}, "no 'pid' with passage ids.*Known: passage_id; name it with"),
        ({"id_field": ""}, r"84 of the 84 passages .* not in the corpus .*id_field"),
        ({"embedder": f"{EMBEDDER}(unit=8)"}, "24 dimensions, and those .* have 8"),
    ],
)
def test_a_collection_that_does_not_fit_is_refused(
    tmp_path: Path, wrong: dict[str, str], told: str
) -> None:
    """The error names the collection, and what there is instead."""
    corpus, uri = _corpus(), str(tmp_path / "q")
    _add(uri, "wiki", corpus)
    _add(uri, "empty", _corpus(0))
    options: dict[str, Any] = {"collection": "wiki", "embedder": EMBEDDER, "top_k": 20, **wrong}
    with pytest.raises(ConfigError, match=told):
        rankings(Qdrant(uri, **options), SEARCHES[:1], corpus)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"uri": "http://me:secret@host:6333"}, "api_key_env"),
        ({"uri": ""}, "must be a folder"),
        ({"uri": "q", "release": "1"}, "name the index"),
        ({"uri": "q", "top_k": 0}, "1 or more"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], told: str) -> None:
    """The error comes before a connection, and contains no password."""
    with pytest.raises(ConfigError, match=told) as raised:
        Qdrant(embedder=EMBEDDER, **options)
    assert "secret" not in str(raised.value)


def test_a_server_that_is_down_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key is read from the environment, and is in no message and no cache key."""
    retriever = Qdrant("http://127.0.0.1:9", embedder=EMBEDDER, api_key_env="THE_KEY")
    with pytest.raises(ConfigError, match="export THE_KEY"):
        rankings(retriever, SEARCHES, _corpus())
    monkeypatch.setenv("THE_KEY", "hidden-key")
    with (
        pytest.warns(UserWarning, match="insecure"),
        pytest.raises(CallError, match=r"Qdrant at http://127\.0\.0\.1:9: .*API key") as raised,
    ):
        rankings(retriever, SEARCHES, _corpus())
    assert "hidden-key" not in str(raised.value) + str(cache_key_parts(retriever))


def test_offline_reaches_no_other_machine() -> None:
    """The guard of the interpreter sees the connection."""
    retriever = Qdrant("http://qdrant.example:6333", embedder=EMBEDDER)
    with no_network(), pytest.raises(CallError, match=r"offline: 'qdrant\.example'"):
        rankings(retriever, SEARCHES, _corpus())


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_folder_in_use_is_reported(tmp_path: Path) -> None:
    """One process at a time may open it; the client leaves its own file open then."""
    client = qdrant_client.QdrantClient(path=str(tmp_path / "q"))
    with pytest.raises(CallError, match="another process may have the folder open"):
        rankings(Qdrant(str(tmp_path / "q"), embedder=EMBEDDER), SEARCHES, _corpus())
    client.close()


def test_only_a_collection_of_yours_has_an_address_in_its_key() -> None:
    """What an own collection contains is in the key already."""
    own = Qdrant("q", embedder=EMBEDDER)
    assert cache_key_parts(own) == cache_key_parts(replace(own, uri="http://h:1", timeout=3))
    assert own.declared_release is None
    yours = replace(own, collection="wiki")
    assert cache_key_parts(yours) != cache_key_parts(replace(yours, uri="http://h:1"))
    assert yours.declared_release == ""
    assert yours.of_run("run 1") != yours.of_run("run 2")


def test_the_contract_of_retrievers(tmp_path: Path) -> None:
    """The check for all retrievers accepts it."""
    testing.check_retriever(Qdrant(str(tmp_path / "q"), embedder=EMBEDDER))


def test_an_absent_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error contains the command that installs it."""
    monkeypatch.setitem(sys.modules, "qdrant_client", None)
    with pytest.raises(MissingDependency, match=r"ragstone\[qdrant\]"):
        rankings(Qdrant("q", embedder=EMBEDDER), SEARCHES, _corpus())


def test_nothing_to_search(tmp_path: Path) -> None:
    """Without queries or passages, the database is not opened."""
    retriever = Qdrant(str(tmp_path / "q"), embedder=EMBEDDER)
    assert rankings(retriever, [], _corpus()) == []
    assert rankings(retriever, SEARCHES[:1], _corpus(0)) == [Ranking()]
    assert not (tmp_path / "q").exists()
