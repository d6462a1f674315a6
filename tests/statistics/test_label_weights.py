"""Weights of labels of several rounds."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.statistics.label_weights import label_weights


def test_a_random_sample_has_equal_weights() -> None:
    """Weights sum to 1."""
    labelled = np.array([True, False, True])

    assert label_weights(labelled, None).tolist() == [0.5, 0, 0.5]
    assert label_weights(labelled, np.full(3, np.nan)).tolist() == pytest.approx([0.5, 0, 0.5])


def test_rounds_together_are_unbiased() -> None:
    """A random sample, then draws that depend on it, give the mean of all items."""
    values = np.linspace(0, 1, 60)
    found = []
    for seed in range(1500):
        generator = np.random.default_rng(seed)
        labelled, probability = np.zeros(60, dtype=bool), np.full(60, np.nan)
        rounds = np.ones(60, dtype=np.int64)
        labelled[generator.permutation(60)[:10]] = True
        for one in (1, 2):
            free = np.flatnonzero(~labelled)
            chance = np.where(values[free] > values[labelled].mean(), 0.4, 0.2)
            new = generator.random(len(free)) < chance
            probability[free[new]], rounds[free[new]] = chance[new], one
            labelled[free[new]] = True
        found.append(label_weights(labelled, probability, rounds) @ values)

    assert float(np.mean(found)) == pytest.approx(0.5, abs=0.008)
