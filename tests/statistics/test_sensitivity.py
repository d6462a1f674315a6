"""Sensitivity: the spread over prompts, and the agreement of the orders of systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from tests.fakes.crossed_scores import MadeScores

from ragstone.errors import DatasetError
from ragstone.statistics.crossed_design import crossed_design
from ragstone.statistics.resampling import Bootstrap
from ragstone.statistics.sensitivity import board_agreement, sensitivity


def effect(level: Mapping[str, int]) -> float:
    """Return 0.1 per retriever; under prompt 2 the order is the other way around."""
    step = 0.1 * level["retriever"]
    return -step if level["prompt"] == 2 else step


MODEL = MadeScores({"retriever": 3, "prompt": 3}, effect, residual=0.1)


def test_the_order_of_systems_under_each_level_is_compared() -> None:
    """Equal orders have a tau of 1, reversed ones of -1."""
    found = sensitivity(MODEL.design(np.random.default_rng(0), 200), "prompt", resamples=300)

    pairs = {(one.a, one.b): one for one in found.agreements}
    same, turned = pairs["prompt 0", "prompt 1"], pairs["prompt 0", "prompt 2"]
    assert (same.tau, same.rbo, same.swapped) == (1.0, 1.0, 0)
    assert same.tau_interval == (1.0, 1.0)
    assert (turned.tau, turned.swapped, turned.systems) == (-1.0, 3, 3)
    assert turned.rbo < 0.9
    assert dict(found.orders)["prompt 2"] == ("retriever 0", "retriever 1", "retriever 2")
    # Samples of this size never turn the order: the prompt does.
    assert [one.tau for one in found.samples] == [1.0, 1.0, 1.0]


def test_the_spread_over_levels_has_the_noise_taken_out() -> None:
    """Over 60 sets, the deviation is right on average, and 85 % of the intervals contain it."""
    made = replace(MODEL, effect=lambda level: 0.05 * level["prompt"], residual=0.3)
    generator = np.random.default_rng(1)
    inside = within = 0
    squares = []
    for seed in range(60):
        one = sensitivity(made.design(generator, 50), "prompt", resamples=300, seed=seed).spreads[0]
        assert one.deviation_interval is not None
        assert one.range_interval is not None
        inside += one.deviation_interval[0] <= 0.05 <= one.deviation_interval[1]
        within += one.range_interval[0] <= 0.1 <= one.range_interval[1]
        squares.append(one.deviation**2)

    assert inside >= 0.85 * 60
    assert within >= 0.9 * 60
    assert np.mean(squares) == pytest.approx(0.05**2, rel=0.3)


def test_without_an_effect_the_interval_begins_at_zero() -> None:
    """The range of noisy means is never 0, but its interval contains 0."""
    made = replace(MODEL, effect=lambda _: 0.0)

    for one in sensitivity(made.design(np.random.default_rng(2), 50), "prompt").spreads:
        assert one.range > 0
        assert one.range_interval is not None
        assert one.range_interval[0] == 0.0


def test_lower_can_be_better_under_a_level() -> None:
    """A metric such as an error rate ranks the other way around."""
    design = MODEL.design(np.random.default_rng(3), 100)

    found = sensitivity(design, "prompt", higher_is_better={"prompt 2": False}, resamples=50)

    assert [one.tau for one in found.agreements] == [1.0, 1.0, 1.0]


def test_data_sets_have_an_order_each() -> None:
    """Their queries differ, so that there is no spread of a system over them."""
    made = MadeScores(
        {"retriever": 3}, lambda level: 0.1 * level["retriever"] * (1 - 2 * level["data"]), data=2
    )
    found = sensitivity(made.design(np.random.default_rng(4), 200), "data", resamples=100)

    assert found.spreads == ()
    assert found.agreements[0].tau == -1.0
    assert found.systems == ("retriever 0", "retriever 1", "retriever 2")


def test_one_system_has_a_spread_but_no_order() -> None:
    """A prompt can matter to a single system."""
    made = MadeScores({"prompt": 2}, lambda level: 0.2 * level["prompt"])

    found = sensitivity(made.design(np.random.default_rng(5), 50), "prompt", resamples=50)

    assert found.spreads[0].system == "system"
    assert (found.agreements, found.samples) == ((), ())


def test_two_systems_have_an_order() -> None:
    """The same under both prompts."""
    made = replace(MODEL, levels={"retriever": 2, "prompt": 2})
    found = sensitivity(made.design(np.random.default_rng(7), 100), "prompt", resamples=50)

    assert [(one.tau, one.systems) for one in found.agreements] == [(1.0, 2)]
    assert len(found.samples) == 2


def test_systems_without_a_level_are_left_out_and_none_is_refused() -> None:
    """An order needs the same systems under both levels."""
    scores, queries = [0.0, 1.0, 0.5] * 3, ["a"] * 3 + ["b"] * 3 + ["c"] * 3
    retriever, prompt = ["x", "x", "y"] * 3, ["p", "s", "p"] * 3
    design = crossed_design(scores, queries, {"retriever": retriever, "prompt": prompt})

    assert sensitivity(design, "prompt", resamples=20).systems == ("x",)
    with pytest.raises(DatasetError, match=r"judge has not two levels .* retriever, prompt"):
        sensitivity(design, "judge")
    apart = crossed_design(
        [0.0, 1.0] * 2, list("aabb"), {"retriever": ["x", "y"] * 2, "prompt": ["p", "s"] * 2}
    )
    with pytest.raises(DatasetError, match="under all levels of prompt: p, s"):
        sensitivity(apart, "prompt")
    with pytest.raises(DatasetError, match="not two data sets"):
        sensitivity(design, "data")


def test_the_interval_of_a_level_is_around_its_mean() -> None:
    """Data sets count the same."""
    design = replace(MODEL, data=3).design(np.random.default_rng(6), 60)

    for one in sensitivity(design, "prompt", resamples=100).spreads:
        for _, mean, interval in one.means:
            assert interval is not None
            assert sum(interval) / 2 == pytest.approx(mean)
            assert 0 < interval[1] - interval[0] < 0.3


def test_a_tie_is_not_swapped() -> None:
    """On either board."""
    tied, whole = np.array([0.5, 0.5, 0.2]), np.array([0.6, 0.5, 0.7])
    for boards in ((tied, whole), (whole, tied)):
        found = board_agreement(("a", "b"), boards, None, Bootstrap(), 0.9)
        assert found.swapped == 2
