"""Effects: known shares and means are within their intervals, about as often as promised."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.fakes.crossed_scores import MadeScores

from ragstone.statistics.crossed_design import crossed_design
from ragstone.statistics.effects import DATA, effects

MODEL = MadeScores(
    {"retriever": 3, "prompt": 2},
    lambda level: 0.1 * level["retriever"] + 0.06 * (level["retriever"] == 2) * level["prompt"],
    by_factor={"retriever": 0.15, "prompt": 0.1},
)
MEANS = np.array([[0.0, 0.0], [0.1, 0.1], [0.2, 0.26]])


def true_shares() -> dict[str, float]:
    """Return the shares of the model, computed by hand from its cells."""
    retriever = MEANS.mean(axis=1).var()
    prompt = MEANS.mean(axis=0).var()
    variances = {
        "retriever": retriever,
        "prompt": prompt,
        "retriever x prompt": MEANS.var() - retriever - prompt,
        "query": 0.09,
        "query x retriever": 0.0225,
        "query x prompt": 0.01,
        "residual": 0.04,
    }
    total = sum(variances.values())
    return {name: variance / total for name, variance in variances.items()}


def test_known_shares_and_means_are_recovered() -> None:
    """Over 60 sets of 80 queries, 85 % or more of each kind of interval contain the truth."""
    truth, generator, sets = true_shares(), np.random.default_rng(0), 60
    hits = dict.fromkeys(truth, 0)
    estimates: dict[str, list[float]] = {name: [] for name in truth}
    together = 0
    for seed in range(sets):
        found = effects(MODEL.design(generator, 80), resamples=400, seed=seed)
        for one in found.shares:
            assert one.interval is not None
            hits[one.name] += one.interval[0] <= truth[one.name] <= one.interval[1]
            estimates[one.name].append(one.variance_share)
        wanted = [*(0.5 + MEANS.mean(axis=1)), *(0.5 + MEANS.mean(axis=0))]
        together += all(
            one.interval is not None and one.interval[0] <= mean <= one.interval[1]
            for one, mean in zip(found.means, wanted, strict=True)
        )

    assert min(hits.values()) >= 0.85 * sets, hits
    assert together >= 0.85 * sets
    for name, values in estimates.items():
        assert np.mean(values) == pytest.approx(truth[name], rel=0.15, abs=0.002)


def test_intervals_are_not_too_wide_to_say_anything() -> None:
    """A factor without an effect has a share near 0; one with a large effect has not."""
    found = effects(MODEL.design(np.random.default_rng(1), 300))
    shares = {one.name: one for one in found.shares}
    by_level = {(one.factor, one.level): one for one in found.means}

    low, high = shares["retriever"].interval or (0, 1)
    assert 0.01 < low < high < 0.1
    assert (shares["retriever x prompt"].interval or (0, 1))[1] < 0.02
    top = by_level["retriever", "retriever 2"]
    assert top.effect_interval is not None
    assert top.interval is not None
    assert top.effect_interval[0] > 0
    # The queries are the same under each level: their difficulty cancels.
    assert np.ptp(top.effect_interval) < 0.6 * np.ptp(top.interval)


def test_shares_sum_to_one_and_the_order_is_by_size() -> None:
    """Every part of the variance has a share."""
    found = effects(MODEL.design(np.random.default_rng(2), 50), resamples=50)
    shares = [one.variance_share for one in found.shares]

    assert sum(shares) == pytest.approx(1.0)
    assert shares == sorted(shares, reverse=True)


def test_data_sets_count_the_same_and_have_effects() -> None:
    """The mean is that of data sets; queries are nested in them."""
    made = replace(MODEL, data=2, effect=lambda level: 0.2 * level["data"] * (1 + level["prompt"]))
    found = effects(made.design(np.random.default_rng(3), 400), resamples=200)
    shares = {one.name: one for one in found.shares}
    means = {(one.factor, one.level): one for one in found.means}

    assert means[DATA, "data 1"].mean == pytest.approx(0.8, abs=0.06)
    assert means[DATA, "data 0"].n == 400
    assert shares["data"].variance == pytest.approx(0.15**2, rel=0.3)
    assert shares["data x prompt"].variance == pytest.approx(0.05**2, rel=0.4)
    assert shares["data x retriever"].variance_share < 0.01
    low, high = shares["data"].interval or (1, 0)
    assert low < shares["data"].variance_share < high


def test_zero_one_scores_have_shares_too() -> None:
    """Their effects are differences of probabilities."""
    made = replace(MODEL, binary=True)
    found = effects(made.design(np.random.default_rng(4), 400), resamples=200)

    assert {one.factor for one in found.means} == {"retriever", "prompt"}
    assert all(0 <= one.mean <= 1 for one in found.means)
    assert next(one for one in found.shares if one.name == "retriever").variance_share > 0.005


def test_a_single_cluster_has_no_interval() -> None:
    """One conversation shows nothing about another one."""
    found = effects(
        crossed_design(
            [0.0, 1.0, 1.0, 1.0],
            ["a", "a", "b", "b"],
            {"retriever": ["x", "y", "x", "y"]},
            clusters=["c"] * 4,
        )
    )

    assert {one.interval for one in found.shares} == {None}
    assert {one.interval for one in found.means} == {None}


def test_equal_scores_have_no_variance() -> None:
    """Shares of nothing are 0."""
    found = effects(
        crossed_design([0.1] * 6, list("aabbcc"), {"retriever": list("xyxyxy")}), resamples=50
    )

    assert {one.variance_share for one in found.shares} == {0.0}
    assert found.means[0].interval == pytest.approx((0.1, 0.1))


def test_the_seed_decides_the_draws() -> None:
    """Equal seeds give equal intervals."""
    design = MODEL.design(np.random.default_rng(5), 40)

    one, same, other = (effects(design, resamples=100, seed=seed).shares for seed in (1, 1, 2))

    assert one == same
    assert one != other


def test_the_noise_of_the_queries_is_taken_out_of_data_sets() -> None:
    """Means of 0.2 and 0.8 differ by less than 0.6, as each has a squared error of 0.04 / 3."""
    scores = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    design = crossed_design(
        scores * 2, list("abcdef") * 2, {"prompt": ["x"] * 6 + ["y"] * 6}, data=list("pppqqq") * 2
    )

    shares = {one.name: one for one in effects(design, resamples=20).shares}

    assert shares["data"].variance == pytest.approx(0.3**2 - 2 * 0.04 / 3 / 4)
