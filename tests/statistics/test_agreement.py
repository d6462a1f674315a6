"""Agreement of raters: percentages, kappas and alpha, with gaps, clusters and undefined cases."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import ConfigError, DatasetError
from ragstone.statistics.agreement import (
    Ratings,
    absolute_agreement,
    cohen_kappa,
    fleiss_kappa,
    high_agreement,
    krippendorff_alpha,
    percentage_agreement,
)

# Krippendorff, "Computing Krippendorff's alpha-reliability", 2011, example C: 4 observers.
EXAMPLE: Ratings = [
    [1, 1, None, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
    [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [None, 5, 5, 5], [None, None, 1, 1],
    [None, None, 3, None],
]  # fmt: skip


@pytest.mark.parametrize(
    ("level", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_alpha_equals_its_authors_example(level: str, expected: float) -> None:
    """The published values of the example with gaps; the unit with one rating is left out."""
    found = krippendorff_alpha(EXAMPLE, level=level, resamples=200)  # type: ignore[arg-type]

    assert found.value == pytest.approx(expected, abs=0.0005)
    assert (found.n, found.left_out) == (11, 1)


def test_cohens_kappa_equals_a_calculation_by_hand() -> None:
    """20 + 15 of 50 items agree: observed agreement 0.7, by chance 0.5, kappa 0.4."""
    a = ["yes"] * 25 + ["no"] * 25
    b = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15

    found = cohen_kappa(a, b, resamples=2_000)

    assert found.value == pytest.approx(0.4)
    assert found.interval is not None
    assert found.interval[0] < 0.4 < found.interval[1]


def test_weights_reduce_the_cost_of_near_misses() -> None:
    """Weights reduce the cost of near misses, squared weights even more."""
    a, b = [1, 2, 3, 4, 1, 4], [1, 3, 3, 4, 2, 3]

    plain, linear, squared = (
        cohen_kappa(a, b, weights=w, resamples=10).value or 0
        for w in ("none", "linear", "quadratic")
    )

    assert plain < linear < squared


@pytest.mark.parametrize(
    ("given_", "absolute", "high"),
    [([4, 4, 4], 1, 1), ([4, 4, 3], 0, 1), ([4, 4, 2], 0, 0), ([4, 3, 2], 0, 0), ([4, 3], 0, 0),
     ([2, 2], 1, 1)],
)  # fmt: skip
def test_high_agreement_needs_a_majority_and_the_rest_a_point_away(
    given_: list[float], absolute: int, high: int
) -> None:
    """The rule of mtRAG, case by case."""
    assert absolute_agreement([given_]).mean == absolute
    assert high_agreement([given_]).mean == high


def test_items_without_two_ratings_are_left_out() -> None:
    """They count as not applicable or left out; without other items all values are undefined."""
    rows: Ratings = [[1, None], [None, None], []]

    assert percentage_agreement(rows).mean is None
    assert percentage_agreement(rows).not_applicable == 3
    assert krippendorff_alpha(rows).value is None
    assert fleiss_kappa(rows).left_out == 3


def test_coefficients_are_undefined_if_all_ratings_are_equal() -> None:
    """Agreement on a single value is 100 %, but every coefficient is undefined."""
    rows = [["a", "a"]] * 5

    assert percentage_agreement(rows).mean == 1.0
    assert krippendorff_alpha(rows).value is None
    assert fleiss_kappa(rows).value is None
    assert cohen_kappa(["a"] * 5, ["a"] * 5).value is None


def test_clusters_widen_the_interval_of_alpha() -> None:
    """Copies of an item in its cluster add no information."""
    rows: Ratings = [row for row in EXAMPLE[:10] for _ in range(5)]
    clusters = [place for place in range(10) for _ in range(5)]

    alone = krippendorff_alpha(rows, resamples=2_000).interval
    grouped = krippendorff_alpha(rows, clusters=clusters, resamples=2_000).interval

    assert alone is not None
    assert grouped is not None
    assert grouped[1] - grouped[0] > 1.5 * (alone[1] - alone[0])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(1, 4), min_size=3, max_size=3), min_size=2, max_size=15))
def test_the_order_of_raters_does_not_matter(
    rows: list[list[int]],
) -> None:
    """Alpha and Fleiss' kappa do not depend on the order of ratings, and are at most 1."""
    for coefficient in (fleiss_kappa, krippendorff_alpha):
        one, other = (coefficient(r, resamples=20) for r in (rows, [row[::-1] for row in rows]))

        assert one == other
        assert one.value is None or one.value <= 1


def test_wrong_input_is_named() -> None:
    """Unequal numbers of ratings, texts as numbers, NaN, unknown levels and weights."""
    with pytest.raises(DatasetError, match="krippendorff_alpha takes any number"):
        fleiss_kappa([[1, 1], [1, 1, 2]])
    with pytest.raises(DatasetError, match="'good' is not a number"):
        krippendorff_alpha([["good", "bad"]], level="interval")
    with pytest.raises(DatasetError, match="nan"):
        krippendorff_alpha([[1.0, float("nan")]])
    with pytest.raises(ConfigError, match="nominal, ordinal, interval"):
        krippendorff_alpha([[1, 1]], level="ratio")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(ConfigError, match="none, linear, quadratic"):
        cohen_kappa([1], [1], weights="cubic")  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(DatasetError, match="found 1 and 2"):
        cohen_kappa([1], [1, 2])
