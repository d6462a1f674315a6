"""Milvus, against milvus-lite: a real database in this process, in a folder of the test's own."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from tests.support import rankings

from ragstone.components.retrievers.dense import Dense
from ragstone.components.retrievers.milvus import Milvus
from ragstone.components.retrievers.sparse import Sparse
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.offline import NetworkForbidden, no_network
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import CallError, ConfigError, MissingDependency
from ragstone.indexes import own_index
from ragstone.protocols import Role
from ragstone.text.words import words
from ragstone.types import Passage, Search

pytest.importorskip("pymilvus", reason="needs the extra milvus")
pytest.importorskip("milvus_lite", reason="needs the extra milvus")

seen: list[int] = []
"""How many passages the encoder was given at a time."""


@dataclass(frozen=True)
class Drawn:
    """Draws a vector for a text from the text itself; `unit` is the number of dimensions."""

    unit: int = 24

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one drawn row per text."""
        seeds = [list(text.encode()) for text in texts]
        drawn = [np.random.default_rng(seed).standard_normal(self.unit) for seed in seeds]
        return np.array(drawn, dtype=np.float32)


@dataclass(frozen=True)
class Counted:
    """Counts words."""

    output: ClassVar[str] = "sparse"
    texts_per_call: ClassVar[int] = 64

    def embed(self, texts: Sequence[str], role: Role) -> list[Counter[int]]:
        """Return the number of each word."""
        if role == "passage":
            seen.append(len(texts))
        return [Counter(int.from_bytes(w.encode()[:3]) for w in words(text)) for text in texts]


DRAWN, COUNTED = f"{__name__}:Drawn", f"{__name__}:Counted"


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    """What the servers log about a wrong request is theirs; forget what earlier tests encoded."""
    seen.clear()
    loggers = [logging.getLogger(name) for name in ("pymilvus", "milvus_lite")]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    yield
    for logger in loggers:
        logger.setLevel(logging.NOTSET)


def _corpus(*texts: str) -> Corpus:
    return Corpus.from_passages([Passage(f"p{n}", text) for n, text in enumerate(texts)])


def _ids(retriever: Milvus | Dense, corpus: Corpus, *texts: str) -> list[list[str]]:
    searches = [Search(f"q{n}", text) for n, text in enumerate(texts)]
    return [list(ranking.passage_ids) for ranking in rankings(retriever, searches, corpus)]


def test_flat_dense_search_is_that_of_dense(tmp_path: Path) -> None:
    """Passages, order and scores are the same, also for several requests."""
    corpus = _corpus(*(f"passage {n}" for n in range(2_300)))
    searches = [Search(f"q{n}", f"query {n}") for n in range(70)]
    found = rankings(Milvus(str(tmp_path / "m.db"), 20, embedder=DRAWN), searches, corpus)
    exact = rankings(Dense(20, DRAWN), searches, corpus)
    assert [r.passage_ids for r in found] == [r.passage_ids for r in exact]
    assert [r.scores for r in found] == [pytest.approx(r.scores, abs=1e-4) for r in exact]


def test_ties_at_the_end_are_in_the_order_of_the_corpus(tmp_path: Path) -> None:
    """Of two equal texts the first ranks higher, also at the last place."""
    corpus = _corpus("b", "a", *["same"] * 30)
    assert _ids(Milvus(str(tmp_path / "m.db"), 3, embedder=DRAWN), corpus, "same") == [
        ["p2", "p3", "p4"]
    ]


def test_sparse_search_counts_shared_words(tmp_path: Path) -> None:
    """Empty passages, empty queries and unknown words are accepted without hits."""
    corpus = _corpus("tagus", "lisbon tagus tagus", "", "porto")
    retriever = Milvus(str(tmp_path / "m.db"), search="sparse", encoder=COUNTED)
    assert _ids(retriever, corpus, "tagus", "", "berlin", "porto lisbon") == [
        ["p1", "p0"],
        [],
        [],
        ["p1", "p3"],
    ]


def test_hybrid_search_joins_both(tmp_path: Path) -> None:
    """Reciprocal ranks add up; with the weight 1, the order is that part's."""
    corpus = _corpus("tagus", "lisbon tagus tagus", "porto", "berlin")
    uri = str(tmp_path / "m.db")
    hybrid = Milvus(uri, 4, search="hybrid", embedder=DRAWN, encoder=COUNTED, depth=4)
    (ranking,) = rankings(hybrid, [Search("q", "tagus")], corpus)
    dense = _ids(Milvus(uri, 4, embedder=DRAWN), corpus, "tagus")[0]
    expected = {passage: 1 / (60 + rank) for rank, passage in enumerate(dense, start=1)}
    expected["p1"] += 1 / 61
    expected["p0"] += 1 / 62
    found = dict(zip(ranking.passage_ids, ranking.scores, strict=True))
    assert found == pytest.approx(expected, abs=1e-6)
    weighted = replace(hybrid, fusion="weighted", dense_weight=1.0)
    assert _ids(weighted, corpus, "tagus")[0] == dense


@pytest.mark.parametrize(
    ("index", "made", "searched"),
    [
        ("HNSW", {"M": 16, "efConstruction": 100}, {"ef": 200}),
        ("IVF_FLAT", {"nlist": 4}, {"nprobe": 4}),
    ],
)
def test_other_indexes_find_themselves(
    tmp_path: Path, index: str, made: dict[str, Any], searched: dict[str, Any]
) -> None:
    """Each passage's own text is its nearest, whatever the index."""
    corpus = _corpus(*(f"passage {n}" for n in range(200)))
    retriever = Milvus(
        str(tmp_path / "m.db"),
        1,
        embedder=DRAWN,
        index=index,
        index_parameters=made,
        search_parameters=searched,
    )
    assert _ids(retriever, corpus, "passage 7", "passage 199") == [["p7"], ["p199"]]


def test_a_killed_build_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After SIGKILL, stored batches are not encoded again; no row is missing or duplicated."""
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(own_index, "BATCH", 10)
    retriever = Milvus(str(tmp_path / "m.db"), 35, search="sparse", encoder="dying:Dying")
    corpus = _corpus(*(f"w{n}" for n in range(35)))
    program = [sys.executable, str(tmp_path / "dying.py"), retriever.uri]
    assert subprocess.run(program, check=False, capture_output=True).returncode == -9
    found = _ids(retriever, corpus, *(f"w{n}" for n in range(35)))
    assert found == [[f"p{n}"] for n in range(35)]
    encoded = sys.modules["dying"].here.seen
    assert encoded == [10, 5], "two batches were there"
    _ids(retriever, corpus, "w1")
    assert encoded == [10, 5], "all of it is there"
    _ids(retriever, _corpus(*(f"w{n}" for n in range(5))), "w1")
    assert encoded == [10, 5, 5], "another corpus is another collection"


def test_kept_sparse_vectors_are_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors that `sparse` stored are not encoded again; the rankings are the same."""
    monkeypatch.setattr(own_index, "BATCH", 100)
    texts = [f"w{n} x{n % 7}" for n in range(300)]
    corpus = replace(_corpus(*texts), store=Store(tmp_path / "store"))
    searches = [Search("a", "x3 w3"), Search("b", "w299"), Search("c", "w255 w256")]
    expected = rankings(Sparse(9, COUNTED), searches, corpus)
    encoded = list(seen)
    assert sum(encoded) == 300
    found = Milvus(str(tmp_path / "m.db"), 9, search="sparse", encoder=COUNTED)
    assert rankings(found, searches, corpus) == expected
    assert seen == encoded, "from the store"


DYING = f"""
import os, signal, sys
from dataclasses import dataclass
sys.path[:0] = [{str(Path(__file__).parent)!r}, {str(Path(__file__).parents[3])!r}]
import {Path(__file__).stem} as here

class Deadly(here.Counted):
    def embed(self, texts, role):
        if __name__ == "__main__" and role == "passage" and "w25" in texts:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().embed(texts, role)

@dataclass(frozen=True)
class Dying(Deadly):
    pass

if __name__ == "__main__":
    here.own_index.BATCH = 10
    sys.modules["dying"] = sys.modules["__main__"]
    Dying.__module__ = "dying"
    corpus = here._corpus(*(f"w{{n}}" for n in range(35)))
    retriever = here.Milvus(sys.argv[1], 35, search="sparse", encoder="dying:Dying")
    here._ids(retriever, corpus, "w1")
"""


def test_a_server_is_searched_as_a_file_is(tmp_path: Path) -> None:
    """The same rankings over the network protocol, from milvus-lite's server on this machine."""
    from milvus_lite.adapter.grpc.server import start_server_in_thread

    corpus = _corpus(*(f"passage {n}" for n in range(50)))
    server, held, port = start_server_in_thread(str(tmp_path / "s.db"), "127.0.0.1", 0)
    try:
        with no_network():
            there = Milvus(f"http://127.0.0.1:{port}", 9, embedder=DRAWN)
            found = _ids(there, corpus, "query")
    finally:
        server.stop(grace=0)
        held.close()
    assert found == _ids(Milvus(str(tmp_path / "m.db"), 9, embedder=DRAWN), corpus, "query")
    assert found == _ids(Dense(9, DRAWN), corpus, "query")


def test_a_collection_with_more_rows_is_refused(tmp_path: Path) -> None:
    """Another program wrote to it, so it is not searched."""
    retriever, corpus = Milvus(str(tmp_path / "m.db"), 3, embedder=DRAWN), _corpus("a", "b")
    _ids(retriever, corpus, "a")
    with retriever._server.opened() as client:
        (name,) = client.list_collections()
        client.insert(name, [{"position": 7, "dense": [0.0] * 24}])
    with pytest.raises(ConfigError, match=r"3 rows for 2 passages.*drop it"):
        _ids(retriever, corpus, "a")


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("http://root:secret@host:19530", "token_env"),
        ("milvus", r"ends with \.db"),
        ("ftp://host", r"such as http://localhost:19530"),
        ("http://", r"such as http://localhost:19530"),
        ("http://host/x.db", "neither a file nor an address"),
    ],
)
def test_a_wrong_address_is_refused(uri: str, told: str) -> None:
    """The error comes before a connection, and contains no password."""
    with pytest.raises(ConfigError, match=told) as raised:
        Milvus(uri, embedder=DRAWN)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"top_k": 20_000}, "16,384"),
        ({"depth": 0}, "depth must be 1"),
        ({"dense_weight": 1.5}, "between 0 and 1"),
        ({"index": "FLATT"}, "did you mean 'FLAT'"),
        ({"index": "DISKANN"}, "in a local file"),
        ({"rrf_k": 0}, "1 or more"),
        ({"search": "hybrid", "encoder": COUNTED, "top_k": 50, "depth": 10}, "raise depth"),
        ({"search": "sparse", "encoder": DRAWN}, "sparse vectors"),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, Any], told: str) -> None:
    """The error names the parameter and the allowed values."""
    with pytest.raises(ConfigError, match=told):
        Milvus("m.db", **{"embedder": DRAWN, **wrong})


def test_the_token_stays_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read at the connection and is not in the key; if unset, the error names it."""
    retriever = Milvus("http://127.0.0.1:1", embedder=DRAWN, token_env="THE_TOKEN")  # noqa: S106 -- a name
    with pytest.raises(ConfigError, match="export THE_TOKEN"):
        _ids(retriever, _corpus("a"), "a")
    monkeypatch.setenv("THE_TOKEN", "root:hidden")
    assert "hidden" not in repr(retriever) + str(cache_key_parts(retriever))
    with pytest.raises(
        CallError, match=r"Milvus at http://127\.0\.0\.1:1: .*token right"
    ) as raised:
        _ids(replace(retriever, timeout=0.5), _corpus("a"), "a")
    assert "hidden" not in str(raised.value)


def test_the_address_is_not_part_of_the_key() -> None:
    """The address of the database is not part of the key."""
    assert cache_key_parts(Milvus("a.db", embedder=DRAWN)) == cache_key_parts(
        Milvus("http://b:1", embedder=DRAWN)
    )
    assert cache_key_parts(Milvus("a.db", embedder=DRAWN)) != cache_key_parts(
        Milvus("a.db", embedder=f"{DRAWN}(unit=8)")
    )


def test_offline_reaches_no_other_machine() -> None:
    """The audit hook does not see compiled code, so the check refuses the connection."""
    with no_network(), pytest.raises(NetworkForbidden, match=r"milvus\.example"):
        _ids(Milvus("http://milvus.example:19530", embedder=DRAWN), _corpus("a"), "a")


def test_a_file_in_use_by_another_process_is_reported(tmp_path: Path) -> None:
    """milvus-lite locks its folder: the other process is named as the likely cause."""
    import fcntl

    retriever = Milvus(str(tmp_path / "m.db"), embedder=DRAWN)
    _ids(retriever, _corpus("a"), "a")
    with (tmp_path / "m.db" / "LOCK").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CallError, match="another process may have the file open"):
            _ids(retriever, _corpus("a"), "a")


def test_an_absent_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error contains the command that installs it."""
    monkeypatch.setitem(sys.modules, "pymilvus", None)
    with pytest.raises(MissingDependency, match=r"ragstone\[milvus\]"):
        _ids(Milvus("m.db", embedder=DRAWN), _corpus("a"), "a")


def test_nothing_to_search(tmp_path: Path) -> None:
    """Without queries or passages, the database is not opened."""
    retriever = Milvus(str(tmp_path / "m.db"), embedder=DRAWN)
    assert rankings(retriever, [], _corpus("a")) == []
    assert _ids(retriever, _corpus(), "a") == [[]]
    assert not (tmp_path / "m.db").exists()
