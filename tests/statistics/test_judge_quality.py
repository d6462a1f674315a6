"""Raters are compared with the mean of the others."""

from __future__ import annotations

import pytest

from ragstone.statistics.judge_quality import rater_correlation


def test_a_rater_is_compared_with_the_mean_of_all_others() -> None:
    """The first rater reverses the others; their means with the first are equal, and left out."""
    assert rater_correlation([[4, 1, 1], [3, 2, 2], [2, 3, 3], [1, 4, 4]]) == pytest.approx(-1)
    assert rater_correlation([[1], [2]]) is None
    assert rater_correlation([]) is None
