"""Differences of means over different queries."""

from __future__ import annotations

import numpy as np

from ragstone.statistics.independent import independent_difference
from ragstone.statistics.summary import Summary, summarise


def test_the_interval_covers_the_true_difference() -> None:
    """In about 95 of 100 draws of two samples of unequal size."""
    draw = np.random.default_rng(4)
    covered = 0
    for _ in range(400):
        a, b = draw.random(60) < 0.7, draw.random(25) < 0.5
        _, interval = independent_difference(summarise(a.astype(float)), summarise(b.astype(float)))
        assert interval is not None
        covered += interval[0] <= -0.2 <= interval[1]
    assert 0.93 <= covered / 400 <= 0.99


def test_what_is_not_known_is_none() -> None:
    """No mean, no difference; no interval on one side, none of the difference."""
    one, none = summarise([1.0, 0.0]), Summary(None, 0)
    assert independent_difference(one, none) == (None, None)
    assert independent_difference(one, Summary(0.0, 1)) == (-0.5, None)
