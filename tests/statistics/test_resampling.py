"""Resamples: mean and spread are correct, and undefined values are handled."""

from __future__ import annotations

import numpy as np
import pytest

from ragstone.errors import ConfigError
from ragstone.statistics.resampling import Bootstrap, _distinct_rows


@pytest.mark.parametrize("distinct", [3, 40])
def test_resampled_sums_have_the_spread_of_the_bootstrap(distinct: int) -> None:
    """Sums have n times the mean and sqrt(n) times the deviation, also with repeated rows."""
    values = np.random.default_rng(0).integers(0, distinct, 40).astype(float)[:, None]

    sums = Bootstrap(resamples=20_000, seed=1).sums(values)

    assert sums.mean() == pytest.approx(values.sum(), rel=0.01)
    assert sums.std() == pytest.approx(values.std() * np.sqrt(40), rel=0.03)


def test_chunks_of_one_call_do_not_repeat_each_other() -> None:
    """The resamples of different chunks differ."""
    rows = np.concatenate(list(Bootstrap(resamples=100, seed=3).counts(50, width=200_000)))

    assert rows.shape == (100, 50)
    assert (rows.sum(axis=1) == 50).all()
    assert len(np.unique(rows, axis=0)) == 100


def test_too_many_undefined_resamples_give_no_interval() -> None:
    """Up to 5 % undefined values are left out; with more there is no interval."""
    values = np.linspace(0, 1, 100)
    values[:5] = np.nan

    assert Bootstrap(0.9).interval(values) is not None
    values[5] = np.nan
    assert Bootstrap(0.9).interval(values) is None


def test_as_many_clusters_are_drawn_as_there_are() -> None:
    """The weights of clusters of one size have the same sum in every resample."""
    members = np.repeat(np.arange(5), 3)

    found = Bootstrap().interval_of(lambda weights: weights.sum(axis=1), np.ones(15), members)

    assert found == (15.0, 15.0)


def test_no_resamples_are_refused() -> None:
    """0 resamples are an error; the message gives the usual number."""
    with pytest.raises(ConfigError, match="10,000"):
        Bootstrap(resamples=0)


def test_distinct_rows_are_those_of_numpy() -> None:
    """In the same order, with the same counts, also of a single row."""
    generator = np.random.default_rng(2)
    for rows, columns, values in ((500, 4, 3), (200, 1, 2), (1, 3, 2)):
        parts = generator.integers(values, size=(rows, columns)).astype(np.float64)
        wanted = np.unique(parts, axis=0, return_counts=True)
        for found, expected in zip(_distinct_rows(parts), wanted, strict=True):
            assert (found == expected).all()
