"""The draw of queries to label."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import ConfigError
from ragstone.statistics.label_design import drawn, expected_residuals, inclusion_probabilities


def test_queries_are_drawn_with_their_probabilities() -> None:
    """Every sample has the size of the sum, and each query its probability."""
    probabilities = inclusion_probabilities(np.array([1.0, 1.0, 2.0, 4.0, 12.0]), 3)
    samples = [drawn(probabilities, seed) for seed in range(4000)]
    counts = np.bincount(np.concatenate(samples), minlength=5) / len(samples)

    assert {len(set(one.tolist())) for one in samples} == {3}
    assert counts == pytest.approx(probabilities, abs=0.03)
    assert probabilities.max() == 1
    assert probabilities.sum() == pytest.approx(3)


def test_a_draw_repeats_by_seed() -> None:
    """Equal seeds give equal samples."""
    probabilities = inclusion_probabilities(np.linspace(1, 2, 50), 10)

    assert drawn(probabilities, 4).tolist() == drawn(probabilities, 4).tolist()
    assert drawn(probabilities, 4).tolist() != drawn(probabilities, 5).tolist()


def test_known_labels_change_the_guess() -> None:
    """If equal values of the judge hide differences, such queries are drawn more often."""
    generator = np.random.default_rng(0)
    judge = np.tile([[1.0, 1.0], [0.0, 1.0]], (100, 1))
    people = judge.copy()
    people[::2, 1] = generator.integers(0, 2, 100)
    known = np.where(np.arange(200)[:, None] < 60, people, np.nan)

    before = expected_residuals(judge, np.full((200, 2), np.nan), 0)
    after = expected_residuals(judge, known, 0)

    assert before[0] < before[1]
    assert after[0] > before[0]
    # The unit of the values does not matter.
    assert expected_residuals(judge * 5, known * 5, 0) == pytest.approx(after)


def test_labels_without_a_residual_leave_the_guess() -> None:
    """Labels that agree with the judge show no residual."""
    judge = np.tile([[1.0, 1.0], [0.0, 1.0]], (20, 1))

    found = expected_residuals(judge, judge, 0)

    assert np.isfinite(found).all()


def test_impossible_numbers_are_refused() -> None:
    """No query, and more than there are."""
    for count in (0, 4):
        with pytest.raises(ConfigError, match="of 3 queries"):
            inclusion_probabilities(np.ones(3), count)
