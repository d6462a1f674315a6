"""Margins that queries can hardly decide, told before a system is asked."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from statistics import NormalDist

import pytest

from ragstone.statistics.margins import queries_to_decide, small_margin
from ragstone.statistics.paired import paired_difference


@pytest.mark.parametrize(
    ("values", "margin", "told"),
    [
        # Equal answers alone need 2.7 x 49 queries: Tango's bound without any difference.
        ([1.0] * 130, 0.02, "about 0%"),
        ([1.0] * 140, 0.02, ""),
        ([0.0, 1.0] * 200, 0.02, "about "),
        ([0.0, 1.0] * 900, 0.02, ""),
        ([], 0.5, "0 queries can hardly decide"),
    ],
)
def test_a_small_margin_is_told(values: list[float], margin: float, told: str) -> None:
    """The more the values vary, the more queries a margin needs."""
    found = small_margin(values, margin)

    assert bool(found) == bool(told)
    assert told in found


def test_the_number_of_queries_is_enough() -> None:
    """With as many queries as the text names, nothing is told."""
    values = [0.0, 1.0, 1.0] * 40
    needed = int(small_margin(values, 0.03).rpartition("about ")[2].split()[0].replace(",", ""))

    assert small_margin((values * 20)[: needed // 3 * 3 + 3], 0.03) == ""
    assert small_margin((values * 20)[: needed // 3 * 3 - 3], 0.03) != ""


def test_that_many_queries_decide_with_the_power() -> None:
    """A change of 0.1 with a standard error of 0.1 is above 0 on 25 times 10 queries, in 80 %."""
    found = replace(paired_difference([0.0] * 10, [0.0, 0.2] * 5), standard_error=0.1)

    queries = queries_to_decide(found, 0.1, 0.0)

    assert queries is not None
    beyond = NormalDist(0.1, 0.1 * sqrt(10 / queries)).inv_cdf(0.2)
    assert beyond == pytest.approx(1.645 * 0.1 * sqrt(10 / queries), rel=0.05)


def test_equal_systems_need_the_queries_of_a_bound_without_differences() -> None:
    """For a margin of 2 %: 1.645^2 x 49 queries; a small margin needs more than is realistic."""
    found = paired_difference([0.0, 1.0] * 25, [0.0, 1.0] * 25)

    assert queries_to_decide(found, 0.0, 0.02) == 133
    assert queries_to_decide(found, 0.0, 0.5) == 51
    assert queries_to_decide(found, 0.0, 1e-9) is None
