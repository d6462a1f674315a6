"""Scores that a judge returned."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.core.component import Outcome
from ragstone.core.returned_scores import returned_scores
from ragstone.errors import ComponentError
from ragstone.types import Score


def test_a_number_is_the_score_of_the_judges_metric() -> None:
    """Numbers of NumPy and truth values are numbers too."""
    for value, expected in ((0.5, 0.5), (np.float32(0.5), 0.5), (True, 1.0)):
        found = returned_scores("Mine", "fit", ["fit"], "q", Outcome(value))
        assert found == [Score("q", "fit", expected)]


def test_no_finite_value_is_a_failed_score_of_each_metric() -> None:
    """The reason is that of the outcome, or the value itself."""
    found = returned_scores("Mine", "a", ["a", "b"], "q", Outcome(float("nan")))
    assert [(s.metric, s.value, s.status, s.reason) for s in found] == [
        ("a", None, "failed", "the judge returned nan"),
        ("b", None, "failed", "the judge returned nan"),
    ]
    (one,) = returned_scores("Mine", "a", ["a"], "q", Outcome(None, "no verdict"))
    assert one.reason == "no verdict"


@pytest.mark.parametrize("value", ["0.5", [], [Score("other", "a", 1.0)], [Score("q", "z", 1.0)]])
def test_another_value_is_an_error_that_names_the_judge(value: object) -> None:
    """A text, an empty list, and scores of another query or metric are mistakes of the class."""
    with pytest.raises(ComponentError, match=r"Mine returned .* for query 'q'"):
        returned_scores("Mine", "a", ["a"], "q", Outcome(value))
