"""The nearest vectors, compared with a full sort of all products."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.indexes import exact_knn as module
from ragstone.indexes.exact_knn import Near, nearest
from ragstone.indexes.quantisation import Precision, Vectors, decode, encode, longest


def _vectors(rows: npt.NDArray[Any], precision: Precision = "float32", cuts: int = 0) -> Vectors:
    stored = encode(rows.astype(np.float32), precision)
    parts = [part for part in np.array_split(stored, cuts + 1) if len(part)]
    return Vectors(parts, rows.shape[1], longest(stored))


def _sorted_whole(queries: npt.NDArray[Any], vectors: Vectors, top_k: int) -> list[Near]:
    rows = np.concatenate([decode(part, np.float64) for part in vectors.parts])
    found = []
    for query in queries.astype(np.float64):
        scores = (rows * query).sum(axis=1).astype(np.float32)
        order = np.lexsort((np.arange(len(scores)), -scores))[:top_k]
        found.append(Near(order, scores[order]))
    return found


def _assert_same(found: list[Near], expected: list[Near]) -> None:
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.places.tolist() == other.places.tolist()
        np.testing.assert_array_max_ulp(one.scores, other.scores, 1)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FEW", 16)
    monkeypatch.setattr(module, "_ROWS", 32)
    monkeypatch.setattr(limits, "KNN_SCORES", 2**10)
    monkeypatch.setattr(module, "_NARROW", 3)
    monkeypatch.setattr(module, "_QUERIES", 10)
    # Products of at most three queries have the passages first.
    # Of 23 queries and three threads, two tens are divided by query and the last three are not.
    monkeypatch.setattr(module, "_ENOUGH", 3)


@pytest.mark.parametrize("top_k", [1, 7, 40, 5000])
@pytest.mark.parametrize("precision", ["float32", "float16", "int8"])
@pytest.mark.parametrize("cuts", [0, 11])
def test_the_result_equals_a_sort_of_all_scores(
    top_k: int, precision: Precision, cuts: int
) -> None:
    """In every precision, in one or more files, and for more places than vectors."""
    random = np.random.default_rng(top_k)
    vectors = _vectors(random.normal(size=(1500, 12)), precision, cuts)
    queries = random.normal(size=(23, 12)).astype(np.float32)
    expected = _sorted_whole(queries, vectors, top_k)
    for threads in (1, 3):
        _assert_same(list(nearest(queries, vectors, top_k, threads=threads)), expected)


@pytest.mark.parametrize("order", ["worst first", "best first"])
def test_ascending_scores_are_the_worst_order_and_are_right(order: str) -> None:
    """If every passage is better than all before it, all are compared and the best are found."""
    rows = np.outer(np.linspace(0.1, 9, 2000), [0.6, 0.8])
    vectors = _vectors(rows if order == "worst first" else rows[::-1])
    queries = np.array([[0.6, 0.8], [-1, 0]], dtype=np.float32)
    found = list(nearest(queries, vectors, 5, threads=2))
    _assert_same(found, _sorted_whole(queries, vectors, 5))


@pytest.mark.parametrize("kinds", [1, 3])
def test_equal_vectors_are_ordered_by_position(kinds: int) -> None:
    """Thousands of ties neither fill the memory nor change the order."""
    random = np.random.default_rng(1)
    rows = random.normal(size=(kinds, 8))[np.arange(3000) % kinds]
    vectors, queries = _vectors(rows), random.normal(size=(4, 8)).astype(np.float32)
    expected = _sorted_whole(queries, vectors, 9)
    for threads in (1, 2):
        _assert_same(list(nearest(queries, vectors, 9, threads=threads)), expected)


def test_near_ties_are_ordered_in_64_bits() -> None:
    """Scores that are equal in 32 bits have their true order."""
    random = np.random.default_rng(2)
    base = random.normal(size=64)
    rows = base + random.normal(size=(4000, 64)) * 1e-6
    vectors, queries = _vectors(rows), base[None].astype(np.float32)
    _assert_same(list(nearest(queries, vectors, 20)), _sorted_whole(queries, vectors, 20))


def test_vectors_of_zeros_are_ranked() -> None:
    """A vector of zeros has the score 0 like any other."""
    vectors = _vectors(np.array([[0, 0], [1, 0], [-1, 0]]), "int8")
    (near,) = nearest(np.array([[1, 0]], dtype=np.float32), vectors, 3)
    assert near.places.tolist() == [1, 0, 2]
    (zero,) = nearest(np.array([[0, 0]], dtype=np.float32), vectors, 2)
    assert (zero.places.tolist(), zero.scores.tolist()) == ([0, 1], [0, 0])


def test_products_that_would_overflow_are_refused() -> None:
    """The error explains the change that the embedder needs."""
    vectors = _vectors(np.full((3, 2), 1e20))
    with pytest.raises(ConfigError, match="too long to be multiplied"):
        list(nearest(np.full((1, 2), 1e20, dtype=np.float32), vectors, 1))


def test_progress_counts_every_score() -> None:
    """The reported numbers add up to queries times vectors."""
    told: list[int] = []
    queries = np.ones((23, 3), dtype=np.float32)
    list(nearest(queries, _vectors(np.eye(3).repeat(70, 0)), 2, advance=told.append))
    assert sum(told) == 23 * 210
