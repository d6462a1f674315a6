"""Paired differences: interval, test, effect sizes, corrections and sample sizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.paired import (
    adjust,
    cliffs_delta,
    cohens_d,
    minimum_detectable,
    more_queries,
    paired_difference,
)

UNIT = st.floats(0, 1)


def test_a_constant_lead_is_found() -> None:
    """The second system leads everywhere by the same amount."""
    found = paired_difference([0.2, 0.5, 0.1, 0.7], [0.3, 0.6, 0.2, 0.8])

    assert found.difference == pytest.approx(0.1)
    assert (found.wins, found.losses, found.ties) == (4, 0, 0)
    assert found.p == 0.125
    assert found.mcnemar is None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(UNIT, UNIT), min_size=2, max_size=40))
def test_exchanging_the_systems_changes_the_signs(pairs: list[tuple[float, float]]) -> None:
    """Difference, interval and effects change sign; p does not."""
    a, b = zip(*pairs, strict=True)

    one, other = paired_difference(a, b), paired_difference(b, a)

    assert one.difference == -other.difference
    assert one.p == pytest.approx(other.p, rel=1e-6)
    assert one.cliffs_delta == pytest.approx(-other.cliffs_delta)
    assert one.interval is not None
    assert other.interval is not None
    assert one.interval == pytest.approx([-bound for bound in other.interval[::-1]], abs=2e-2)


def test_clusters_are_flipped_and_drawn_whole() -> None:
    """A lead shared by ten items of one cluster counts as one: p is that of the clusters."""
    lead = np.repeat([0.1, 0.2, 0.1, 0.3, -0.1], 10)
    clusters = np.repeat(list("abcde"), 10).tolist()

    alone = paired_difference(np.zeros(50), lead)
    grouped = paired_difference(np.zeros(50), lead, clusters=clusters)

    assert grouped.clusters == 5
    assert grouped.p == paired_difference(np.zeros(5), [0.1, 0.2, 0.1, 0.3, -0.1]).p
    assert grouped.p > 100 * alone.p
    assert grouped.standard_error is not None
    assert alone.standard_error is not None
    assert grouped.standard_error > 3 * alone.standard_error


def test_the_standard_error_without_clusters_is_that_of_the_mean() -> None:
    """Deviation of the differences, with n - 1, over the root of n."""
    gaps = np.array([0.1, 0.4, -0.2, 0.3, 0.0])

    found = paired_difference(np.zeros(5), gaps)

    assert found.standard_error == pytest.approx(gaps.std(ddof=1) / np.sqrt(5))


def test_a_single_cluster_gives_no_interval_and_p_one() -> None:
    """One conversation shows no spread between conversations."""
    found = paired_difference([0, 0, 0], [1, 1, 0], clusters=["c"] * 3)

    assert (found.interval, found.standard_error, found.p) == (None, None, 1.0)


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 2.0])])
def test_unequal_or_empty_sides_are_refused(a: list[float], b: list[float]) -> None:
    """The message gives both lengths."""
    with pytest.raises(DatasetError, match=f"found {len(a)} and {len(b)}"):
        paired_difference(a, b)


def test_values_that_are_not_finite_are_refused() -> None:
    """NaN is an error."""
    with pytest.raises(DatasetError, match="second values: place 1"):
        paired_difference([0, 1], [0, float("nan")])


def test_cohens_d_is_defined_or_none() -> None:
    """0 without any difference; None if all differences are equal."""
    assert cohens_d(np.zeros(3)) == 0.0
    assert cohens_d(np.full(3, 0.5)) is None
    assert cohens_d(np.array([0.0, 1.0])) == pytest.approx(0.5 / np.sqrt(0.5))


@given(st.lists(st.integers(0, 5), min_size=1), st.lists(st.integers(0, 5), min_size=1))
def test_cliffs_delta_counts_all_pairs(a: list[int], b: list[int]) -> None:
    """The fast form equals the double loop."""
    slow = np.mean([np.sign(y - x) for x in a for y in b])

    assert cliffs_delta(np.array(a, float), np.array(b, float)) == pytest.approx(slow)


@given(st.lists(UNIT, max_size=30), st.sampled_from(["holm", "benjamini-hochberg", "none"]))
def test_corrections_keep_order_and_never_lower_p(p: list[float], correction: str) -> None:
    """Corrected values are between p and 1, in the same order."""
    adjusted = adjust(p, correction)  # type: ignore[arg-type]  # drawn from the allowed ones

    assert all(low <= high <= 1 for low, high in zip(p, adjusted, strict=True))
    order = np.argsort(p)
    assert (np.diff(np.array(adjusted)[order]) >= 0).all()


def test_an_unknown_correction_or_a_p_outside_is_refused() -> None:
    """The message lists the allowed values."""
    with pytest.raises(ConfigError, match="holm, benjamini-hochberg, none"):
        adjust([0.1], "bonferoni")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(DatasetError, match="between 0 and 1"):
        adjust([1.2])


def test_planned_queries_find_the_difference_about_as_often_as_promised() -> None:
    """With n + more queries a true difference of 0.1 is found in about 80 % of 300 studies."""
    generator = np.random.default_rng(4)
    more = more_queries(50, 0.1, 0.4 / np.sqrt(50))
    assert more is not None

    found = [
        paired_difference(np.zeros(50 + more), generator.normal(0.1, 0.4, 50 + more)).p <= 0.05
        for _ in range(300)
    ]

    assert 0.74 <= np.mean(found) <= 0.86


def test_sample_sizes_have_defined_ends() -> None:
    """A difference of 0 has no sample size; a large difference needs no more queries."""
    assert more_queries(100, 0.0, 0.01) is None
    assert more_queries(100, 0.5, 0.01) == 0
    with pytest.raises(ConfigError, match="alpha 0 is not between 0 and 1"):
        minimum_detectable(0.1, alpha=0)
