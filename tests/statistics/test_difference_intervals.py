"""The interval of a paired difference inverts its test: both give the same verdict on 0."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.statistics import difference_intervals
from ragstone.statistics.bootstrap import crossing
from ragstone.statistics.difference_intervals import cluster_test, label_test
from ragstone.statistics.paired import paired_difference
from ragstone.statistics.permutation import sign_flip_p

SCORE = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@settings(max_examples=80, deadline=None)
@given(
    st.lists(st.tuples(SCORE, SCORE), min_size=2, max_size=50),
    st.sampled_from(["none", "clusters"]),
    st.sampled_from([0.8, 0.95, 0.99]),
)
def test_an_interval_excludes_zero_exactly_if_p_is_below_the_level(
    pairs: list[tuple[float, float]], kind: Literal["none", "clusters"], confidence: float
) -> None:
    """The width is never 0, and the difference is within the interval."""
    a, b = zip(*pairs, strict=True)
    clusters = None if kind == "none" else [place // 2 for place in range(len(a))]

    found = paired_difference(a, b, clusters=clusters, confidence=confidence)

    if found.interval is not None:
        low, high = found.interval
        assert (low > 0 or high < 0) == (found.p < 1 - confidence)
        assert low <= found.difference <= high
        assert -1 <= low < high <= 1


def test_an_interval_reaches_the_end_of_the_scale() -> None:
    """Two queries, both lost: the difference of -1 is within the interval, to the last bit."""
    found = paired_difference([1.0, 1.0], [0.0, 0.0])
    assert found.interval is not None
    assert found.interval[0] == found.difference == -1.0


def test_they_agree_if_p_is_close_to_the_level() -> None:
    """Ends and p are approximated in different ways."""
    sums = np.random.default_rng(1).normal(0, 0.1, 300)
    edge = crossing(lambda shift: 0.05 - sign_flip_p(sums + shift), 0.0, 0.1, 1e-9)
    for shift in edge + np.linspace(-1e-4, 1e-4, 20):
        for sign in (-1, 1):
            p, interval = cluster_test(sign * (sums + shift), np.ones(300), 0.95, None)
            assert interval is not None
            assert (interval[0] > 0 or interval[1] < 0) == (p < 0.05)


@pytest.mark.parametrize(("wins", "losses"), [(0, 0), (1, 0), (9, 2), (2, 9), (20, 20), (40, 0)])
def test_the_ends_of_tangos_interval_have_the_p_of_the_level(wins: int, losses: int) -> None:
    """A difference inside is not rejected, one outside is; the p of 0 is McNemar's chi-squared."""
    p, interval = label_test(wins, losses, 40, 0.95)

    assert interval is not None
    for end in interval:
        if abs(end) < 1:
            score = difference_intervals._score(wins, losses, 40, end)
            assert abs(score) == pytest.approx(1.959964, abs=1e-5)
    z = abs(wins - losses) / max(1, wins + losses) ** 0.5
    assert p == pytest.approx(2 * difference_intervals._NORMAL.cdf(-z))


def test_without_a_pair_that_differs_tangos_interval_is_known() -> None:
    """Z squared / (n + z squared), on both sides."""
    _, interval = label_test(0, 0, 20, 0.95)

    assert interval == pytest.approx((-0.16113, 0.16113), abs=1e-4)


@pytest.mark.parametrize("kind", ["even", "skewed", "whole"])
@pytest.mark.parametrize("clusters", [10, 17, 300])
def test_the_ends_of_a_permutation_interval_have_the_p_of_the_level(
    kind: str, clusters: int
) -> None:
    """After a shift by an end, the test has a p near 5 %, and just outside below it."""
    generator = np.random.default_rng(3)
    sizes = generator.integers(1, 8, clusters).astype(float)
    sums = {
        "even": generator.normal(0.1, 1, clusters),
        "skewed": generator.exponential(size=clusters) ** 2,
        "whole": generator.integers(-2, 4, clusters).astype(float),
    }[kind]

    _, interval = cluster_test(sums, sizes, 0.95, None)

    assert interval is not None
    step = 0.01 * (interval[1] - interval[0])
    for end, outwards in zip(interval, (-step, step), strict=True):
        assert sign_flip_p(sums - (end + outwards) * sizes) < 0.0505
        assert sign_flip_p(sums - (end - outwards) * sizes) > 0.0495


def test_listing_and_the_transform_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fourteen clusters by both ways."""
    sums = np.random.default_rng(1).normal(0.4, 1, 14)
    listed = cluster_test(sums, np.ones(14), 0.95, None)[1]

    monkeypatch.setattr(difference_intervals, "ENUMERATED", 5)

    assert cluster_test(sums, np.ones(14), 0.95, None)[1] == pytest.approx(listed, abs=5e-3)


def test_equal_differences_and_few_clusters() -> None:
    """Ten equal differences may hide others; five clusters can reject nothing."""
    gaps = np.full(10, 0.25)
    share = 1 - 0.025**0.1

    assert cluster_test(gaps, np.ones(10), 0.95, 1.0)[1] == pytest.approx(
        (0.25 * (1 - share), 0.25 + share * 0.75)
    )
    equal = label_test(0, 0, 10, 0.95)[1]
    assert cluster_test(np.zeros(10), np.ones(10), 0.95, 1.0)[1] == pytest.approx(equal)
    assert cluster_test(gaps[:5], np.ones(5), 0.95, 1.0)[1] == (-1.0, 1.0)
    assert cluster_test(gaps, np.ones(10), 0.95, None)[1] is None


def test_few_differing_clusters_do_not_show_how_far_others_may_be() -> None:
    """Five of 13 queries differ: the interval is as wide as that of the same wins and losses."""
    gaps = np.array([-0.5, -0.5, -0.1, -0.1, 0.2] + [0.0] * 8)

    p, interval = cluster_test(gaps, np.ones(13), 0.95, 1.0)
    _, unlimited = cluster_test(gaps, np.ones(13), 0.95, None)

    assert p >= 0.05
    assert unlimited is not None
    assert interval == pytest.approx(label_test(0.2, 1.2, 13, 0.95)[1])
    assert interval is not None
    assert interval[0] < unlimited[0]
    assert interval[1] > unlimited[1]


@pytest.mark.parametrize("n", [20, 300, 2000])
def test_a_p_without_an_interval_is_that_of_the_test(n: int) -> None:
    """To 1 %, also with sums of which one is large."""
    made = np.random.default_rng(n)
    for sums in (made.normal(0.05, 1, n), np.append(made.random(n) - 0.45, 3 * math.sqrt(n))):
        p, interval = cluster_test(sums, np.ones(len(sums)), None, 1.0)

        assert interval is None
        assert p == pytest.approx(sign_flip_p(sums), rel=0.01, abs=1e-9)
        assert cluster_test(-sums, np.ones(len(sums)), None, 1.0)[0] == pytest.approx(p)
    assert cluster_test(np.zeros(n), np.ones(n), None, 1.0)[0] == 1.0
