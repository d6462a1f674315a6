"""Distinct n-grams and the spread of vectors."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.statistics.diversity import chunk_size, distinct_shares, spread


def test_chunks_have_equal_sizes_and_whole_texts_in_order() -> None:
    """No n-gram goes from one text to the next; what is less than a chunk is left out."""
    texts = [["a", "b", "a"], ["b", "c"]]
    assert distinct_shares([texts], 2, 3) == [1.0]
    assert distinct_shares([texts], 1, 2) == [1.0, 1.0]
    assert distinct_shares([texts], 1, 5) == [0.6]
    assert distinct_shares([texts], 1, 6) == []


def test_repeated_texts_are_less_diverse() -> None:
    """In chunks of 50 words, ten words have a share of 0.2 and 1,000 words nearly 1."""
    generator = np.random.default_rng(0)

    def texts(kinds: int) -> list[list[list[str]]]:
        return [[[f"w{n}" for n in generator.integers(kinds, size=10)]] for _ in range(50)]

    assert np.mean(distinct_shares(texts(10), 1, 50)) == pytest.approx(0.2, abs=0.01)
    assert np.mean(distinct_shares(texts(1000), 1, 50)) > 0.95


def test_the_size_of_chunks_fits_the_smaller_set() -> None:
    """At most 500 words, at least 50, ten chunks of the smaller set."""
    assert [chunk_size([n, 9_999]) for n in (499, 500, 3_210, 5_000, 99_999)] == [
        0,
        50,
        321,
        500,
        500,
    ]
    assert chunk_size([]) == 0


def test_spread_by_hand() -> None:
    """Pairs of different groups only: (1, 0) with (0, 1) and (1, 0) with (-1, 0)."""
    vectors = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    found = spread(vectors, np.array([0, 0, 1, 2]))
    # Distances: twice 1 (group 0 and 1), twice 2 (0 and 2), and 1 (1 and 2).
    assert found.mean == pytest.approx((2 * 1 + 2 * 2 + 1) / 5)
    assert found.n == 4


def test_the_spread_of_random_directions_is_one() -> None:
    """With an interval that contains it; one group has no pair."""
    vectors = np.random.default_rng(0).normal(size=(300, 20))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    found = spread(vectors, np.arange(300), resamples=300)
    assert found.interval is not None
    assert found.interval[0] < 1 < found.interval[1]
    assert found.interval[1] - found.interval[0] < 0.05
    assert spread(vectors, np.zeros(300, dtype=np.int64)).mean is None
    assert spread(np.zeros((0, 3)), np.zeros(0, dtype=np.int64)).n == 0
