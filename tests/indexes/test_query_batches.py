"""Queries searched together have the rankings and the scores, bit by bit, of each alone."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.indexes import query_batches
from ragstone.indexes.inverted import Postings
from ragstone.indexes.query_batches import WeighedTerms, search_all


def _index(documents: int, vocabulary: int, seed: int) -> Postings:
    """Return documents of about ten words each, some frequent; weights repeat, so scores tie."""
    rng = np.random.default_rng(seed)
    rows = [np.unique((vocabulary * rng.random(10) ** 3).astype(int)) for _ in range(documents)]
    starts = np.cumsum([0, *map(len, rows)])
    weights = rng.choice(np.array([0.5, 0.7, 1.1, 2.3], dtype=np.float32), starts[-1])
    return Postings.of_rows(starts, np.concatenate(rows), weights, vocabulary=vocabulary)


@pytest.mark.parametrize("size", [20_000, 100_000, 4_000_000])
@pytest.mark.parametrize("weighted", [False, True])
def test_together_is_as_alone(
    monkeypatch: pytest.MonkeyPatch, size: int, *, weighted: bool
) -> None:
    """Batches of one, a few and all queries; one query is long, one has no term."""
    monkeypatch.setattr(query_batches, "_BYTES", size)
    index = _index(2_000, 300, 5)
    rng = np.random.default_rng(6)
    lengths = [3, 0, 8, 1, 20, 2, 5, *([40] if weighted else []), 4, 4, 7]
    queries = [
        WeighedTerms(
            rng.choice(300, length, replace=False).tolist(),
            rng.random(length).tolist() if weighted else [1] * length,
        )
        for length in lengths
    ]
    together = list(search_all(index, queries, 7))
    assert len(together) == len(queries)
    for query, (places, scores) in zip(queries, together, strict=True):
        alone = index.search(*query, 7)
        assert places.tolist() == alone[0].tolist()
        assert scores.tobytes() == alone[1].tobytes()


def test_few_documents_and_no_queries() -> None:
    """An index too small for a batch is searched query by query."""
    index = _index(20, 10, 1)
    assert list(search_all(index, [], 5)) == []
    [(places, _)] = search_all(index, [WeighedTerms([0], [1.0])], 5)
    assert places.tolist() == index.search([0], [1.0], 5)[0].tolist()
