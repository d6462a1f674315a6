"""Learned sparse retrieval: what it finds, what it keeps, and what it refuses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.support import rankings, vectors

from ragstone.components.embedders.splade import Splade
from ragstone.components.retrievers.sparse import Sparse
from ragstone.core import limits
from ragstone.core.registry import create
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.errors import ComponentError, ConfigError, RagstoneError
from ragstone.indexes import sparse_vectors
from ragstone.indexes.inverted import FILES
from ragstone.indexes.sparse_vectors import sparse_index, sparse_rows
from ragstone.protocols import Embedder, Role, Services
from ragstone.types import Passage, Search

TEXTS = {
    "p1": "Paris is the capital and largest city of France.",
    "p2": "The giant panda eats bamboo in the mountains of China.",
    "p3": "A touchstone is a dark stone that tests gold.",
    "p4": "Paris is the capital and largest city of France.",
}


@pytest.fixture
def corpus() -> Corpus:
    """Four passages, two of them equal."""
    return Corpus.from_passages([Passage(key, text) for key, text in TEXTS.items()])


def find(corpus: Corpus, *texts: str, top_k: int = 3) -> list[list[str]]:
    """Return the ids found for some texts."""
    searches = [Search(f"q{n}", text) for n, text in enumerate(texts)]
    return [list(r.passage_ids) for r in rankings(Sparse(top_k=top_k), searches, corpus)]


def test_related_words_find_passages_without_shared_words(corpus: Corpus) -> None:
    """Each question finds its passage; equal passages are in the order of the corpus."""
    france, animal, metal = find(
        corpus, "Where do the French govern?", "What do pandas feed on?", "How is metal assayed?"
    )

    assert france[:2] == ["p1", "p4"]
    assert animal[0] == "p2"
    assert metal[0] == "p3"


def test_scores_are_the_inner_products(corpus: Corpus) -> None:
    """A score is the inner product of the passage's and the query's vectors."""
    splade = Splade()
    (ranking,) = rankings(Sparse(), [Search("q", "capital of France")], corpus)

    (query,) = vectors(splade, "query", "capital of France")
    passages = vectors(splade, "passage", *TEXTS.values())
    expected = {
        key: sum(weight * row.get(word, 0.0) for word, weight in query.items())
        for key, row in zip(TEXTS, passages, strict=True)
    }
    found = dict(zip(ranking.passage_ids, ranking.scores, strict=True))
    assert found == pytest.approx({k: v for k, v in expected.items() if v > 0}, rel=1e-5)


def test_a_query_depends_on_no_other(corpus: Corpus) -> None:
    """Alone or among others: the same ranking."""
    together = find(corpus, "panda", "capital of France", "gold")

    assert together == [find(corpus, text)[0] for text in ("panda", "capital of France", "gold")]


def test_encoded_passages_are_kept(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second search encodes nothing again; missing shards are computed."""
    monkeypatch.setattr(sparse_vectors, "SHARD", 2)
    kept = Services(corpus=replace(corpus, store=Store(tmp_path)))
    first = list(sparse_rows(Splade(), kept, 0, 4))

    def fail(*_: object) -> None:
        raise AssertionError("encoded again")

    monkeypatch.setattr(Splade, "embed", fail)
    again = list(sparse_rows(Splade(), kept, 0, 4))
    sparse_index(Splade(), kept)

    names = sorted(path.name.partition("-")[0] for path in (tmp_path / "arrays").iterdir())
    assert names == ["sparse", "weigh", "weigh"]
    assert again == first
    assert len(first) == 4


def test_an_index_merged_from_parts_is_that_of_one_piece(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Parts of two passages on the disk, no part, and one part in memory; damage is repaired."""
    monkeypatch.setattr(sparse_vectors, "SHARD", 1)
    monkeypatch.setattr(limits, "INDEX_PART_PASSAGES", 2)
    whole = sparse_index(Splade(), Services(corpus=corpus))
    kept = Services(corpus=replace(corpus, store=Store(tmp_path)))

    def check() -> None:
        merged = sparse_index(Splade(), kept)
        for name in FILES:
            assert getattr(merged, name).tolist() == getattr(whole, name).tolist()
        assert merged.length == whole.length == 4

    check()
    (folder,) = (tmp_path / "arrays").glob("sparse-*")
    assert not [path for path in folder.iterdir() if path.is_dir()]
    (folder / "weights.npy").write_bytes(b"damaged")
    damaged = next((tmp_path / "arrays").glob("weigh-*"))
    (damaged / "words.npy").write_bytes(b"damaged")
    check()
    assert {path.name for path in (tmp_path / "damaged").iterdir()} == {
        f"{folder.name}-1", f"{damaged.name}-1"
    }  # fmt: skip
    none = Services(corpus=Corpus(corpus.table.slice(0, 0), Store(tmp_path)))
    assert len(sparse_index(Splade(), none).highest) == 0


def test_joined_collections_are_not_encoded_again(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two collections together have the vectors of each, and the ids of both."""
    collections = {"en": range(3), "de": range(3, 4)}
    kept = replace(corpus, store=Store(tmp_path), collections=collections)
    for name in collections:
        sparse_index(Splade(), Services(corpus=kept.part(name)))
    whole = find(corpus, "Paris", top_k=4)
    embed = Splade.embed

    def only_queries(self: Splade, texts: Sequence[str], role: Role, services: Services) -> Any:
        assert role == "query"
        return embed(self, texts, role, services)

    monkeypatch.setattr(Splade, "embed", only_queries)

    assert find(kept.part("en+de"), "Paris", top_k=4) == whole


@pytest.mark.parametrize("text", ["", "  ", "\u0f40\u0f41", "the of and", "gold " * 2000])
def test_strange_queries_are_never_lost(corpus: Corpus, text: str) -> None:
    """Empty, very long and unknown texts have a ranking, which may be empty."""
    assert len(find(corpus, text)) == 1


def test_small_corpora() -> None:
    """A corpus of no passage or one is searched."""
    one = Corpus.from_passages([Passage("p", "gold")])

    assert find(Corpus.from_passages([]), "gold") == [[]]
    assert find(one, "gold", top_k=5) == [["p"]]


@dataclass(frozen=True)
class Broken(Embedder):
    """An encoder that returns illegal values."""

    row: tuple[tuple[int, float], ...]
    output = "sparse"

    def embed(self, texts: Sequence[str], role: Role, services: Services) -> Any:
        """Return one row, whatever is asked."""
        return [dict(self.row)]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (((1, 1.0),), "1 values for 4 items"),
        (((1, float("nan")),), "1 values for 4 items"),
    ],
)
def test_an_encoder_that_breaks_the_contract_is_an_error(
    corpus: Corpus, row: tuple[tuple[int, float], ...], message: str
) -> None:
    """An encoder with too few rows is an error."""
    with pytest.raises(ComponentError, match=message):
        sparse_index(Broken(row), Services(corpus=corpus))


@pytest.mark.parametrize("row", [{1: float("nan")}, {1: -1.0}, {-1: 1.0}])
def test_weights_that_cannot_be_searched_are_refused(row: dict[int, float]) -> None:
    """A weight that is NaN or negative, or a negative term number, is an error."""
    one = Corpus.from_passages([Passage("p", "gold")])

    problem = "returned a (vector with numbers that are not finite|weight|negative term) .*'gold'"
    with pytest.raises(ConfigError, match=problem):
        sparse_index(Broken(tuple(row.items())), Services(corpus=one))


def test_an_embedder_of_dense_vectors_is_not_an_encoder() -> None:
    """The error names the retriever for it."""
    with pytest.raises(ConfigError, match="use it with the retriever 'dense'"):
        create("retrievers", "sparse(encoder=minilm)", where="retriever")


def test_an_index_that_would_not_fit_is_refused(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error comes before a passage is encoded."""
    monkeypatch.setattr("ragstone.core.resources.free_ram", lambda: 1_000)

    with pytest.raises(RagstoneError, match="a sparse index of 4 passages needs about"):
        find(corpus, "gold")


def test_words_that_only_the_query_has_do_no_harm() -> None:
    """The query's term numbers may exceed those of the index."""

    class Wide(Broken):
        def embed(self, texts: Sequence[str], role: Role, services: Services) -> Any:
            return [{1: 1.0, 30_000: 2.0} if role == "query" else dict(self.row)]

    one = Corpus.from_passages([Passage("p", "gold")])
    retriever = Sparse()
    object.__setattr__(retriever, "_embedder", Wide(((1, 0.5),)))
    (ranking,) = rankings(retriever, [Search("q", "x")], one)

    assert (list(ranking.passage_ids), list(ranking.scores)) == (["p"], [0.5])
    assert np.isfinite(ranking.scores).all()


def test_kept_vectors_are_searched_on_a_full_disk(
    corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only new passages need disk space; the error names a solution."""
    kept = replace(corpus, store=Store(tmp_path / "store"))
    found = find(kept, "gold")
    monkeypatch.setattr("ragstone.core.resources.free_disk", lambda _: 100)

    assert find(kept, "gold") == found
    with pytest.raises(RagstoneError, match="storing the sparse vectors of 4 passages needs"):
        find(replace(corpus, store=Store(tmp_path / "other")), "gold")
