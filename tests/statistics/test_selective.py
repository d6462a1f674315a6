"""Risk against coverage: equal to its definition over all orders of equal confidences."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.errors import DatasetError
from ragstone.statistics.selective import selective

ITEMS = st.lists(
    st.tuples(st.sampled_from([None, 0.0, 0.25, 1.0]), st.sampled_from([None, 1.0, 2.0])),
    min_size=1,
    max_size=6,
)


def loss(value: float | None) -> float:
    """Return the loss of an answer; a query without one counts as wrong."""
    return 1.0 if value is None else 1.0 - value


@given(items=ITEMS)
@settings(max_examples=60, deadline=None)
def test_risk_is_the_mean_over_all_orders(
    items: list[tuple[float | None, float | None]],
) -> None:
    """Answers come before refusals, then by confidence; other orders are equally likely."""

    def rank(item: tuple[float | None, float | None]) -> tuple[bool, float]:
        value, confidence = item
        if value is None:
            return True, 0.0
        return False, float("inf") if confidence is None else -confidence

    orders = [
        order for order in permutations(items) if list(map(rank, order)) == sorted(map(rank, items))
    ]
    expected = [
        sum(sum(loss(value) for value, _ in order[:k]) / k for order in orders) / len(orders)
        for k in range(1, len(items) + 1)
    ]

    found = selective(*zip(*items, strict=True))

    assert found.risks == pytest.approx(expected)
    assert found.area == pytest.approx(sum(expected) / len(expected))
    assert found.risks[-1] == pytest.approx(sum(loss(v) for v, _ in items) / len(items))


def test_coverage_and_accuracy_have_their_own_n() -> None:
    """Coverage is over all queries, accuracy over those that were answered."""
    found = selective([1] * 30 + [0] * 10 + [None] * 60)

    assert (found.coverage.mean, found.coverage.n) == (0.4, 100)
    assert (found.accuracy.mean, found.accuracy.n) == (0.75, 40)
    assert found.accuracy.interval is not None
    assert set(found.risks[:40]) == {0.25}
    assert found.risks[99] == pytest.approx(0.7)


def test_a_perfect_confidence_lowers_the_area_and_not_the_accuracy() -> None:
    """The order of the answers changes the curve alone."""
    values = [1, 0, 1, 0, None]
    blind, ordered = selective(values), selective(values, [0.9, 0.1, 0.8, 0.2, None])

    assert ordered.accuracy == blind.accuracy
    assert ordered.risks[:3] == pytest.approx((0, 0, 1 / 3))
    assert (ordered.area or 0) < (blind.area or 0)
    assert ordered.risks[3:] == blind.risks[3:]


def test_no_answer_and_no_query_have_no_accuracy() -> None:
    """All queries refused: the risk is 1 at every coverage. Without a query there is no area."""
    refused, empty = selective([None, None]), selective([])

    assert (refused.coverage.mean, refused.accuracy.mean, refused.area) == (0.0, None, 1.0)
    assert (empty.coverage.mean, empty.area, empty.curve(10)) == (None, None, [])


def test_a_long_curve_keeps_its_ends_and_its_own_coverage() -> None:
    """At most the number of points asked for; the own coverage is one of them."""
    found = selective([1, 0, None] * 333)
    curve = found.curve(10)

    assert len(curve) == 10
    assert curve[-1] == (1.0, found.risks[-1])
    assert (found.coverage.mean, 0.5) in curve
    # The own coverage, 2/3, is in place of the nearest of the points 1/4, 2/4, 3/4 and 1.
    assert [point for point, _ in found.curve(4)] == pytest.approx(
        [1 / 4, 2 / 4, 2 / 3, 1], abs=1e-3
    )


@pytest.mark.parametrize(
    ("values", "confidences", "said"),
    [
        ([1.5], None, "place 0: the value 1.5"),
        ([1, 1], [0.5], "2 values, but 1 confidences"),
        ([1], [float("nan")], "NaN"),
    ],
)
def test_bad_input_names_the_place(
    values: list[float], confidences: list[float] | None, said: str
) -> None:
    """Values are between 0 and 1, and there is one confidence per query."""
    with pytest.raises(DatasetError, match=said):
        selective(values, confidences)
