"""TREC RAG's aggregates of nuggets, by hand."""

from __future__ import annotations

import pytest

from ragstone.statistics.nuggets import NAMES, nugget_scores


def test_a_worked_example() -> None:
    """Vital 1, 0.5 and 0; okay 1 and 0.5: sums 1.5 and 1.5, strict 1 and 1."""
    assert nugget_scores([1.0, 0.5, 0.0], [1.0, 0.5]) == {
        "weighted": pytest.approx((1.5 + 0.5 * 1.5) / (3 + 0.5 * 2)),
        "all": pytest.approx(3 / 5),
        "vital": pytest.approx(1.5 / 3),
        "strict-weighted": pytest.approx((1 + 0.5 * 1) / 4),
        "strict": pytest.approx(2 / 5),
        "strict-vital": pytest.approx(1 / 3),
    }


def test_without_vital_nuggets_there_is_no_share_of_them() -> None:
    """Nor is there one of okay nuggets alone in the names."""
    assert set(nugget_scores([], [1.0])) == {"weighted", "all", "strict-weighted", "strict"}
    assert set(nugget_scores([1.0], [])) == set(NAMES)
