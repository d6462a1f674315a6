"""Pooling: the best passages of several retrievers, each once."""

from __future__ import annotations

from ragstone.building.pooling import PassagePool
from ragstone.components.retrievers.bm25 import BM25
from ragstone.data.corpus import Corpus
from ragstone.protocols import Services
from ragstone.types import Passage, Query

CORPUS = Corpus.from_passages(
    [Passage("a", "old mill"), Passage("b", "old bridge"), Passage("c", "new bridge of stone")]
)


def test_each_passage_is_pooled_once_the_best_of_each_retriever_first() -> None:
    """Two rankings of depth two share a passage."""
    pool = PassagePool(CORPUS, [BM25(top_k=10)], Services(), depth=2)
    assert [p.passage_id for p in pool.passages([["a", "b", "c"], ["c", "a"]])] == ["a", "c", "b"]


def test_rankings_are_by_query_and_retriever() -> None:
    """Each query has a ranking per retriever; without queries nothing is searched."""
    pool = PassagePool(CORPUS, [BM25(top_k=10), BM25(top_k=1)], Services())
    (found,) = pool.rankings([Query("q", "bridge")])
    assert [set(one) for one in found] == [{"b", "c"}, {found[0][0]}]
    assert pool.rankings([]) == []
