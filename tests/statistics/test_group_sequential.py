"""O'Brien and Fleming's boundaries: published constants, and the level by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.core import limits
from ragstone.errors import ConfigError
from ragstone.statistics.group_sequential import level_at, obrien_fleming

PUBLISHED = {2: 1.678, 3: 1.710, 4: 1.733, 5: 1.751, 10: 1.801}
"""Jennison and Turnbull, Group Sequential Methods (2000), table 2.3, two-sided alpha 0.1."""


@pytest.mark.parametrize("looks", PUBLISHED)
def test_constants_are_the_published_ones(looks: int) -> None:
    """The chance of two boundaries to be crossed both is negligible, so one-sided 0.05 is equal."""
    assert obrien_fleming(looks, 0.05) == pytest.approx(PUBLISHED[looks], abs=2e-3)


def test_the_boundary_keeps_its_level() -> None:
    """A walk without drift crosses it with the probability alpha."""
    steps = np.random.default_rng(0).standard_normal((200_000, 5))
    z = steps.cumsum(axis=1) / np.sqrt(np.arange(1, 6))
    crossed = (z >= obrien_fleming(5) * np.sqrt(5 / np.arange(1, 6))).any(axis=1)

    assert crossed.mean() == pytest.approx(0.05, abs=0.002)


def test_an_early_look_is_stricter() -> None:
    """The level rises from look to look."""
    levels = [level_at(k / 5, 5) for k in range(1, 6)]
    assert levels == sorted(levels)
    assert levels[0] < 1e-4


def test_wrong_numbers_are_named() -> None:
    """`limits.MAX_LOOKS` bounds the looks."""
    for looks in (0, limits.MAX_LOOKS + 1):
        with pytest.raises(ConfigError, match=f"looks is {looks}; allowed: 1 to"):
            obrien_fleming(looks)
    with pytest.raises(ConfigError, match=r"alpha is 0\.7"):
        obrien_fleming(2, 0.7)
