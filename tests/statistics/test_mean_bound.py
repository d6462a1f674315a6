"""The lower bound of a mean, by its coverage and against the width of a normal interval."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.statistics.mean_bound import lower_bound_of_mean


def test_the_mean_is_below_the_bound_in_at_most_a_twentieth_of_samples() -> None:
    """Also for few values, and for rare losses, where a normal interval is too narrow."""
    random = np.random.default_rng(0)
    for count, share in ((20, 0.9), (200, 0.95), (500, 0.99)):
        samples = random.random((200, count)) < share
        above = [lower_bound_of_mean(sample, 0.95) > share for sample in samples]
        assert np.mean(above) <= 0.06


def test_it_is_less_than_twice_as_wide_as_a_normal_interval() -> None:
    """500 values of which a fifth loses a part."""
    random = np.random.default_rng(1)
    values = 1 - random.random(500) * (random.random(500) < 0.2)
    width = values.mean() - lower_bound_of_mean(values, 0.95)
    normal = 1.645 * values.std() / np.sqrt(500)
    assert normal < width < 2 * normal


def test_the_order_of_values_is_not_trusted() -> None:
    """The first half is not taken for the whole."""
    values = np.repeat([1.0, 0.0], 250)
    assert lower_bound_of_mean(values, 0.95) < 0.5


@pytest.mark.parametrize("count", [1, 5, 60])
def test_few_values_show_little(count: int) -> None:
    """All of them are 1, and the bound is far below."""
    assert lower_bound_of_mean(np.ones(count), 0.95) < 0.94
    assert lower_bound_of_mean(np.zeros(count), 0.95) == 0


def test_few_values_show_something() -> None:
    """The least mean of which all values are 1 with a probability of 5 %, less a tenth."""
    for count in (5, 10, 60):
        assert lower_bound_of_mean(np.ones(count), 0.95) > 0.05 ** (1 / count) - 0.1
