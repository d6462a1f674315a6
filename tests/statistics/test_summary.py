"""Summaries: a mean with n, counts of missing and failed items, and an interval that covers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.core.schemas import columns
from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.bootstrap import ratio_interval
from ragstone.statistics.proportions import agresti_coull, share_interval
from ragstone.statistics.summary import (
    Summary,
    mean_interval,
    summaries_table,
    summarise,
    summary_table,
)

FINITE = st.floats(-1e6, 1e6)
TITLES = ["metric", "mean", "interval", "n", "failed", "n/a"]


def test_no_value_has_no_mean() -> None:
    """The mean of no values is None; the counts are kept."""
    assert summarise([], failed=2, not_applicable=1) == Summary(None, 0, 2, 1)
    assert summarise([None, None]).failed == 2


def test_one_value_has_no_interval() -> None:
    """One item or one cluster has no spread."""
    assert summarise([0.5]) == Summary(0.5, 1, mean_of_answered=0.5)
    assert summarise([0.0, 1.0], clusters=["c", "c"]).interval is None


def test_equal_values_have_the_interval_of_a_share_of_as_many_clusters() -> None:
    """The width is never 0: 13 zeros do not show that the mean is 0."""
    assert summarise([0.0] * 13).interval == pytest.approx((0.0, 0.2659), abs=1e-4)
    assert summarise([1.0] * 7).interval == pytest.approx((0.025 ** (1 / 7), 1.0))
    clusters = [place // 3 for place in range(21)]
    assert summarise([1.0] * 21, clusters=clusters).interval == summarise([1.0] * 7).interval
    assert summarise([0.3] * 7).interval == pytest.approx(agresti_coull(2.1, 7, 0.95))
    assert summarise([4.0] * 13, bounds=(1, 4)).interval == pytest.approx((3.2024, 4), abs=1e-4)


def test_equal_values_without_a_range_have_no_interval() -> None:
    """Nothing is known about the values that were not seen."""
    assert summarise([30.0] * 7).interval is None
    assert summarise([0.3] * 7, bounds=None).interval is None


def test_clusters_that_are_equal_do_not_have_a_width_of_zero() -> None:
    """Forty clusters of the same two graded values."""
    clusters = [place // 2 for place in range(80)]

    found = summarise([0.2, 0.8] * 40, clusters=clusters).interval

    assert found == pytest.approx(agresti_coull(40, 80, 0.95))


def test_few_clusters_have_fewer_independent_values() -> None:
    """Six pairs of equal labels: n by the design effect, and Student's t with 5 in place of z."""
    values = [1.0, 1.0, 0.0, 0.0, 1.0, 1.0] * 2
    clusters = [place // 2 for place in range(12)]
    between = 6 / 5 * (4 * (2 / 3) ** 2 + 2 * (4 / 3) ** 2) / 12**2
    n = 12 * (2 / 9 / 12) / between * (1.959964 / 2.570582) ** 2

    found = summarise(values, clusters=clusters)

    assert found.interval == pytest.approx(share_interval(2 / 3 * n, n), rel=0.01)


def test_few_values_and_mostly_equal_ones_have_the_interval_of_a_share() -> None:
    """Below 30 values, or with over 80 % equal ones, a bootstrap would be too narrow."""
    few = [0.1, 0.7, 0.4] * 9
    sparse = [0.0] * 85 + [0.5] * 15

    assert summarise(few).interval == pytest.approx(agresti_coull(sum(few), 27, 0.95))
    assert summarise(sparse).interval == pytest.approx(agresti_coull(7.5, 100, 0.95))
    scaled = [1 + 4 * value for value in few]
    low, high = agresti_coull(sum(few), 27, 0.95)
    assert summarise(scaled, bounds=(1, 5)).interval == pytest.approx((1 + 4 * low, 1 + 4 * high))
    assert summarise(few * 2).interval == ratio_interval(np.array(few * 2), np.ones(54), 0.95)


def test_another_source_of_variance_widens_every_interval() -> None:
    """A variance as large as that of the mean makes a bootstrap's interval wider by sqrt(2)."""
    graded = np.random.default_rng(0).random(60)
    labels = (graded > 0.5).astype(float)
    for values in (graded, labels, graded[:20]):
        more = float(values.var()) / len(values)
        low, high = mean_interval(values, None, 0.95) or (0, 0)
        less, most = mean_interval(values, None, 0.95, other_variance=more) or (0, 0)
        assert 1.2 < (most - less) / (high - low) < 1.45


def test_counts_of_failed_items_are_kept() -> None:
    """None counts as failed and is left out of the mean."""
    found = summarise([1.0, 0.0, None], failed=1, not_applicable=2)

    assert (found.n, found.failed, found.not_applicable, found.mean) == (2, 2, 2, 0.5)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_a_value_that_is_not_finite_is_refused(bad: float) -> None:
    """NaN and infinity are errors in lists and arrays; the message names the place."""
    with pytest.raises(DatasetError, match="place 2"):
        summarise([1.0, None, bad])
    with pytest.raises(DatasetError, match="place 1"):
        summarise(np.array([1.0, bad]))


def test_clusters_of_another_length_are_refused() -> None:
    """Every value needs one cluster."""
    with pytest.raises(DatasetError, match="3 values, but 2 clusters"):
        summarise([1.0, 2.0, 3.0], clusters=["a", "b"])


def test_a_confidence_outside_zero_to_one_is_refused() -> None:
    """A confidence of 95 is an error; the message gives the usual 0.95."""
    with pytest.raises(ConfigError, match=r"usual is 0\.95"):
        summarise([1.0], confidence=95)


@settings(max_examples=60, deadline=None)
@given(st.lists(FINITE, min_size=2, max_size=40), st.data())
def test_an_interval_is_ordered_and_within_the_values(
    values: list[float], data: st.DataObject
) -> None:
    """Whatever the values and clusters: low < high, and both within the range of a value."""
    names = st.lists(st.sampled_from("abcdef"), min_size=len(values), max_size=len(values))
    clusters = data.draw(st.none() | names)

    found = summarise(values, clusters=clusters)

    if found.interval is not None:
        low, high = found.interval
        unit = min(values) >= 0 and max(values) <= 1
        least, most = (0.0, 1.0) if unit else (min(values), max(values))
        assert least <= low < high <= most


@settings(max_examples=30, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=3, max_size=40))
def test_order_does_not_matter(values: list[float]) -> None:
    """The same values in another order give the same summary."""
    one, other = summarise(values), summarise(values[::-1])

    assert one.mean == other.mean
    assert one.interval == pytest.approx(other.interval, abs=1e-9)


@pytest.mark.parametrize("clusters", [[7, 2, 7, 9, 2, 9], ["a", None, "a", "b", None, "b"]])
def test_clusters_in_an_array_are_those_of_a_list(clusters: list[object]) -> None:
    """Numbers are sorted; objects, which may have no order, are not."""
    values = [0.1, 0.5, None, 0.9, 0.4, 0.2]
    expected = summarise(values, clusters=clusters)
    kinds = (object, np.int64) if isinstance(clusters[0], int) else (object,)
    for kind in kinds:
        assert summarise(values, clusters=np.array(clusters, dtype=kind)) == expected


def test_clusters_widen_an_interval_of_items_that_go_together() -> None:
    """Ten equal items of a cluster have the information of one item."""
    means = np.random.default_rng(0).random(30)
    values, clusters = np.repeat(means, 10), [name for name in range(30) for _ in range(10)]

    alone, grouped = summarise(values).interval, summarise(values, clusters=clusters).interval

    assert alone is not None
    assert grouped is not None
    assert grouped == pytest.approx(summarise(means).interval)
    assert grouped[1] - grouped[0] > 3 * (alone[1] - alone[0])


@pytest.mark.parametrize(
    ("name", "clustered"),
    [("binary", False), ("ratings", False), ("skewed", False), ("binary", True)],
)
def test_nominal_95_percent_covers_about_95_percent(name: str, *, clustered: bool) -> None:
    """The interval contains the true mean in 92 to 98 % of 300 seeded simulations."""
    generator = np.random.default_rng(7)
    covered = 0
    for _ in range(300):
        values, clusters, true = _simulated(generator, name, clustered=clustered)
        found = summarise(values, clusters=clusters)
        assert found.interval is not None
        covered += found.interval[0] <= true <= found.interval[1]

    assert 0.92 <= covered / 300 <= 0.98


def _simulated(
    generator: np.random.Generator, name: str, *, clustered: bool
) -> tuple[np.ndarray, list[int] | None, float]:
    if clustered:
        sizes = generator.integers(1, 8, 60)
        chances = np.repeat(generator.beta(2, 2, 60), sizes)
        clusters = np.repeat(np.arange(60), sizes).tolist()
        return (generator.random(len(chances)) < chances).astype(float), clusters, 0.5
    if name == "binary":
        return (generator.random(100) < 0.8).astype(float), None, 0.8
    if name == "ratings":
        return generator.choice([1.0, 2, 3, 4], 80, p=[0.1, 0.1, 0.2, 0.6]), None, 3.3
    return generator.beta(0.5, 2, 100), None, 0.2


def test_a_table_has_a_row_per_summary() -> None:
    """With the ends of the interval, or without them if there is none."""
    held = [summarise([0.0, 1.0] * 20), summarise([0.5])]

    found = columns(summaries_table(held))

    assert found["mean"] == [0.5, 0.5]
    assert held[0].interval is not None
    assert list(zip(found["low"], found["high"], strict=True)) == [held[0].interval, (None, None)]


def test_a_text_has_only_the_columns_that_say_something() -> None:
    """Missing and unscored items are rare; n and the failures are always there."""
    plain = summarise([0.5, 0.7])

    assert summary_table([("EM", plain)]).headers == TITLES
    assert summary_table([("EM", plain), ("F1", replace(plain, missing=1))]).headers == [
        *TITLES,
        "missing",
    ]
