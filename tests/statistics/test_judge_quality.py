"""Raters are compared with the mean of the others."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.statistics.judge_quality import Columns, quality, rater_correlation, uses


def test_a_rater_is_compared_with_the_mean_of_all_others() -> None:
    """The first rater reverses the others; their means with the first are equal, and left out."""
    assert rater_correlation([[4, 1, 1], [3, 2, 2], [2, 3, 3], [1, 4, 4]]) == pytest.approx(-1)
    assert rater_correlation([[1], [2]]) is None
    assert rater_correlation([]) is None


def test_the_seed_is_zero_unless_it_is_given() -> None:
    """Equal columns have equal intervals; another seed has others."""
    generator = np.random.default_rng(0)
    columns = Columns(generator.random(60).tolist(), generator.integers(0, 2, 60).tolist())

    assert quality(columns) == quality(columns, seed=0) != quality(columns, seed=1)


def test_the_preference_of_own_answers_is_over_that_of_others() -> None:
    """Without an answer of either kind there is none."""
    judge, human = [0.9, 0.7, 0.5, 0.5], [0.5] * 4

    found = quality(Columns(judge, human, own=[True, True, False, False])).self_preference

    assert found is not None
    assert found.mean == pytest.approx(0.3)
    for kind in (True, False):
        assert quality(Columns(judge, human, own=[kind] * 4)).self_preference is None


def test_a_judge_with_few_verdicts_is_fit_for_nothing() -> None:
    """The reason has the number of verdicts, and the share that is needed."""
    found = quality(Columns([1.0, 0.0, None, None], [1.0, 0.0, 1.0, 0.0]))

    single, systems, labels = uses(found)

    reason = "a verdict could be read for 2 of 4 items (50%); 95% are required"
    assert (single.fit, single.reason) == (systems.fit, systems.reason) == (False, reason)
    assert [one.level for one in (single, systems, labels)] == ["unfit"] * 3


def test_longer_answers_may_be_better() -> None:
    """A bias for length is one among answers that people grade alike."""
    grades, lengths = [0.0, 0.5, 1.0] * 8, [1, 2, 3] * 8
    assert quality(Columns(grades, grades, lengths=lengths)).length_bias.value is None
    judge = [0.1 * length + 0.2 for length in [1, 3] * 12]
    found = quality(Columns(judge, [0.5] * 24, lengths=[1, 3] * 12))
    assert found.length_bias.value == pytest.approx(1.0)
