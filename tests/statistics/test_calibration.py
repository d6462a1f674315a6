"""Calibration: errors by their definitions, bins of equal mass, and intervals that cover."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import DatasetError
from ragstone.statistics.calibration import BIN_ANSWERS, BINS, calibration

ITEMS = st.lists(
    st.tuples(st.integers(0, 20).map(lambda n: n / 20), st.sampled_from([0.0, 0.5, 1.0])),
    min_size=1,
    max_size=150,
)


def plain_error(confidences: list[float], values: list[float], bins: int) -> float:
    """Return the ECE of different confidences, from a sorted list that is cut evenly."""
    order = sorted(range(len(values)), key=confidences.__getitem__)
    parts: list[list[int]] = [part.tolist() for part in np.array_split(order, bins)]
    gaps = [abs(sum(values[i] - confidences[i] for i in part)) for part in parts]
    return sum(gaps) / len(values)


def test_the_errors_are_those_of_other_implementations() -> None:
    """Brier's score as scikit-learn's `brier_score_loss`; the ECE from lists cut evenly."""
    stated = [(7 * i % 40 + 0.5) / 40 for i in range(40)]
    right = [float(11 * i % 40 < 18 or stated[i] > 0.8) for i in range(40)]

    found = calibration(stated, right)

    assert found.brier.mean == pytest.approx(0.23390625)
    assert found.error == pytest.approx(plain_error(stated, right, 4))
    assert [one.accuracy.mean for one in found.bins] == pytest.approx([0.4, 0.4, 0.4, 0.9])
    assert [one.accuracy.n for one in found.bins] == [10] * 4
    assert (found.n, found.brier.n) == (40, 40)


@given(items=ITEMS)
@settings(max_examples=60, deadline=None)
def test_equal_confidences_share_a_bin_and_the_order_of_answers_does_not_count(
    items: list[tuple[float, float]],
) -> None:
    """Every answer is in one bin; the error is between 0 and 1 and within its interval's range."""
    found = calibration(*zip(*items, strict=True), resamples=50)
    again = calibration(*zip(*reversed(items), strict=True), resamples=50)

    assert found.error == again.error
    assert sum(one.accuracy.n for one in found.bins) == len(items)
    assert len(found.bins) <= min(BINS, max(1, len(items) // BIN_ANSWERS))
    ends = [end for one in found.bins for end in (one.low, one.high)]
    assert ends == sorted(ends)
    assert all(a.high < b.low for a, b in zip(found.bins, found.bins[1:], strict=False))
    weighted = math.fsum(
        one.accuracy.n * abs((one.accuracy.mean or 0.0) - one.confidence) for one in found.bins
    )
    assert found.error == pytest.approx(weighted / len(items))
    if found.interval is not None:
        assert 0 <= found.interval[0] <= found.interval[1] <= 1


def test_the_interval_covers_the_error_of_the_population() -> None:
    """0 for exact confidences, 0.15 if every confidence is that much too high."""
    generator = np.random.default_rng(5)
    for excess in (0.0, 0.15):
        covered = 0
        for seed in range(60):
            stated = generator.uniform(0.4, 0.95, 150)
            right = generator.random(150) < stated - excess
            found = calibration(stated.tolist(), right.astype(float).tolist(), resamples=300)
            low, high = found.interval or (1.0, 0.0)
            covered += low <= excess <= high
            assert seed or (found.by_chance or 0) > 0.05
        assert covered >= 54


def test_answers_of_one_cluster_are_drawn_together() -> None:
    """Turns of one conversation that are right or wrong together make the interval wider."""
    stated = [0.6] * 100
    right = [float(place % 20 < 10) for place in range(100)]
    groups = [place // 10 for place in range(100)]

    alone, together = calibration(stated, right), calibration(stated, right, clusters=groups)

    assert alone.error == together.error == pytest.approx(0.1)
    assert (alone.interval or (0, 0))[1] < (together.interval or (0, 0))[1]
    assert calibration(stated, right, clusters=["one"] * 100).interval is None


def test_all_bins_count_in_the_interval() -> None:
    """Every answer is half as probable as its confidence says: the error hardly varies."""
    stated = np.repeat([0.2, 0.4, 0.6, 0.8], 50)
    right = np.concatenate([np.arange(50) % 10 < 10 * one / 2 for one in (0.2, 0.4, 0.6, 0.8)])

    found = calibration(stated.tolist(), right.astype(float).tolist())

    assert found.error == pytest.approx(0.25)
    assert found.interval is not None
    assert 0.15 < found.interval[0] < 0.25 < found.interval[1] < 0.35


def test_no_answer_and_one_answer() -> None:
    """Without an answer there is no error; one answer has an error and no interval."""
    none, one = calibration([], []), calibration([0.75], [1.0])

    assert (none.n, none.error, none.interval, none.by_chance, none.bins) == (
        0,
        None,
        None,
        None,
        (),
    )
    assert (one.error, one.interval, one.brier.mean) == (0.25, None, 0.0625)


@pytest.mark.parametrize(
    ("confidences", "values", "said"),
    [
        ([0.5], [], "1 confidences, but 0 values"),
        ([0.5, 1.5], [1, 1], "place 1: the confidence 1.5 is not between 0 and 1"),
        ([float("nan")], [1], "the confidence nan is not between"),
        ([0.5], [-1], "place 0: the value -1 is not between"),
    ],
)
def test_bad_input_names_the_place(
    confidences: list[float], values: list[float], said: str
) -> None:
    """Both are from 0 to 1, and there is one value per confidence."""
    with pytest.raises(DatasetError, match=said):
        calibration(confidences, values)
