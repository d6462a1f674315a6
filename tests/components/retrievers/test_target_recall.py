"""The effort of an approximate search, on vectors where one list is not enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ragstone.components.retrievers import target_recall as module
from ragstone.components.retrievers.target_recall import measure, recall_of, together
from ragstone.indexes.exact_knn import Near, nearest
from ragstone.indexes.ivf_index import IvfIndex, _build
from ragstone.indexes.quantisation import Vectors, longest
from ragstone.statistics.mean_bound import lower_bound_of_mean


@pytest.fixture(scope="module")
def index() -> IvfIndex:
    """An index of random vectors, the hardest case."""
    rows = np.random.default_rng(0).standard_normal((2000, 12)).astype(np.float32)
    vectors = Vectors((rows,), 12, longest(rows))
    return IvfIndex(_build(vectors), vectors)


def _queries(count: int) -> Any:
    return np.random.default_rng(1).standard_normal((count, 12)).astype(np.float32)


@pytest.mark.parametrize("target", [0.5, 0.9, 0.97])
def test_the_lower_bound_reaches_the_target_and_a_tenth_less_does_not(
    index: IvfIndex, target: float
) -> None:
    """Recall and bound are those of the measured queries at the chosen number of lists."""
    queries = _queries(700)
    reached, missed = measure(queries, index, 10, target)
    assert (reached.target, reached.n) == (target, 500)
    assert target <= reached.lower_bound <= reached.recall < 1
    sample = queries[np.linspace(0, 699, 500).astype(int)]
    for probed in (reached.nprobe, reached.nprobe * 9 // 10):
        found = index.nearest(sample, 10, probed, int)
        pairs = zip(found, nearest(sample, index.vectors, 10), strict=True)
        recalls = np.array([recall_of(*pair) for pair in pairs])
        low = lower_bound_of_mean(recalls, 0.95)
        told = reached if probed == reached.nprobe else missed
        assert told is not None
        assert (told.recall, told.lower_bound) == (recalls.mean(), low)
        assert (low >= target) == (told is reached)


@pytest.mark.parametrize("count", [1, 5, 60])
def test_few_queries_are_all_measured(index: IvfIndex, count: int) -> None:
    """The number is told; if it is too small to show the target, all lists are read."""
    reached, missed = measure(_queries(count), index, 10, 0.97)
    assert reached.n == count
    assert (reached.nprobe, reached.recall) == (len(index), 1.0)
    assert missed is not None
    assert missed.lower_bound < 0.97 < missed.recall


def test_equal_scores_count_as_found() -> None:
    """Which of two equal passages is found makes no difference."""
    exact = Near(np.array([1, 2, 3]), np.array([3, 2, 1], dtype=np.float32))
    found = Near(np.array([1, 9]), np.array([3, 1], dtype=np.float32))
    assert recall_of(found, exact) == pytest.approx(2 / 3)
    assert recall_of(exact, exact) == 1
    assert recall_of(Near(exact.places[:0], exact.scores[:0]), exact) == 0


def test_searches_of_several_collections_are_one_fact() -> None:
    """The mean over queries, the lowest bound, the highest effort."""
    one = {"target": 0.9, "recall": 0.95, "lower_bound": 0.93, "n": 300, "nprobe": 4}
    other = {"target": 0.9, "recall": 1.0, "lower_bound": 0.91, "n": 100, "nprobe": 16}
    assert together([one]) == one
    found = together([one, other])
    assert found == {"target": 0.9, "recall": 0.9625, "lower_bound": 0.91, "n": 400, "nprobe": 16}
    assert module._CONFIDENCE == 0.95
