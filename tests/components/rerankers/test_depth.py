"""New scores become a ranking whose order every reader of scores agrees on."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.components.rerankers.depth import (
    by_place,
    check_scores,
    falling,
    reordered,
)
from ragstone.components.rerankers.maxsim import MaxSim
from ragstone.errors import ConfigError, RagstoneError


def test_equal_scores_keep_the_order_and_do_not_stay_equal() -> None:
    """Sorting by score in 32 bits returns the same order."""
    ranking = reordered(["a", "z", "b"], [0.5, 0.5, 0.5], 3)

    assert ranking.passage_ids == ["a", "z", "b"]
    held = np.array(ranking.scores, dtype=np.float32)
    assert (np.diff(held) < 0).all()
    np.testing.assert_allclose(held, 0.5, rtol=1e-6)


@pytest.mark.parametrize(
    ("scores", "ids"),
    [
        ([None, 0.1, 0.9, None], ["a", "c", "b", "d"]),
        ([None, None, None, None], ["a", "b", "c", "d"]),
        ([0.0, None, 0.5, 1.0], ["d", "b", "c", "a"]),
        ([-2.0, -1.0, None, -3.0], ["b", "a", "c", "d"]),
    ],
)
def test_a_passage_without_a_score_keeps_its_place(
    scores: list[float | None], ids: list[str]
) -> None:
    """The others are ordered around it."""
    ranking = reordered(["a", "b", "c", "d"], scores, 4)

    assert list(ranking.passage_ids) == ids
    assert (np.diff(np.array(ranking.scores, dtype=np.float32)) < 0).all()


def test_top_k_cuts_after_ordering() -> None:
    """The best of all reranked passages are returned."""
    assert reordered(["a", "b", "c"], [1.0, 2.0, 3.0], 2).passage_ids == ["c", "b"]
    assert by_place(["a", "b", "c"], 2).passage_ids == ["a", "b"]


def test_scores_far_apart_stay_as_they_are() -> None:
    """Only ties are moved."""
    assert falling([3.0, 2.0, -1.5]) == [3.0, 2.0, -1.5]
    assert falling([]) == []


def test_top_k_is_between_1_and_depth() -> None:
    """A reranker cannot return more passages than it reads, nor none."""
    with pytest.raises(ConfigError, match="top_k is 20, but only depth=10"):
        MaxSim(20, 10)
    with pytest.raises(ConfigError, match="top_k must be 1 or more"):
        MaxSim(0, 10)


def test_a_score_that_is_not_a_number_is_an_error() -> None:
    """It names the model, the passage and the query."""
    with pytest.raises(RagstoneError, match=r"'m' gave passage 'b' the score nan .* 'who'"):
        check_scores([1.0, float("nan")], ["a", "b"], "who", "'m'")
