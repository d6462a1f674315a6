"""Prediction-powered inference covers the truth at its nominal rate and reports its inputs."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import DatasetError
from ragstone.statistics.prediction_powered import calibrated_mean

DRAWS = 1000


@pytest.mark.parametrize(
    ("truth", "missed", "invented", "labelled"),
    [(0.6, 0.1, 0.2, 100), (0.6, 0.4, 0.4, 100), (0.8, 0.02, 0.05, 60), (0.3, 0.05, 0.3, 200)],
)
def test_the_interval_covers_the_truth_at_its_nominal_rate(
    truth: float, missed: float, invented: float, labelled: int
) -> None:
    """94 to 99.5 % of the intervals of 1,000 draws cover the truth, for judges with errors."""
    generator = np.random.default_rng(0)
    covered = narrower = 0
    for _ in range(DRAWS):
        right = generator.random(labelled + 1000) < truth
        flips = generator.random(len(right))
        said = np.where(right, flips >= missed, flips < invented).astype(float)
        found = calibrated_mean(
            right[:labelled].astype(float).tolist(), said[:labelled].tolist(),
            said[labelled:].tolist(),
        )  # fmt: skip
        covered += found.interval[0] <= truth <= found.interval[1]
        alone = found.human_interval[1] - found.human_interval[0]
        narrower += found.interval[1] - found.interval[0] <= alone

    assert covered / DRAWS >= 0.94
    assert covered / DRAWS <= 0.995
    assert narrower / DRAWS > 0.9


def test_an_uninformative_judge_gets_no_weight() -> None:
    """A judge that accepts everything gets weight 0; its bias is reported."""
    human = [1.0, 0.0] * 20

    found = calibrated_mean(human, [1.0] * 40, [1.0] * 500)

    assert (found.trust, found.mean, found.judge_mean, found.bias) == (0.0, 0.5, 1.0, 0.5)
    assert found.interval == pytest.approx(found.human_interval)


def test_items_without_a_value_are_left_out_and_counted() -> None:
    """A value of people or of the judge can be missing."""
    human, judge = [1, 0, 1, None, 1, 0, 1] * 2, [1, 0, None, 1, 1, 0, 1] * 2

    found = calibrated_mean(human, judge, [1, None, 0, 1])

    assert (found.labelled, found.judged, found.left_out) == (10, 3, 5)


def test_too_few_labels_are_refused() -> None:
    """Fewer than ten labels and columns of unequal lengths are errors."""
    with pytest.raises(DatasetError, match="at least 10"):
        calibrated_mean([1, 0], [1, 0], [1])
    with pytest.raises(DatasetError, match="2 human values, but 1"):
        calibrated_mean([1, 0], [1], [1])
