"""Temperature and threshold: likelihood and kappa of held-out items are highest."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.models.text_classifier import probabilities
from ragstone.training.temperature import fitted_temperature, fitted_threshold


@pytest.mark.parametrize("true", [0.5, 1.0, 3.0])
def test_the_temperature_of_made_up_scores_is_found(true: float) -> None:
    """Labels are drawn by the softmax of scores that are divided by the true temperature."""
    generator = np.random.default_rng(0)
    scores = generator.normal(size=(20_000, 3)) * 2
    shares = probabilities(scores, true)
    labels = [int(generator.choice(3, p=row)) for row in shares]

    assert fitted_temperature(scores, labels) == pytest.approx(true, rel=0.05)


def test_equal_scores_have_no_temperature() -> None:
    """An untrained head gives zeros; nothing is scaled."""
    assert fitted_temperature(np.zeros((4, 2)), [0, 1, 1, 0]) == 1.0


def test_the_threshold_is_one_half_if_no_other_is_better() -> None:
    """Of equally good thresholds, it is the nearest to one half."""
    scores = np.array([[1.0, 0.0], [0.0, 1.0]])

    assert fitted_threshold(scores, [0, 1], 1, 1.0) == 0.5
    assert fitted_threshold(np.zeros((2, 2)), [0, 1], 1, 1.0) == 0.5
