"""Shares corrected by sensitivity and specificity."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.statistics.corrected import LabelledItems, labelled_items
from ragstone.statistics.rogan_gladen import rogan_gladen

N = 500


def made(seed: int, *, right: float = 0.85, labelled: int = 80) -> LabelledItems:
    """Return 0/1 items of which people accept 60 %."""
    generator = np.random.default_rng(seed)
    people = generator.random(N) < 0.6
    judge = np.where(generator.random(N) < right, people, ~people).astype(float)
    return labelled_items(judge, np.where(np.arange(N) < labelled, people, np.nan))


def test_the_interval_covers_the_share() -> None:
    """At least 94 % of 400 intervals contain the true share."""
    found = [rogan_gladen(made(seed)) for seed in range(400)]
    intervals = [one.interval(0.95, (0, 1), 1) for one in found if one]

    assert np.mean([low <= 0.6 <= high for low, high in intervals]) >= 0.94
    assert float(np.mean([one.value for one in found if one])) == pytest.approx(0.6, abs=0.01)


def test_it_is_not_defined_for_other_values() -> None:
    """Grades, a judge by chance, strata, and few labels of one kind give None."""
    items = made(0)
    grades = labelled_items(items.judge / 2, items.human)
    strata = labelled_items(items.judge, items.human, strata=["a", "b"] * (N // 2))
    alike = labelled_items(items.judge, np.where(np.arange(N) < 30, 1.0, np.nan))

    assert [rogan_gladen(one) for one in (grades, strata, alike, made(0, right=0.5))] == [None] * 4
