"""BM25 against the package bm25s: the same passages with the same scores."""

from __future__ import annotations

import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.support import rankings

from ragstone.components.retrievers.bm25 import BM25
from ragstone.core.store import Store
from ragstone.data.corpus import Corpus
from ragstone.indexes import inverted
from ragstone.text.words import words
from ragstone.types import Passage, Search

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    bm25s = pytest.importorskip("bm25s")


def _texts(count: int) -> list[str]:
    """Return passages of 5 to 60 words, a few words frequent and most of them rare."""
    rng = np.random.default_rng(8)
    lengths = rng.integers(5, 60, count)
    return [" ".join(f"w{n}" for n in rng.zipf(1.3, size)) for size in lengths]


@pytest.mark.parametrize("small", [0, 10_000], ids=["pruned", "whole"])
@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (0.9, 0.4)])
def test_scores_are_those_of_bm25s(
    k1: float, b: float, small: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every score agrees to a millionth, from a kept index as well."""
    monkeypatch.setattr(inverted, "SMALL", small)
    texts = _texts(600)
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(w, len(vocabulary)) for w in words(t)] for t in texts]
    peer = bm25s.BM25(k1=k1, b=b, method="lucene", backend="numpy")
    peer.index((numbers, vocabulary), create_empty_token=False, show_progress=False)
    made = Corpus.from_passages([Passage(str(n), text) for n, text in enumerate(texts)])
    corpus = Corpus(made.table, Store(tmp_path))
    queries = [" ".join(text.split()[:12]) for text in texts[:100]]

    searches = [Search("q", query) for query in queries]
    found = rankings(BM25(top_k=50, k1=k1, b=b), searches, corpus)

    for query, ranking in zip(queries, found, strict=True):
        counts = Counter(words(query)).elements()
        scores = peer.get_scores_from_ids([vocabulary[word] for word in counts])
        best = np.sort(scores)[::-1][: len(ranking)]
        assert ranking.scores == pytest.approx(best.tolist(), rel=1e-6)
        own = scores[[int(passage_id) for passage_id in ranking.passage_ids]]
        assert ranking.scores == pytest.approx(own.tolist(), rel=1e-6)
