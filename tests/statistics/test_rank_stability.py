"""Rank stability: ranks over resamples of the queries."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.rank_stability import rank_stability


def test_a_clear_leader_stays_first_and_twins_share_the_rest() -> None:
    """Probabilities of ranks are those of the resampled leaderboards."""
    generator = np.random.default_rng(0)
    low = generator.random(200)
    board = rank_stability({"b": low, "a": low + 1, "c": low[::-1]}, resamples=2_000)

    assert board[0].system == "a"
    assert board[0].probabilities == (1.0, 0.0, 0.0)
    assert board[0].interval == (1.0, 1.0)
    assert board[1].probabilities[1] == pytest.approx(0.5, abs=0.05)
    assert all(sum(place.probabilities) == pytest.approx(1.0) for place in board)


def test_equal_means_share_the_best_rank() -> None:
    """Two systems with the same values are both first."""
    board = rank_stability({"a": [0, 1, 1], "b": [0, 1, 1]}, resamples=100)

    assert [place.rank for place in board] == [1, 1]
    assert board[0].probabilities == (1.0, 0.0)


def test_rounding_does_not_change_ranks() -> None:
    """The same numbers in another order may differ in the last bit of their sum."""
    values = [0.1, 0.2, 0.3]
    assert sum(values) != sum(values[::-1])

    board = rank_stability({"a": values, "b": values[::-1]}, resamples=10)

    assert [place.rank for place in board] == [1, 1]


def test_the_seed_decides_the_draws() -> None:
    """The same seed gives the same board, another one does not."""
    scores = {name: np.random.default_rng(i).random(30) for i, name in enumerate("abc")}

    one, same = (rank_stability(scores, resamples=500, seed=1) for _ in range(2))

    assert one == same
    assert one != rank_stability(scores, resamples=500, seed=2)


def test_lower_can_be_better_and_clusters_are_drawn_whole() -> None:
    """With one cluster all resamples are equal, and there is no interval."""
    scores = {"slow": [3.0, 1.0], "fast": [1.0, 2.0]}

    board = rank_stability(scores, clusters=["c", "c"], higher_is_better=False, resamples=50)

    assert board[0].system == "fast"
    assert board[0].interval is None
    assert board[0].probabilities == (1.0, 0.0)


def test_systems_need_the_same_queries() -> None:
    """The message on unequal lengths names the lengths."""
    with pytest.raises(DatasetError, match="'a': 1, 'b': 2"):
        rank_stability({"a": [1], "b": [1, 2]})
