"""Inverted files of vectors, against the exact search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ragstone.components.retrievers.dense import Dense
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.indexes import ivf_index as module
from ragstone.indexes.cache import INDEXES
from ragstone.indexes.corpus_vectors import embed_corpus
from ragstone.indexes.exact_knn import nearest
from ragstone.indexes.ivf_index import IvfIndex, list_count
from ragstone.indexes.quantisation import Precision, Vectors
from ragstone.protocols import Services
from ragstone.types import Passage


@dataclass(frozen=True)
class Numbered:
    """Draws the vector of a text by the number in it."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return one row per text."""
        return np.stack([np.random.default_rng(int(t)).standard_normal(16) for t in texts])


def _corpus(store: Store | None, count: int = 900) -> Corpus:
    made = Corpus.from_passages([Passage(f"p{n}", str(n)) for n in range(count)])
    return Corpus(made.table, store)


def _index(store: Store | None, precision: Precision = "float32", count: int = 900) -> IvfIndex:
    corpus = _corpus(store, count)
    embedder: Any = Dense(embedder=f"{__name__}:Numbered")._embedder
    vectors = embed_corpus(embedder, Services(corpus=corpus), precision)
    return IvfIndex.of(corpus, vectors, embedder, precision)


def _queries(count: int = 40) -> Any:
    return np.random.default_rng(5).standard_normal((count, 16)).astype(np.float32)


@pytest.fixture(autouse=True)
def _no_indexes() -> None:
    INDEXES.clear()


@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
def test_all_lists_give_the_exact_ranking(precision: Precision) -> None:
    """Ids and scores are those of the exact search, in every precision."""
    done: list[int] = []
    index = _index(None, precision)
    found = list(index.nearest(_queries(), 20, len(index), done.append))
    for one, other in zip(found, nearest(_queries(), index.vectors, 20), strict=True):
        assert one.places.tolist() == other.places.tolist()
        assert one.scores.tolist() == other.scores.tolist()
    assert sum(done) == 40


def test_one_list_finds_some_and_with_the_exact_scores() -> None:
    """A passage that is found has its exact score, best first."""
    index = _index(None)
    exact = nearest(_queries(), index.vectors, 900)
    for one, other in zip(index.nearest(_queries(), 60, 1, int), exact, strict=True):
        scores = dict(zip(other.places.tolist(), other.scores.tolist(), strict=True))
        assert one.scores.tolist() == [scores[place] for place in one.places.tolist()]
        assert one.scores.tolist() == sorted(one.scores.tolist(), reverse=True)
        assert 0 < len(one.places) <= 60


def test_the_index_is_stored_once_and_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second process reads the file; another corpus has an index of its own."""
    first = [n.places.tolist() for n in _index(Store(tmp_path)).nearest(_queries(), 9, 2, int)]
    (folder,) = tmp_path.glob("arrays/ivf-*")
    INDEXES.clear()
    with monkeypatch.context() as patched:
        patched.setattr(module, "_write", None)
        again = _index(Store(tmp_path)).nearest(_queries(), 9, 2, int)
        assert [near.places.tolist() for near in again] == first
    _index(Store(tmp_path), count=901)
    assert len([*tmp_path.glob("arrays/ivf-*")]) == 2
    assert folder.exists()


def test_a_damaged_index_is_set_aside_and_built_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The checksum is compared before anything reads the file."""
    first = [n.places.tolist() for n in _index(Store(tmp_path)).nearest(_queries(), 9, 2, int)]
    (file,) = tmp_path.glob("arrays/ivf-*/rows.npy")
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 2] ^= 255
    file.write_bytes(damaged)
    INDEXES.clear()
    again = _index(Store(tmp_path)).nearest(_queries(), 9, 2, int)
    assert [near.places.tolist() for near in again] == first
    assert "damaged" in caplog.text
    assert [*tmp_path.glob("damaged/ivf-*")]


def test_two_builds_are_equal(tmp_path: Path) -> None:
    """The seed is fixed."""
    files = []
    for name in ("a", "b"):
        INDEXES.clear()
        _index(Store(tmp_path / name))
        (file,) = (tmp_path / name).glob("arrays/ivf-*/rows.npy")
        files.append(file.read_bytes())
    assert files[0] == files[1]


def test_small_corpora_have_one_list_at_least() -> None:
    """The square root of none is none."""
    assert [list_count(n) for n in (0, 1, 10_000)] == [1, 2, 250]


@pytest.mark.parametrize("probed", [1, 3, 30])
def test_ranks_tell_which_vectors_are_found(probed: int) -> None:
    """A vector is found if fewer than `probed` lists are nearer than its own."""
    index = _index(None)
    exact = np.stack([near.places for near in nearest(_queries(), index.vectors, 20)])
    ranks = index.ranks(_queries(), exact)
    found = index.nearest(_queries(), 20, probed, int)
    for near, places, rank in zip(found, exact, ranks, strict=True):
        assert {*near.places.tolist()} >= {*places[rank < probed].tolist()}
        assert not {*near.places.tolist()} & {*places[rank >= probed].tolist()}


@pytest.mark.parametrize("count", [1, 5])
def test_few_vectors_and_no_queries(count: int) -> None:
    """Lists may be empty, and all vectors equal."""
    rows = np.ones((count, 4), dtype=np.float32)
    index = IvfIndex(module._build(Vectors((rows,), 4, 2.0)), Vectors((rows,), 4, 2.0))
    found = list(index.nearest(rows[:1] + 1, 9, len(index), int))
    assert [near.places.tolist() for near in found] == [list(range(count))]
    assert [*index.nearest(rows[:0], 9, 1, int)] == []
